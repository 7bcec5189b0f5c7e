// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The placement of a rank, and the problems that make its timings unreliable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "core/system.hpp"
#include "machine/limits.hpp"

namespace nekbone_k {

/// The placement of one rank.
struct Placement {
  int rank = 0;
  std::string host;
  int node_ranks = 1;     ///< ranks on its node
  int threads = 1;        ///< host threads that it computes with
  int online_cores = 1;   ///< cores of its node
  int usable_cores = 1;   ///< online cores that all ranks of the node together may use
  int allowed_cores = 1;  ///< cores that it is bound to
  /// The control group of this rank that has the least quota per thread in it: its quota, in cores,
  /// and the number of ranks of the node in it.
  double quota = unlimited;
  int quota_ranks = 0;
  std::string device;                ///< name of the device of its kernels, for people
  int ranks_on_device = 1;           ///< including itself; 1 if kernels run on the host
  int pretended_ranks_per_node = 0;  ///< 0 if nodes are real
};

/// The placement of this rank. `hosts`, `binding` (the cores that a rank may use) and `quotas` are
/// indexed by rank. Collective.
Placement find_placement(const Communicator& comm, const NodeLayout& layout,
                         const std::vector<std::string>& hosts,
                         const std::vector<std::string>& binding,
                         const std::vector<std::vector<CpuQuota>>& quotas);

/// The group of `rank` with the least quota per rank, counting the ranks of its node in the group,
/// and their number. Unlimited and 0 without a quota. `quotas` are indexed by rank.
struct SharedQuota {
  double cores = unlimited;
  int ranks = 0;
};
SharedQuota shortest_quota(int rank, std::span<const int> ranks_of_node,
                           const std::vector<std::vector<CpuQuota>>& quotas);

/// A warning about variables of `environment` ("NAME=value" each, then a null pointer) that begin
/// with NEKBONE_K_ but that nekbone-k does not read; empty if there are none. Not collective.
std::string unknown_variables(const char* const* environment);

/// Warnings about problems that make timings unreliable, each "problem; remedy", or "" if there is
/// no problem. The number and the order of the lines are always the same. Not collective.
std::vector<std::string> placement_warnings(const Placement& placement);

}  // namespace nekbone_k
