// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The node's cores, NUMA nodes, devices and network interfaces, as Linux reports them, for placing
/// ranks. Nothing here is collective. Facts that cannot be read are missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nekbone_k {

/// Core numbers in a list such as "0-1,4", ascending; empty if the text is not such a list.
std::vector<int> cores_in(std::string_view list);

/// Number of cores that are online, including cores that this process may not use.
int online_core_count();

/// Bytes of the node's last-level caches, each counted once; 0 if unknown. `sys` is the mount point
/// of sysfs.
double last_level_cache_bytes(const std::filesystem::path& sys = "/sys");

/// One network interface of the node.
struct NetworkInterface {
  std::string name;              ///< as Linux calls it, e.g. "eth0" or "mlx5_0"
  std::string kind;              ///< "Ethernet", "InfiniBand" or "virtual" (no device)
  std::string state;             ///< e.g. "up" or "active"; empty if unknown
  std::optional<int> numa_node;  ///< the nearest NUMA node
};

/// All interfaces of the node except the loopback: InfiniBand adapters first, each kind by name.
/// `sys` is the mount point of sysfs.
std::vector<NetworkInterface> network_interfaces(const std::filesystem::path& sys = "/sys");

/// NUMA nodes next to the working network interfaces, ascending. These are the InfiniBand adapters
/// or, if none works, the Ethernet devices. An interface works if it is up or if its state is
/// unknown.
std::vector<int> numa_nodes_of(const std::vector<NetworkInterface>& interfaces);

/// NUMA nodes that `cores` belong to, ascending; empty if Linux reports none.
std::vector<int> numa_nodes_of(const std::vector<int>& cores,
                               const std::filesystem::path& sys = "/sys");

/// The NUMA node next to the accelerator at `place` on the PCI bus ("0000:1b:00", see
/// device_place()). Empty if Linux reports none or if `place` is empty.
std::optional<int> numa_node_of_device(const std::string& place,
                                       const std::filesystem::path& sys = "/sys");

/// Whether the node has device files of an NVIDIA or AMD GPU.
bool has_gpu_files(const std::filesystem::path& dev = "/dev");

}  // namespace nekbone_k
