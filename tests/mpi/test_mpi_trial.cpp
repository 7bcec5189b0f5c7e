// SPDX-License-Identifier: BSD-3-Clause
// All ranks agree on the outcome of the nodes' trials.
#include "machine/mpi_trial.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/errors.hpp"
#include "support/contains.hpp"

namespace nekbone_k {
namespace {

class MpiTrialOfNodes : public testing::Test {
 protected:
  MpiTrial here(TrialOutcome outcome) const {
    MpiTrial trial;
    trial.outcome = outcome;
    trial.what = "what";
    trial.host = "host " + std::to_string(m_comm.rank());
    trial.found = "then";
    trial.kept = true;
    trial.file = "file \"quoted\"";
    trial.seconds = 1.5;
    return trial;
  }
  // Rank 0 has outcome `first`, the last rank `last`, and the others `between`.
  MpiTrial agreed(TrialOutcome first, TrialOutcome between, TrialOutcome last) const {
    const bool is_last = m_comm.rank() == m_comm.size() - 1;
    return agree(m_comm, here(is_last ? last : m_comm.is_root() ? first : between));
  }
  std::string last_host() const { return "host " + std::to_string(m_comm.size() - 1); }

  const Communicator m_comm{MPI_COMM_WORLD};
};

using Out = TrialOutcome;

TEST_F(MpiTrialOfNodes, TheWorstIsKnownToAll) {
  for (const TrialOutcome worst :
       {Out::right, Out::not_started, Out::wrong, Out::crashed, Out::hung}) {
    const MpiTrial trial = agreed(Out::not_tried, Out::not_tried, worst);
    EXPECT_EQ(trial.outcome, worst);
    EXPECT_EQ(trial.what, "what");
    EXPECT_EQ(trial.host, last_host());
    EXPECT_EQ(trial.found, "then");
    EXPECT_TRUE(trial.kept);
    EXPECT_EQ(trial.file, "file \"quoted\"");
    EXPECT_EQ(trial.seconds, 1.5);
  }
  EXPECT_EQ(agreed(Out::right, Out::right, Out::not_started).outcome, Out::not_started);
  EXPECT_EQ(agreed(Out::right, Out::not_started, Out::crashed).host, last_host());
}

TEST_F(MpiTrialOfNodes, OfThoseThatAreBadTheFirstNodeIsTold) {
  if (m_comm.size() < 2) GTEST_SKIP() << "one rank agrees with itself";
  const MpiTrial trial = agreed(Out::wrong, Out::hung, Out::crashed);
  EXPECT_EQ(trial.outcome, Out::wrong);
  EXPECT_EQ(trial.host, "host 0");
  EXPECT_EQ(agreed(Out::not_tried, Out::not_tried, Out::not_tried).host, "host 0");
}

TEST_F(MpiTrialOfNodes, SettingsThatOneRankCannotUseAreRefusedByAll) {
  EXPECT_NO_THROW(require_trial_settings(m_comm));
  const bool is_last = m_comm.rank() == m_comm.size() - 1;
  if (is_last) setenv("NEKBONE_K_MPI_TRIAL", "some", 1);
  try {
    require_trial_settings(m_comm);
    ADD_FAILURE() << "was not refused";
  } catch (const InputError& error) {
    EXPECT_TRUE(contains(error.what(), "NEKBONE_K_MPI_TRIAL is 'some'"));
  }
  if (is_last) unsetenv("NEKBONE_K_MPI_TRIAL");
}

}  // namespace
}  // namespace nekbone_k
