// SPDX-License-Identifier: BSD-3-Clause
#include "machine/mpi_trial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/file_lock.hpp"
#include "core/format.hpp"
#include "core/launcher.hpp"
#include "core/process_identity.hpp"
#include "core/runtime.hpp"
#include "core/standard_streams.hpp"
#include "core/system.hpp"
#include "core/types.hpp"
#include "machine/mpi_probe.hpp"
#include "machine/trial_cache.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

constexpr const char* child_argument = "--mpi-trial";
/// Prefix of the lines of a child; libraries may write other lines.
constexpr std::string_view line_mark = "nekbone-k trial: ";
constexpr std::string_view says_trying = "trying ", says_right = "right", says_wrong = "wrong ",
                           says_failed = "failed ";
constexpr const char* tried_memory = is_host_device ? "host memory" : "device memory";

/// Variables that a child does not get. Some make a process a member of a job, but the child is a
/// job of its own. Others belong to tools, which write files of their own.
constexpr std::array<std::string_view, 22> withheld_variables{
    "OMPI_COMM_", "OMPI_MCA_ess", "OMPI_MCA_orte", "OMPI_MCA_pmix",   "OMPI_UNIVERSE", "PMIX_",
    "PMI_",       "PMI2_",        "PRTE_",         "SLURM_",          "PALS_",         "FLUX_",
    "HYDRA_",     "HYDI_",        "MPI_LOCALRANK", "MPI_LOCALNRANKS", "MV2_COMM_",     "JSM_",
    "ALPS_",      "TMPDIR=",      "KOKKOS_TOOLS_", "KOKKOS_PROFILE"};

void say_to_parent(std::string_view what, const std::string& text = {}) {
  std::string line = fmt::format("{}{}{}", line_mark, what, text);
  for (char& c : line)
    if (c == '\n' || c == '\r') c = ' ';
  print_on_stdout(line + "\n");
}

std::string message_text(const ProbeEntry& entry) {
  return fmt::format("{} at offset {} B", bytes_text(static_cast<double>(entry.bytes)),
                     entry.offset);
}

/// The messages of a child.
struct Said {
  std::string trying, wrong, failed;  ///< the last of each
  bool right = false;
};

Said read_lines(const std::string& output) {
  Said said;
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = output.find('\n', begin);
    if (end == std::string::npos) break;  // the child died while it wrote this line
    std::string_view line = std::string_view(output).substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(line_mark)) continue;
    line.remove_prefix(line_mark.size());
    if (line == says_right) said.right = true;
    for (const auto& [word, text] :
         {std::pair(says_trying, &said.trying), std::pair(says_wrong, &said.wrong),
          std::pair(says_failed, &said.failed)})
      if (line.starts_with(word)) *text = line.substr(word.size());
  }
  return said;
}

/// A temporary folder, removed with the object; its name is empty if it cannot be made.
class TrialFolder {
 public:
  TrialFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "nk-XXXXXX").string();
    if (!error && mkdtemp(name.data()) != nullptr) m_name = name;
  }
  ~TrialFolder() {
    std::error_code ignored;
    if (!m_name.empty()) fs::remove_all(m_name, ignored);
  }
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;

  const std::string& name() const { return m_name; }

 private:
  std::string m_name;
};

/// A lock by a file that one process of a user can hold per node.
class NodeLock {
 public:
  NodeLock() {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    m_path =
        (folder / fmt::format("nekbone-k-trial-{}-{}", getuid(), this_process().boot)).string();
    m_file = open(m_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    m_is_held = m_file >= 0 && lock_file(m_file, 0);
  }
  ~NodeLock() {
    if (m_is_held) unlink(m_path.c_str());
    if (m_file >= 0) close(m_file);
  }
  NodeLock(const NodeLock&) = delete;
  NodeLock& operator=(const NodeLock&) = delete;

  bool is_held() const { return m_is_held; }

 private:
  std::string m_path;
  int m_file = -1;
  bool m_is_held = false;
};

/// Starts a child and waits for its end.
MpiTrial try_now(double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  MpiTrial trial;
  {
    const TrialFolder folder;
    ChildCommand command{"/proc/self/exe", {"nekbone-k", child_argument}, trial_environment()};
    if (!folder.name().empty()) command.environment.push_back("TMPDIR=" + folder.name());
    command.seconds = seconds;
    trial = outcome_of(run_child(command), seconds);
  }
  trial.host = host_name();
  trial.found = utc_time();
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return trial;
}

/// The reason why this process makes no trial and looks for no kept answer; empty if it does.
std::string why_no_trial(const TrialSettings& settings, bool sends) {
  if (!sends) return "no messages are sent";
  if (settings.when == TrialSettings::When::never) return "NEKBONE_K_MPI_TRIAL is never";
  if (settings.when == TrialSettings::When::by_default) {
    if (is_host_device) return "kernels run on the host";
    if (launched_processes(/*ranks, not known yet=*/0) == 1) return "there is one rank";
  }
  if (launched_node_rank().value_or(0) != 0) return "the first process of the node does it";
  return {};
}

std::string to_message(const MpiTrial& trial) {
  const nlohmann::json json{{"outcome", static_cast<int>(trial.outcome)},
                            {"what", trial.what},
                            {"host", trial.host},
                            {"found", trial.found},
                            {"kept", trial.kept},
                            {"file", trial.file},
                            {"seconds", trial.seconds}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

MpiTrial from_message(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  return {static_cast<TrialOutcome>(json.at("outcome").get<int>()),
          json.at("what").get<std::string>(),
          json.at("host").get<std::string>(),
          json.at("found").get<std::string>(),
          json.at("kept").get<bool>(),
          json.at("file").get<std::string>(),
          json.at("seconds").get<double>()};
}

}  // namespace

std::string_view name(TrialOutcome outcome) {
  switch (outcome) {
    case TrialOutcome::not_tried:
      return "not_tried";
    case TrialOutcome::right:
      return "right";
    case TrialOutcome::not_started:
      return "not_started";
    case TrialOutcome::wrong:
      return "wrong";
    case TrialOutcome::crashed:
      return "crashed";
    case TrialOutcome::hung:
      return "hung";
  }
  return "not_tried";
}

std::string why_excluded(const MpiTrial& trial) {
  if (!trial.is_bad()) return {};
  if (trial.outcome == TrialOutcome::wrong)
    return fmt::format("MPI corrupts messages from {} (trial process on {}: {})", tried_memory,
                       trial.host, trial.what);
  return fmt::format("MPI cannot send {} (trial process on {}: {})", tried_memory, trial.host,
                     trial.what);
}

std::string trial_text(const MpiTrial& trial) {
  if (trial.outcome == TrialOutcome::not_tried) return {};
  std::string text;
  if (trial.outcome == TrialOutcome::not_started)
    text = fmt::format(
        "the trial process could not start on {} ({}); a crash in MPI would end the run",
        trial.host, trial.what);
  else
    text = trial.is_bad() ? "found by a trial process before the run"
                          : "a trial process sent it to itself correctly";
  if (!trial.kept) {
    text += fmt::format("; it took {}", seconds_text(trial.seconds));
    if (!trial.file.empty()) text += fmt::format("; saved in {}", trial.file);
    return text;
  }
  text += fmt::format("; found {}, saved in {}", trial.found, trial.file);
  if (trial.outcome != TrialOutcome::right) text += "; to try again, run nekbone-k doctor";
  return text;
}

TrialSettings trial_settings() {
  TrialSettings settings;
  if (const char* const text = std::getenv("NEKBONE_K_MPI_TRIAL"); text != nullptr) {
    if (std::string_view(text) == "always")
      settings.when = TrialSettings::When::always;
    else if (std::string_view(text) == "never")
      settings.when = TrialSettings::When::never;
    else
      throw InputError(fmt::format(
          "NEKBONE_K_MPI_TRIAL is '{}'; it must be always or never, or not be set", text));
  }
  if (const char* const text = std::getenv("NEKBONE_K_MPI_TRIAL_SECONDS"); text != nullptr) {
    const char* const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, settings.seconds);
    if (error != std::errc() || stop != end || !(settings.seconds > 0) ||
        !std::isfinite(settings.seconds))
      throw InputError(
          fmt::format("NEKBONE_K_MPI_TRIAL_SECONDS is '{}'; it must be a finite number of seconds "
                      "above 0, or not be set",
                      text));
  }
  return settings;
}

void require_trial_settings(const Communicator& comm) {
  std::string complaint;
  try {
    trial_settings();
  } catch (const InputError& error) {
    complaint = error.what();
  }
  complaint = comm.first_text(complaint);
  if (!complaint.empty()) throw InputError(complaint);
}

std::optional<int> launched_node_rank() {
  // Try the variables of MPI libraries first: their mpirun may run within a job of another
  // launcher.
  for (const char* const name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
        "PALS_LOCAL_RANKID", "PMI_LOCAL_RANK", "FLUX_TASK_LOCAL_ID", "SLURM_LOCALID"}) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    int rank = 0;
    const char* const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, rank);
    if (error == std::errc() && stop == end) return rank;
  }
  return {};
}

bool is_trial_child(int argc, char** argv) {
  return argc == 2 && std::strcmp(argv[1], child_argument) == 0;
}

int trial_child() {
  try {
    std::string own_name = "nekbone-k";
    std::array<char*, 2> arguments{own_name.data(), nullptr};
    int argc = 1;
    char** argv = arguments.data();
    const Runtime runtime(argc, argv);
    const Communicator comm(MPI_COMM_SELF);
    ProbeOptions options;
    options.to_itself = true;
    options.repeats = 2;
    options.before = [](const ProbeEntry& entry) {
      say_to_parent(says_trying, message_text(entry));
    };
    options.transfer = [](const Communicator& ring, const ProbeEntry&,
                          const RingMessages& messages) {
      constexpr double patience = 10;
      send_ring_messages(ring, messages, patience);
    };
    const MpiProbe probe = probe_mpi(comm, options);
    int code = static_cast<int>(ExitCode::pass);
    for (const ProbeEntry& entry : probe.entries) {
      if (entry.ok() || code != 0) continue;
      say_to_parent(says_wrong, fmt::format("{}: {}", message_text(entry), entry.failure));
      code = static_cast<int>(ExitCode::fail);
    }
    if (code == 0) say_to_parent(says_right);
    if (probe.stuck) std::_Exit(code);  // otherwise MPI would wait for the messages
    return code;
  } catch (const std::exception& error) {
    say_to_parent(says_failed, error.what());
    std::_Exit(static_cast<int>(ExitCode::internal));
  }
}

MpiTrial outcome_of(const ChildEnd& end, double seconds) {
  using How = ChildEnd::How;
  const auto is = [](TrialOutcome outcome, const std::string& what) {
    MpiTrial trial;
    trial.outcome = outcome;
    trial.what = what;
    return trial;
  };
  const Said said = read_lines(end.output);
  // Later output of the child says nothing about messages.
  if (!said.wrong.empty()) return is(TrialOutcome::wrong, said.wrong);
  if (said.right) return is(TrialOutcome::right, "");
  if (!said.failed.empty()) return is(TrialOutcome::not_started, said.failed);
  const std::string where =
      said.trying.empty() ? " before the first message" : ", at a message of " + said.trying;
  const auto began = [&](TrialOutcome outcome) {
    return said.trying.empty() ? TrialOutcome::not_started : outcome;
  };
  switch (end.how) {
    case How::not_started:
      return is(TrialOutcome::not_started, std::strerror(end.code));
    case How::interrupted:
      return is(TrialOutcome::not_tried, "the run was interrupted");
    case How::late:
      return is(began(TrialOutcome::hung),
                fmt::format("did not end within {:g} s{}", seconds, where));
    case How::exited:
      return is(began(TrialOutcome::crashed),
                fmt::format("ended with exit code {}{}", end.code, where));
    case How::signalled:
      break;
  }
  // Other processes send these signals, such as a system without free memory.
  const bool is_of_others = end.code == SIGKILL || end.code == SIGTERM || end.code == SIGINT ||
                            end.code == SIGHUP || end.code == SIGQUIT || end.code == SIGALRM;
  if (is_of_others)
    return is(TrialOutcome::not_started,
              fmt::format("it was ended by {}{}", signal_name(end.code), where));
  return is(began(TrialOutcome::crashed),
            fmt::format("crashed by {}{}", signal_name(end.code), where));
}

MpiTrial agree(const Communicator& comm, const MpiTrial& here) {
  const auto weight = static_cast<std::int64_t>(std::min(here.outcome, TrialOutcome::wrong));
  const bool tells_most = weight == comm.max(weight);
  return from_message(comm.first_text(tells_most ? to_message(here) : ""));
}

std::vector<std::string> trial_environment() { return environment_without(withheld_variables); }

NodeTrial::NodeTrial(bool sends, bool anew) {
  try {
    const HeldSignals signals;  // on a signal, remove the files first
    const TrialSettings settings = trial_settings();
    m_trial.what = why_no_trial(settings, sends);
    if (!m_trial.what.empty()) return;
    if (!launched_node_rank()) {
      const auto lock = std::make_shared<NodeLock>();
      m_trial.what = "another process of the node does it, or no lock can be had";
      if (!lock->is_held()) return;
      m_lock = lock;
    }
    m_key = trial_key();
    if (!anew)
      if (const auto kept = TrialCache::of_user().find(m_key, utc_time()); kept) {
        m_trial = *kept;
        return;
      }
    m_trial = try_now(settings.seconds);
    if (signals.has_come()) m_lock.reset();
  } catch (const std::exception& error) {
    m_trial = {};
    m_trial.what = error.what();
  }
}

MpiTrial NodeTrial::agree(const Communicator& comm) {
  MpiTrial agreed = nekbone_k::agree(comm, m_trial);
  // Keep only the answer of the job: nodes may share the file, and their MPI may behave
  // differently.
  const bool is_own = m_trial.outcome == agreed.outcome && m_trial.host == agreed.host;
  if (agreed.outcome != TrialOutcome::not_tried && !agreed.kept) {
    const TrialCache cache = TrialCache::of_user();
    agreed.file = comm.first_text(is_own && cache.keep(m_key, m_trial) ? cache.path() : "");
  }
  m_lock.reset();  // every process of the job has looked for it by now
  return agreed;
}

}  // namespace nekbone_k
