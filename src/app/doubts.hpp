/// @file
/// What casts doubt on the figures of a run, each in a sentence that says what to do.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "app/run_record.hpp"
#include "core/communicator.hpp"
#include "core/machine.hpp"
#include "gs/tuning_guard.hpp"

namespace nekbone_k {

/// Ranks of a node that may use the same cores.
struct CoreGroup {
  std::string host;
  std::vector<int> ranks;
  std::set<int> cores;
};

/// The one of `rank`, by the cores that each rank is bound to.
CoreGroup core_group(int rank, const NodeLayout& layout, const std::string& host,
                     const std::vector<std::string>& binding);

/// Processor time, s.
struct CoreTime {
  double elapsed = 0;
  double ranks = 0;  ///< had by the ranks of a group
  double all = 0;    ///< had by them and others on the group's cores
};

/// What there is to say of a group; empty if it had what it wanted of its cores, or that cannot be
/// told yet.
std::string load_warning(const CoreGroup& group, const CoreTime& time);

/// Watches who uses the cores of a group from when it is made.
class LoadWatch {
 public:
  /// Of the group of `rank`.
  LoadWatch(int rank, const NodeLayout& layout, const MachineRecord& machine);

  /// What there is to say by now, of the group of the lowest rank whose has something. Collective.
  std::string warning(const Communicator& comm) const;

 private:
  CoreGroup m_group;
  double m_begin, m_own_begin, m_all_begin;
};

/// Why ways to exchange or to sum are not even tried because of what they did in earlier runs,
/// each reason once. Collective.
std::vector<std::string> earlier_failures(const Case& input, const TuningGuard& journal);

/// That orders ran by the slower kernel, as they were not compiled; empty if none did.
std::string slow_kernels(const std::vector<OrderRecord>& orders);

/// Choices that CG would have been faster without, beyond noise.
std::vector<std::string> regrets(const SolveRecord& solve);

}  // namespace nekbone_k
