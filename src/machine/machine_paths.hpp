// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The cost of the paths that exchanges use on this machine.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "machine/linear_cost.hpp"
#include "machine/mpi_probe.hpp"

namespace nekbone_k {

/// The library or mechanism that moves messages from rank to rank.
enum class Carrier {
  none,             ///< not measured
  host_messages,    ///< MPI, from and to (page-locked) host memory
  device_messages,  ///< MPI, from and to device memory
  nccl,
  nvshmem,
  peer_memory  ///< kernels that write into memory of the neighbour; within a node only
};

/// The memory that MPI gets without staging. If kernels run on the host, this is host memory, which
/// is measured once.
inline constexpr Carrier direct_messages =
    is_host_device ? Carrier::host_messages : Carrier::device_messages;

/// Text for reports: "host messages".
std::string name(Carrier carrier);
/// The name of a measurement of a carrier in a guard and its journal.
std::string guarded_name(Carrier carrier);

/// The cost of a path, or the reason why it is unknown. The same on every rank.
struct PathCost {
  std::string failure;               ///< reason why the cost is unknown; empty if known
  std::vector<TransferTime> points;  ///< medians of the maxima over the ranks
  LinearCost cost;                   ///< fitted to `points`
  double further_message = 0;        ///< s, cost of each further message of several at once

  bool is_known() const { return !points.empty(); }
};

/// A path between ranks by one carrier.
struct MessagePath {
  Carrier carrier = Carrier::none;
  ProbePlace place = ProbePlace::within_node;
  PathCost path;
};

/// All measured paths.
struct MachinePaths {
  double launch = 0;  ///< s, one kernel among many that wait for each other
  double sync = 0;    ///< s, waiting for one kernel beyond its own time; 0 if too small to measure
  /// A packing kernel, from its launch to the end of the wait for it. It reads doubles by an index
  /// array and writes them; `bytes` are those of the message.
  PathCost pack;
  PathCost copy_to_host, copy_to_device;  ///< including the wait
  std::vector<MessagePath> messages;      ///< one sent and one received at once
  double seconds = 0;                     ///< duration of the measurement

  /// The path, or nullptr if it was not measured or failed.
  const PathCost* find(Carrier carrier, ProbePlace place) const;
};

}  // namespace nekbone_k
