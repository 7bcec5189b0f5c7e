// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The energy that CPUs, their memory and GPUs use, from the counters of the machine.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "core/device.hpp"

namespace nekbone_k {

/// What a counter counts. The cores are part of a package; its memory is not.
enum class EnergyKind { package, dram, gpu };

/// A counter of energy.
struct EnergyCounter {
  EnergyKind kind;
  std::function<std::optional<double>()> read;  ///< J since some moment; nothing if it fails
  double range = std::numeric_limits<double>::infinity();  ///< J after which it restarts at 0
};

/// The counters of one kind of interface, or why there are none.
struct EnergyCounters {
  std::vector<EnergyCounter> counters;
  std::string missing;  ///< empty if there are counters
};

/// The CPU packages of this node and their memory, by Linux' powercap interface to RAPL. Other
/// domains are parts of a package (core, uncore), or contain all (psys). `sys` is the mount point
/// of sysfs. Not collective.
EnergyCounters rapl_counters(const std::filesystem::path& sys = "/sys");

/// The GPU at a place on the PCI bus (device_place()), by NVIDIA's management library, which is
/// loaded here so that builds do not need it. Not collective.
EnergyCounters nvml_counters(const std::string& place,
                             const std::string& library = "libnvidia-ml.so.1");

/// Energy that was used, over all nodes.
struct EnergyRecord {
  int packages = 0, dram = 0, gpus = 0;  ///< counters that were read
  double package_joules = 0, dram_joules = 0, gpu_joules = 0;
  std::string missing;  ///< why hardware of the run is not counted; empty if all is

  bool is_known() const { return packages + dram + gpus > 0; }
  double joules() const { return package_joules + dram_joules + gpu_joules; }
};

/// What an EnergyMeter reads, and when. Defaults are those of a run.
struct EnergyOptions {
  std::filesystem::path sys = "/sys";
  std::string nvml = "libnvidia-ml.so.1";
  std::string device = device_place();  ///< of this rank; empty: none
  /// Shortest measurement with CPU counters alone, and with GPUs, s. RAPL updates its counters
  /// about every millisecond. NVML does not say how often it does; this assumes 0.1 s.
  double least_seconds = 0.1, least_gpu_seconds = 2;
  /// Seconds after which go_on() reads the counters. Those of RAPL restart at 0 after some minutes
  /// of full load. Between two readings, a counter may restart once at most.
  double read_after = 30;
};

/// Measures the energy of the nodes of a run. The first rank of a node reads the counters of its
/// CPUs, and the first rank that uses a GPU reads that one. Counters count all processes.
class EnergyMeter {
 public:
  /// Omits all CPUs if those of one node cannot be read, and all GPUs likewise. A partial sum could
  /// be mistaken for the whole energy. Collective.
  explicit EnergyMeter(const Communicator& comm, const EnergyOptions& options = {});

  /// Begins a measurement. Not collective.
  void begin();
  /// Call it at least every few minutes between begin() and end(). Cheap. Not collective.
  void go_on();
  /// The energy since begin(). Nothing is counted if that took less than the shortest measurement.
  /// Collective.
  EnergyRecord end();

 private:
  void add();

  const Communicator& m_comm;
  EnergyOptions m_options;
  std::vector<EnergyCounter> m_counters;  ///< that this rank reads
  std::string m_missing;
  double m_begin = 0, m_read_at = 0;
  std::vector<double> m_last, m_used;  ///< J, by counter
  bool m_failed = false;               ///< a counter could not be read
};

}  // namespace nekbone_k
