// SPDX-License-Identifier: BSD-3-Clause
// Trials of MPI in a child process: the environment variable, and the meaning of the child's end.
#include "machine/mpi_trial.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>

#include "core/errors.hpp"
#include "core/launcher.hpp"
#include "core/types.hpp"
#include "support/contains.hpp"

namespace nekbone_k {
namespace {

using How = ChildEnd::How;
using Out = TrialOutcome;

// Sets environment variables and restores them at the end.
class Environment {
 public:
  void set(const std::string& name, const char* value) {
    const char* const before = getenv(name.c_str());
    m_before.try_emplace(name,
                         before == nullptr ? std::nullopt : std::optional<std::string>(before));
    if (value == nullptr)
      unsetenv(name.c_str());
    else
      setenv(name.c_str(), value, 1);
  }
  ~Environment() {
    for (const auto& [name, value] : m_before)
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
  }

 private:
  std::map<std::string, std::optional<std::string>> m_before;
};

constexpr const char* mark = "nekbone-k trial: ";
const std::string trying = std::string("noise\n") + mark + "trying 8 B at offset 0 B\n" + mark +
                           "trying 64.00 KiB at offset 3 B\n";

TEST(MpiTrial, IsRightOrWrongAsTheChildSays) {
  const MpiTrial right = outcome_of({How::exited, 0, trying + mark + "right\n"}, 30);
  EXPECT_EQ(right.outcome, Out::right);
  EXPECT_EQ(right.what, "");
  EXPECT_FALSE(right.is_bad());
  const MpiTrial wrong =
      outcome_of({How::exited, 1, trying + mark + "wrong 64.00 KiB at offset 3 B: bad\n"}, 30);
  EXPECT_EQ(wrong.outcome, Out::wrong);
  EXPECT_EQ(wrong.what, "64.00 KiB at offset 3 B: bad");
  EXPECT_TRUE(wrong.is_bad());
  // A crash or hang after the messages does not count.
  EXPECT_EQ(outcome_of({How::signalled, SIGSEGV, trying + mark + "right\n"}, 30).outcome,
            Out::right);
  EXPECT_EQ(outcome_of({How::late, 0, trying + mark + "right\n"}, 30).outcome, Out::right);
}

TEST(MpiTrial, CrashedOrHungWhileAMessageWasTried) {
  const MpiTrial crashed = outcome_of({How::signalled, SIGSEGV, trying}, 30);
  EXPECT_EQ(crashed.outcome, Out::crashed);
  EXPECT_EQ(crashed.what, "crashed by SIGSEGV, at a message of 64.00 KiB at offset 3 B");
  const MpiTrial ended = outcome_of({How::exited, 1, trying}, 30);
  EXPECT_EQ(ended.outcome, Out::crashed);
  EXPECT_TRUE(contains(ended.what, "ended with exit code 1, at a message of 64.00 KiB"));
  const MpiTrial hung = outcome_of({How::late, 0, trying}, 2.5);
  EXPECT_EQ(hung.outcome, Out::hung);
  EXPECT_TRUE(contains(hung.what, "did not end within 2.5 s, at a message of 64.00 KiB"));
  for (const MpiTrial& bad : {crashed, ended, hung}) EXPECT_TRUE(bad.is_bad());
}

TEST(MpiTrial, SaysNothingOfMpiWhereTheChildSentNoMessageOrOthersEndedIt) {
  const std::vector<ChildEnd> ends{
      {How::not_started, ENOENT, ""},
      {How::exited, 1, "noise\n"},
      {How::exited, 0, ""},
      {How::signalled, SIGABRT, ""},
      {How::late, 0, std::string(mark) + "trying 8"},  // an incomplete line
      {How::exited, 4, trying + mark + "failed out of memory\n"},
      {How::signalled, SIGKILL, trying}};
  for (const ChildEnd& end : ends) {
    const MpiTrial trial = outcome_of(end, 30);
    EXPECT_EQ(trial.outcome, Out::not_started) << end.code;
    EXPECT_NE(trial.what, "");
    EXPECT_FALSE(trial.is_bad());
    EXPECT_EQ(why_excluded(trial), "");
  }
  EXPECT_EQ(outcome_of(ends[0], 30).what, "No such file or directory");
  EXPECT_EQ(outcome_of(ends[5], 30).what, "out of memory");
  EXPECT_EQ(outcome_of({How::interrupted, 0, trying}, 30).outcome, Out::not_tried);
}

TEST(MpiTrial, SaysWhyStrategiesAreExcludedAndHowToTryAgain) {
  const std::string memory = is_host_device ? "host memory" : "device memory";
  MpiTrial trial = outcome_of({How::signalled, SIGSEGV, trying}, 30);
  trial.host = "node7";
  EXPECT_EQ(why_excluded(trial), "MPI cannot send " + memory +
                                     " (trial process on node7: crashed by SIGSEGV, at a message "
                                     "of 64.00 KiB at offset 3 B)");
  trial.seconds = 0.75;
  EXPECT_TRUE(contains(trial_text(trial), "it took 750.0 ms"));
  EXPECT_FALSE(contains(trial_text(trial), "keeps"));
  trial.file = "/cache/mpi-trials.json";
  EXPECT_TRUE(contains(trial_text(trial), "; saved in /cache/mpi-trials.json"));
  trial.kept = true;
  trial.found = "2026-11-26T20:00:00Z";
  EXPECT_TRUE(
      contains(trial_text(trial), "found 2026-11-26T20:00:00Z, saved in /cache/mpi-trials"));
  EXPECT_TRUE(contains(trial_text(trial), "to try again, run nekbone-k doctor"));
  trial.outcome = Out::not_started;
  EXPECT_TRUE(contains(trial_text(trial), "the trial process could not start on node7 (crashed"));
  trial.outcome = Out::wrong;
  EXPECT_TRUE(contains(why_excluded(trial), "MPI corrupts messages from " + memory));
  EXPECT_EQ(trial_text({}), "");
}

TEST(MpiTrial, SettingsAreOfTheEnvironment) {
  using When = TrialSettings::When;
  Environment environment;
  environment.set("NEKBONE_K_MPI_TRIAL", nullptr);
  environment.set("NEKBONE_K_MPI_TRIAL_SECONDS", nullptr);
  EXPECT_EQ(trial_settings().when, When::by_default);
  EXPECT_EQ(trial_settings().seconds, 30);
  environment.set("NEKBONE_K_MPI_TRIAL", "always");
  environment.set("NEKBONE_K_MPI_TRIAL_SECONDS", "0.5");
  EXPECT_EQ(trial_settings().when, When::always);
  EXPECT_EQ(trial_settings().seconds, 0.5);
  environment.set("NEKBONE_K_MPI_TRIAL", "never");
  EXPECT_EQ(trial_settings().when, When::never);
  for (const char* const bad : {"", "yes", "Always", "always ", "1"}) {
    environment.set("NEKBONE_K_MPI_TRIAL", bad);
    EXPECT_THROW(trial_settings(), InputError) << bad;
  }
  environment.set("NEKBONE_K_MPI_TRIAL", nullptr);
  for (const char* const bad : {"", "0", "-1", "nan", "inf", "1s", "1e999"}) {
    environment.set("NEKBONE_K_MPI_TRIAL_SECONDS", bad);
    EXPECT_THROW(trial_settings(), InputError) << bad;
  }
}

TEST(MpiTrial, TheNodeRankIsThatOfTheMpiBeforeThatOfTheScheduler) {
  Environment environment;
  const std::vector<const char*> all{"OMPI_COMM_WORLD_LOCAL_RANK",
                                     "MV2_COMM_WORLD_LOCAL_RANK",
                                     "MPI_LOCALRANKID",
                                     "PALS_LOCAL_RANKID",
                                     "PMI_LOCAL_RANK",
                                     "FLUX_TASK_LOCAL_ID",
                                     "SLURM_LOCALID"};
  for (const char* const name : all) environment.set(name, nullptr);
  EXPECT_EQ(launched_node_rank(), std::nullopt);
  environment.set("SLURM_LOCALID", "0");
  EXPECT_EQ(launched_node_rank(), 0);
  environment.set("MPI_LOCALRANKID", "3");
  EXPECT_EQ(launched_node_rank(), 3);
  environment.set("MPI_LOCALRANKID", "x");
  EXPECT_EQ(launched_node_rank(), 0);
  for (const char* const name : all) {
    for (const char* const other : all) environment.set(other, nullptr);
    environment.set(name, "2");
    EXPECT_EQ(launched_node_rank(), 2) << name;
  }
}

TEST(MpiTrial, TheChildIsOfNoJobAndKeepsWhatChoosesATransport) {
  Environment environment;
  const std::vector<std::string> gone{"OMPI_COMM_WORLD_RANK",
                                      "OMPI_MCA_ess",
                                      "OMPI_MCA_orte_hnp_uri",
                                      "OMPI_MCA_pmix",
                                      "OMPI_UNIVERSE_SIZE",
                                      "PMIX_RANK",
                                      "PMI_RANK",
                                      "PRTE_MCA_x",
                                      "SLURM_JOB_ID",
                                      "PALS_RANKID",
                                      "FLUX_JOB_ID",
                                      "MPI_LOCALRANKID",
                                      "TMPDIR",
                                      "PMI2_RANK",
                                      "HYDRA_HOST",
                                      "MV2_COMM_WORLD_RANK",
                                      "KOKKOS_TOOLS_LIBS"};
  const std::vector<std::string> kept{"OMPI_MCA_pml",   "OMPI_MCA_btl",         "UCX_TLS",
                                      "MPICH_GPU_X",    "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
                                      "LD_LIBRARY_PATH"};
  for (const auto& names : {gone, kept})
    for (const std::string& name : names) environment.set(name, "/x");
  const std::vector<std::string> all = trial_environment();
  const auto has = [&](const std::string& name) {
    return std::find(all.begin(), all.end(), name + "=/x") != all.end();
  };
  for (const std::string& name : gone) EXPECT_FALSE(has(name)) << name;
  for (const std::string& name : kept) EXPECT_TRUE(has(name)) << name;
}

TEST(MpiTrial, IsNotMadeWhereNothingIsSentOrWanted) {
  Environment environment;
  environment.set("NEKBONE_K_MPI_TRIAL", "always");
  const Communicator comm(MPI_COMM_SELF);
  const auto outcome = [&](bool sends) { return NodeTrial(sends, false).agree(comm); };
  EXPECT_EQ(outcome(false).outcome, Out::not_tried);
  EXPECT_EQ(outcome(false).what, "no messages are sent");
  environment.set("OMPI_COMM_WORLD_LOCAL_RANK", "1");
  EXPECT_EQ(outcome(true).what, "the first process of the node does it");
  environment.set("NEKBONE_K_MPI_TRIAL", "never");
  EXPECT_EQ(outcome(true).what, "NEKBONE_K_MPI_TRIAL is never");
  environment.set("NEKBONE_K_MPI_TRIAL", "bad");
  EXPECT_EQ(outcome(true).outcome, Out::not_tried);
  environment.set("NEKBONE_K_MPI_TRIAL", nullptr);
  if (is_host_device) {
    EXPECT_EQ(outcome(true).what, "kernels run on the host");
  } else {
    // The launcher's count comes from the environment at the start of this process.
    EXPECT_EQ(outcome(true).what, launched_processes(0) == 1
                                      ? "there is one rank"
                                      : "the first process of the node does it");
  }
}

}  // namespace
}  // namespace nekbone_k
