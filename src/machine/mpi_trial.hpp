// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Tests whether MPI survives the memory of kernels. A child process tries it before MPI starts, so
/// that an MPI that is not GPU-aware crashes the child and not the run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/child_process.hpp"
#include "core/communicator.hpp"

namespace nekbone_k {

/// The outcome of a trial, in order of increasing significance.
enum class TrialOutcome { not_tried, right, not_started, wrong, crashed, hung };
/// The name of an outcome in the JSON report, such as "not_started".
std::string_view name(TrialOutcome outcome);

/// A trial of MPI on the memory of kernels.
struct MpiTrial {
  TrialOutcome outcome = TrialOutcome::not_tried;
  std::string what;    ///< reason in words: not tried, not started, or the failure
  std::string host;    ///< the node that tried it
  std::string found;   ///< time, UTC
  bool kept = false;   ///< an earlier run tried it
  std::string file;    ///< the file that keeps the answer; empty if none
  double seconds = 0;  ///< duration in this run

  /// Whether the run must not pass that memory to MPI.
  bool is_bad() const { return outcome >= TrialOutcome::wrong; }
};

/// The reason, in words, why the run excludes strategies that pass the memory of kernels to MPI;
/// empty unless `trial` is bad.
std::string why_excluded(const MpiTrial& trial);
/// The outcome of a trial and how to try again, in words; empty if there was no trial.
std::string trial_text(const MpiTrial& trial);

/// The settings of the environment.
struct TrialSettings {
  enum class When { by_default, always, never };
  When when = When::by_default;  ///< NEKBONE_K_MPI_TRIAL
  double seconds = 30;           ///< NEKBONE_K_MPI_TRIAL_SECONDS, the deadline
};
/// Throws InputError if a variable cannot be used.
TrialSettings trial_settings();
/// Throws the InputError of the first rank that has one on every rank. Collective.
void require_trial_settings(const Communicator& comm);

/// The rank on the node of this process, from variables of the launcher; empty without them.
std::optional<int> launched_node_rank();

/// Whether this process is the child of a trial.
bool is_trial_child(int argc, char** argv);
/// The main function of the child. It starts Kokkos and MPI as a job of one process, and sends
/// itself messages from and to the memory of kernels. It writes the outcome to stdout and returns
/// the exit code.
int trial_child();
/// The outcome of a trial whose child ended as `end` says; `seconds` was its deadline.
MpiTrial outcome_of(const ChildEnd& end, double seconds);
/// The environment of a child. It lacks the variables that make a process part of this job, and
/// keeps the variables that choose the transport.
std::vector<std::string> trial_environment();

/// The most significant of the `here` of all ranks, the same on every rank. All bad outcomes are
/// equally significant; among equals the first rank wins. Collective.
MpiTrial agree(const Communicator& comm, const MpiTrial& here);

/// The trial of a node, as one process of it sees it. The first process of each node makes the
/// trial, or takes the answer that an earlier run kept (see TrialCache). It does so before it
/// starts MPI and Kokkos. Its device may allow one process only, and a process that has started MPI
/// must not fork. Without variables of the launcher, the first process is the one that gets a lock.
///
/// There is a trial if kernels run on a device, unless the launcher says that there is one process.
/// NEKBONE_K_MPI_TRIAL=always or never overrides this. No failure of a trial ends the run.
class NodeTrial {
 public:
  /// `sends`: the command sends messages; `anew`: make a trial even if there is a kept answer.
  NodeTrial(bool sends, bool anew);

  /// The most significant outcome of all nodes, from the first node that has it, the same on every
  /// rank. Collective; releases the lock.
  MpiTrial agree(const Communicator& comm);

 private:
  MpiTrial m_trial;
  std::map<std::string, std::string> m_key;  ///< the TrialKey of the answer
  std::shared_ptr<void> m_lock;
};

}  // namespace nekbone_k
