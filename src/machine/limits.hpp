// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Limits of the cores, processor time and memory of this process. `root` is the root of the file
/// trees of the system. Nothing here is collective.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace nekbone_k {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// The cores that any thread of this process may run on now, e.g. "0-1,4", and their number. "" and
/// 0 if the system does not report them.
std::string allowed_cores();
int allowed_core_count();

/// The CPU quota of a control group, in cores. Affinity masks do not show it.
struct CpuQuota {
  std::string group;  ///< identifies the group among all processes of the node
  double cores = 0;

  bool operator==(const CpuQuota&) const = default;
};
/// The quotas of the control group of this process and of the groups above it, innermost first.
/// Reads control groups of versions 1 and 2.
std::vector<CpuQuota> cpu_quotas(const std::filesystem::path& root = "/");
/// The time for which quotas kept threads waiting, in s, of the group that waited most. 0 if the
/// system does not report it.
double throttled_seconds(const std::filesystem::path& root = "/");

/// The memory of this node that new allocations can get, in bytes. The system reports available
/// memory; control groups, or a system without overcommit, may grant less.
double available_memory(const std::filesystem::path& root = "/");

/// The bytes that this process may still map under its own limits, which batch systems set. `limit`
/// is the command that shows the limit: "ulimit -v" or "ulimit -d". Unlimited and "" without a
/// limit.
struct ProcessMemory {
  double left = unlimited;
  std::string limit;
};
ProcessMemory process_memory(const std::filesystem::path& root = "/");

}  // namespace nekbone_k
