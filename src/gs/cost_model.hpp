/// @file
/// What an exchange, or a sum over the ranks, should take: predicted from what the machine's paths
/// cost.
#pragma once

#include <optional>
#include <span>

#include "core/communicator.hpp"
#include "gs/halo_plan.hpp"
#include "gs/machine_paths.hpp"
#include "gs/node_routes.hpp"

namespace nekbone_k {

/// What an exchange by a strategy consists of, beside its messages to the neighbours: its line in
/// the model.
struct CostModel {
  Carrier carrier = Carrier::none;  ///< to other nodes peer memory is carried as direct_messages
  /// All messages are copied to the host before and back after, which waits for the kernel that
  /// packs.
  bool staged = false;
  bool host_waits = true;     ///< for the kernel that packs, before messages can go
  bool packs_itself = false;  ///< the path within a node has the kernels that pack and unpack
  bool one_kernel = false;    ///< packs and unpacks, where all neighbours are near
  int empty_exchanges = 0;    ///< with all neighbours, that the messages have to wait for
  /// In steps from rank to rank (crystal_route), each after a kernel that picks and a wait.
  bool routed = false;
  /// Between nodes by a rank that gathers and scatters (NodeRoutes), after a kernel that orders.
  bool gathered = false;
};

/// The parts of an exchange, s.
struct PredictedCost {
  double pack = 0;      ///< to the end of the kernel
  double sync = 0;      ///< that the host waits for it, or copies to the host
  double messages = 0;  ///< on their way
  double unpack = 0;    ///< with copies back

  double alone() const { return pack + sync + messages + unpack; }
  /// What is added to work of `seconds` that is done while messages are on their way.
  double beyond(double seconds) const {
    return pack + sync + unpack + (messages > seconds ? messages - seconds : 0);
  }
};

/// What one exchange of `item_bytes` a shared DOF should take on rank `rank`; `nodes` are those of
/// all ranks (nodes_of_ranks). T = T(pack) + T(sync) + T(messages) + T(unpack), after Zhang et al.,
/// The PetscSF scalable communication layer (2022), where
/// - a kernel takes its launch and its bytes at the bandwidth of the path `pack`; the one that
///   unpacks reads a share of each slot and of each shared DOF;
/// - messages take the largest latency among them, and each message after the first and each byte
///   what it takes on its path; those within a node and to others add up.
/// - messages that are gathered take three steps: to the rank that carries them, to the other node,
///   and, ordered by a kernel, to the ranks that they are for. `routes` are theirs.
/// Nothing where the model or a path is not known. Not collective.
std::optional<PredictedCost> predict_on_rank(const CostModel& model, const HaloPlan& plan,
                                             std::span<const int> nodes, int rank,
                                             const MachinePaths& paths,
                                             double item_bytes = sizeof(double),
                                             const NodeRoutes* routes = nullptr);

/// The same of the slowest rank, part by part. Collective.
std::optional<PredictedCost> predict(const Communicator& comm, const CostModel& model,
                                     const HaloPlan& plan, std::span<const int> nodes,
                                     const MachinePaths& paths, double item_bytes = sizeof(double));

/// What a sum of a few values over the ranks consists of, beside the kernel that computes them.
struct SumCostModel {
  Carrier carrier = Carrier::none;  ///< of values from rank to rank
  /// Kernels carry them: a step has its launches and waits in it, and all ranks take it at once.
  bool by_kernels = false;
  /// Ranks of a node meet in memory that they share, all at once, and there have the total of
  /// other nodes, too.
  bool meets_in_memory = false;
};

/// What one sum should take where `nodes` are those of all ranks: T = T(launch) + T(sync) +
/// T(steps), where ranks that send each other messages take ceil(log2 n) steps, of the latency of
/// their path, within a node and again between nodes, and others one. Nothing where the model or a
/// path is not known. Not collective.
std::optional<double> predict_sum(const SumCostModel& model, std::span<const int> nodes,
                                  const MachinePaths& paths);

/// measured / predicted, if one is more than four times the other; both > 0.
std::optional<double> off_its_model(double measured, double predicted);

}  // namespace nekbone_k
