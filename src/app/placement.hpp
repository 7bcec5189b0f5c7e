/// @file
/// Where a rank runs, and what about that spoils timings.
#pragma once

#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "core/machine.hpp"

namespace nekbone_k {

/// Where one rank runs.
struct Placement {
  int rank = 0;
  std::string host;
  int node_ranks = 1;                ///< on its node
  int threads = 1;                   ///< of the host that it computes with
  int online_cores = 1;              ///< of its node
  int usable_cores = 1;              ///< of them, that the ranks of the node may use, all together
  int allowed_cores = 1;             ///< that it is bound to
  std::string device;                ///< where kernels run, for people
  int ranks_on_device = 1;           ///< itself included; 1 where kernels run on the host
  int pretended_ranks_per_node = 0;  ///< 0: nodes are as they are
};

/// That of this rank; `hosts` and `binding`, the cores that it may use, are those of each rank.
/// Collective.
Placement find_placement(const Communicator& comm, const NodeLayout& layout,
                         const std::vector<std::string>& hosts,
                         const std::vector<std::string>& binding);

/// What of it makes timings mean little, a line each with what to do about it after "; ", "" where
/// nothing does: always as many lines, of the same subjects in the same order. Not collective.
std::vector<std::string> placement_warnings(const Placement& placement);

}  // namespace nekbone_k
