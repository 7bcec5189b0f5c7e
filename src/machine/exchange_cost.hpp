// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The parts of exchanges and all-reduces, as input of the cost model (tuning/predict.hpp).
#pragma once

#include "machine/machine_paths.hpp"

namespace nekbone_k {

/// The parts of an exchange by one strategy, besides its messages to the neighbours.
struct CostModel {
  Carrier carrier = Carrier::none;  ///< peer memory uses direct_messages between nodes
  /// Messages are copied to the host before they are sent, and back after. The first copy waits for
  /// the packing kernel.
  bool staged = false;
  bool host_waits = true;     ///< for the packing kernel, before messages are sent
  bool packs_itself = false;  ///< the path within a node contains packing and unpacking
  bool one_kernel = false;    ///< packs and unpacks if all neighbours are on the node
  int empty_exchanges = 0;    ///< empty exchanges with all neighbours before the messages
  /// Messages go from rank to rank in steps (crystal_route). Each follows a kernel that picks
  /// items, and a wait.
  bool routed = false;
  /// Between nodes, one rank gathers and scatters messages (NodeRoutes) after a kernel that orders
  /// them.
  bool gathered = false;
};

/// The parts of an all-reduce of a few values, besides the kernel that computes them.
struct SumCostModel {
  Carrier carrier = Carrier::none;  ///< moves values from rank to rank
  /// Kernels move the values. All ranks take a step at once, and a step contains its launches and
  /// waits.
  bool by_kernels = false;
  /// All ranks of a node exchange values at once in memory that they share. They also get the total
  /// of other nodes there.
  bool meets_in_memory = false;
};

}  // namespace nekbone_k
