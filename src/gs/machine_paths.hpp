/// @file
/// What the paths that an exchange goes cost on the machine at hand.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "gs/linear_cost.hpp"
#include "gs/mpi_probe.hpp"

namespace nekbone_k {

/// What takes messages from rank to rank.
enum class Carrier {
  none,             ///< nothing that is measured
  host_messages,    ///< MPI, from and to (page-locked) host memory
  device_messages,  ///< MPI, from and to device memory
  nccl,
  nvshmem,
  peer_memory  ///< kernels that write into the neighbour's memory; within a node only
};

/// What MPI is handed without staging. Where kernels run on the host that is host memory, which
/// need not be measured twice.
inline constexpr Carrier direct_messages =
    is_host_device ? Carrier::host_messages : Carrier::device_messages;

/// For reports: "host messages".
std::string name(Carrier carrier);
/// What a guard and its journal know the measuring of a carrier by.
std::string guarded_name(Carrier carrier);

/// A path, or why nothing is known of it. Alike on every rank.
struct PathCost {
  std::string failure;               ///< why it has no cost; empty if it has
  std::vector<TransferTime> points;  ///< medians of the maxima over the ranks
  LinearCost cost;                   ///< fitted to them
  double further_message = 0;        ///< s, what each message more takes where several go at once

  bool is_known() const { return !points.empty(); }
};

/// Paths between ranks by one carrier.
struct MessagePath {
  Carrier carrier = Carrier::none;
  ProbePlace place = ProbePlace::within_node;
  PathCost path;
};

/// All that was measured.
struct MachinePaths {
  double launch = 0;  ///< s, a kernel among many that wait for each other
  double sync = 0;    ///< s, that waiting for one kernel takes beyond it; 0: not to be told
  /// From a launch to the end of the wait for a kernel that packs: doubles read by an index array
  /// and written; `bytes` are those of the message.
  PathCost pack;
  PathCost copy_to_host, copy_to_device;  ///< the wait included
  std::vector<MessagePath> messages;      ///< one out and one in at once
  double seconds = 0;                     ///< that measuring took

  /// nullptr where it was not measured, or failed.
  const PathCost* find(Carrier carrier, ProbePlace place) const;
};

}  // namespace nekbone_k
