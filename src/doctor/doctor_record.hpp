// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What `nekbone-k doctor` measures, and the findings that it derives.
#pragma once

#include <string>
#include <vector>

#include "machine/mpi_probe.hpp"
#include "machine/mpi_trial.hpp"
#include "report/run_record.hpp"

namespace nekbone_k {

/// Whether an exchange strategy or all-reduce works here. `why_not` says why it is unavailable and
/// `wrong` what it does wrong; both are empty if it works.
struct Availability {
  std::string name, why_not, wrong = {};
  bool is_journaled = false;  ///< why_not comes from the journal
};

/// Everything that doctor measured. The same on every rank.
struct DoctorRecord {
  MachineRecord machine;
  bool kernels_on_host = true;
  int threads = 1;                      ///< host threads per rank
  bool slow_build = false;              ///< Debug, or with sanitizers
  bool unused_gpu = false;              ///< a node has a GPU that this build does not use
  int launched = 0;                     ///< processes by the launcher's count; 0: unknown
  std::vector<int> online_cores;        ///< per rank: of its node
  std::vector<std::string> numa_nodes;  ///< per rank: of its cores; "" if unknown
  /// Per rank: NUMA node of its accelerator; "" if unknown or without an accelerator.
  std::vector<std::string> device_numa_nodes;
  std::vector<std::string> networks;  ///< per rank: network interfaces of its node
  /// Per rank: NUMA nodes of its node's network interfaces; "" if unknown.
  std::vector<std::string> network_numa_nodes;
  MpiTrial trial;
  MpiProbe probe;
  std::vector<Availability> exchanges, sums;
};

/// Cores that the same ranks may use.
struct SharedCores {
  std::string host;
  std::vector<int> cores, ranks;  ///< ascending
};

/// Cores that two or more ranks may use, grouped by host and ranks.
std::vector<SharedCores> shared_cores(const MachineRecord& machine);

/// A likely problem and its fix.
struct Finding {
  std::string what, fix;
};

/// All likely problems, the most harmful first.
std::vector<Finding> find_faults(const DoctorRecord& record);

/// Whether doctor exchanged messages and every transfer, strategy and all-reduce that it tried was
/// right. False on one rank, which exchanges nothing, and if tests are missing.
bool is_healthy(const DoctorRecord& record);

}  // namespace nekbone_k
