// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Predicted times of exchanges and all-reduces, from measured paths of the machine.
#pragma once

#include <optional>
#include <span>

#include "core/communicator.hpp"
#include "gs/halo_plan.hpp"
#include "gs/node_routes.hpp"
#include "machine/exchange_cost.hpp"

namespace nekbone_k {

/// The parts of an exchange, in s.
struct PredictedCost {
  double pack = 0;      ///< until the packing kernel ends
  double sync = 0;      ///< wait of the host for it, or copy to the host
  double messages = 0;  ///< while messages travel
  double unpack = 0;    ///< including copies from the host

  double alone() const { return pack + sync + messages + unpack; }
  /// Extra time of an exchange that overlaps work of `seconds` with its messages, in s.
  double beyond(double seconds) const {
    return pack + sync + unpack + (messages > seconds ? messages - seconds : 0);
  }
};

/// Predicts one exchange of `item_bytes` bytes per shared DOF on rank `rank`. `nodes` are the nodes
/// of all ranks (nodes_of_ranks). T = T(pack) + T(sync) + T(messages) + T(unpack), after Zhang et
/// al., The PetscSF scalable communication layer (2022):
///
/// - A kernel takes its launch, and its bytes at the bandwidth of the path `pack`. The unpacking
///   kernel reads one share per slot and per shared DOF.
/// - Messages take the largest latency among them. Each further message and each byte add the cost
///   of their path. Messages within the node and to other nodes add up.
/// - Gathered messages take three steps: to the rank that forwards them, to the other node, and,
///   after a kernel that orders them, to their destinations. `routes` are the routes of these
///   messages.
///
/// Returns nothing if the model or a path is unknown. Not collective.
std::optional<PredictedCost> predict_on_rank(const CostModel& model, const HaloPlan& plan,
                                             std::span<const int> nodes, int rank,
                                             const MachinePaths& paths,
                                             double item_bytes = sizeof(double),
                                             const NodeRoutes* routes = nullptr);

/// predict_on_rank() for the slowest rank, part by part. Collective.
std::optional<PredictedCost> predict(const Communicator& comm, const CostModel& model,
                                     const HaloPlan& plan, std::span<const int> nodes,
                                     const MachinePaths& paths, double item_bytes = sizeof(double));

/// Predicts one all-reduce, in s; `nodes` are the nodes of all ranks. T = T(launch) + T(sync) +
/// T(steps). Ranks that send each other messages take ceil(log2 n) steps of the latency of their
/// path, within a node and again between nodes; other all-reduces take one step. Returns nothing if
/// the model or a path is unknown. Not collective.
std::optional<double> predict_sum(const SumCostModel& model, std::span<const int> nodes,
                                  const MachinePaths& paths);

/// measured / predicted if they differ by more than a factor of four, else nothing; both > 0.
std::optional<double> off_its_model(double measured, double predicted);

}  // namespace nekbone_k
