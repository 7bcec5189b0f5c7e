/// @file
/// What `nekbone-k doctor` finds out, and what it makes of it.
#pragma once

#include <string>
#include <vector>

#include "app/run_record.hpp"
#include "gs/mpi_probe.hpp"

namespace nekbone_k {

/// An exchange strategy or a way to sum, why it is not available here (empty: it is), and what it
/// does wrong (empty: nothing).
struct Availability {
  std::string name, why_not, wrong = {};
  bool is_journaled = false;  ///< why_not is what the journal says of an earlier job
};

/// All that doctor looked at, alike on every rank.
struct DoctorRecord {
  MachineRecord machine;
  bool kernels_on_host = true;
  int threads = 1;                      ///< of a rank, on cores of the host
  bool slow_build = false;              ///< Debug, or with sanitizers
  bool unused_gpu = false;              ///< a node has a GPU that this build does not use
  int launched = 0;                     ///< processes by the launcher's count; 0: unknown
  std::vector<int> online_cores;        ///< of each rank's node
  std::vector<std::string> numa_nodes;  ///< of each rank: those of its cores; "" if unknown
  /// Of each rank: the one that its accelerator is next to; "" if unknown, or without one.
  std::vector<std::string> device_numa_nodes;
  std::vector<std::string> networks;  ///< of each rank: the node's network interfaces
  /// Of each rank: those that the node's ways to other nodes are next to; "" if unknown.
  std::vector<std::string> network_numa_nodes;
  MpiProbe probe;
  std::vector<Availability> exchanges, sums;
};

/// Cores that several ranks may use.
struct SharedCores {
  std::string host;
  std::vector<int> cores, ranks;  ///< ascending
};

/// The cores of each host that the same two or more ranks may use, drawn together.
std::vector<SharedCores> shared_cores(const MachineRecord& machine);

/// Something that is likely wrong, in plain words.
struct Finding {
  std::string what, fix;
};

/// All that is likely wrong, what spoils most first.
std::vector<Finding> find_faults(const DoctorRecord& record);

}  // namespace nekbone_k
