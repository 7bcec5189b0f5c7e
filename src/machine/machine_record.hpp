// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The machine, the build and the conditions of a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "core/system.hpp"
#include "machine/library_versions.hpp"
#include "machine/machine_paths.hpp"
#include "machine/memory_bandwidth.hpp"
#include "machine/mpi_probe.hpp"
#include "machine/mpi_trial.hpp"

namespace nekbone_k {

/// MPI's statement on device memory, and the result of sending from the memory of kernels.
struct TransferRecord {
  bool on_host = true;  ///< kernels run on the host, so this was host memory
  MpiProbe probe;       ///< no entries for one rank, or if nothing was tried
  std::string why_not;  ///< reason why nothing was tried; empty if tried, or for one rank
  double seconds = 0;   ///< duration of the transfers
  MpiTrial trial;       ///< by a process of its own, before MPI starts
  bool several_nodes = false;
};

/// The machine, the build and the conditions of a run.
struct MachineRecord {
  std::string version, commit, compiler, build_type;
  std::string kokkos_version, backend;  ///< backend: name of the execution space
  int concurrency = 1;                  ///< threads of the execution space per rank
  std::string mpi_library;
  LibraryVersions libraries;  ///< on rank 0
  std::string processor;      ///< on the node of rank 0
  int ranks = 1, nodes = 1;
  std::vector<int> ranks_per_node;
  std::vector<std::string> hosts;    ///< by rank
  std::vector<std::string> devices;  ///< by rank; "host" without an accelerator
  std::vector<std::string> binding;  ///< by rank: cores it may run on, e.g. "0-1"
  /// By rank: the shortest CPU quota of its control groups, in cores; unlimited without one.
  std::vector<double> cpu_quota;
  std::vector<std::string> warnings;        ///< "problem; remedy"
  MemoryBandwidth bandwidth;                ///< of all ranks at once; zeros if not measured
  std::optional<TransferRecord> transfers;  ///< of MPI, once tried
  std::optional<MachinePaths> paths;        ///< cost of the paths of exchanges, once measured
  std::string started;                      ///< UTC, ISO 8601
};

/// Fills in everything that needs no measurement and no transfers. Collective.
MachineRecord make_machine_record(const Communicator& comm);

}  // namespace nekbone_k
