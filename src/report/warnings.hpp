// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Warnings about unreliable timings. Each is a sentence that says what to do.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "core/system.hpp"
#include "report/run_record.hpp"
#include "tuning/tuning_guard.hpp"

namespace nekbone_k {

/// Ranks of a node that may use the same cores.
struct CoreGroup {
  std::string host;
  std::vector<int> ranks;
  std::set<int> cores;
};

/// The group of `rank`. `binding` lists the cores that each rank is bound to.
CoreGroup core_group(int rank, const NodeLayout& layout, const std::string& host,
                     const std::vector<std::string>& binding);

/// Processor time, s.
struct CoreTime {
  double elapsed = 0;
  double ranks = 0;  ///< used by the ranks of a group
  double all = 0;    ///< used by all processes on the group's cores
};

/// A warning that other processes used the cores of a group. Empty if they took little time from
/// the ranks, or if it is too early to tell.
std::string load_warning(const CoreGroup& group, const CoreTime& time);

/// A warning that a control group's CPU quota paused threads. `throttled`: seconds, summed over all
/// cores. Empty if that is a negligible share of `elapsed` seconds.
std::string throttle_warning(const std::string& host, double throttled, double elapsed);

/// Watches the load of a group's cores and the quota of its control group, from construction on.
class LoadWatch {
 public:
  /// Watches the group of `rank`.
  LoadWatch(int rank, const NodeLayout& layout, const MachineRecord& machine);

  /// The warning of the lowest rank that has one; empty if none has. Collective.
  std::string warning(const Communicator& comm) const;

 private:
  CoreGroup m_group;
  double m_begin, m_own_begin, m_all_begin, m_throttled_begin;
};

/// A warning that a launcher started more processes than this job has ranks, e.g. because it
/// belongs to another MPI; empty if it did not. `launched` is the result of launched_processes().
std::string separate_jobs(int launched, int ranks, const std::string& mpi_library);

/// A warning that a run without a problem to solve measured nothing because it has one rank; empty
/// otherwise.
std::string nothing_exchanged(const Case& input, int ranks);

/// Why this run skips strategies and all-reduces that failed in earlier runs, each reason once.
/// Collective.
std::vector<std::string> earlier_failures(const Case& input, const TuningGuard& journal);

/// A warning that orders used the slower kernel because they were not compiled; empty if none did.
std::string slow_kernels(const std::vector<OrderRecord>& orders);

/// Warnings about selections that were slower in CG than another, beyond noise.
std::vector<std::string> regrets(const SolveRecord& solve);

}  // namespace nekbone_k
