/// @file
/// What Linux says of a node's cores, NUMA nodes, devices and network interfaces, for whoever has
/// to place ranks. Nothing here is collective; what cannot be read is left out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nekbone_k {

/// The numbers in a list of cores such as "0-1,4", ascending; empty for what is no such list.
std::vector<int> cores_in(std::string_view list);

/// Cores that are switched on, whoever may use them.
int online_core_count();

/// One way out of the node.
struct NetworkInterface {
  std::string name;              ///< as Linux calls it, e.g. "eth0" or "mlx5_0"
  std::string kind;              ///< "Ethernet", "InfiniBand" or "virtual" (of no device)
  std::string state;             ///< e.g. "up" or "active"; empty if unknown
  std::optional<int> numa_node;  ///< that it is next to
};

/// All of the node but the loopback, by name. `sys` is where sysfs is mounted.
std::vector<NetworkInterface> network_interfaces(const std::filesystem::path& sys = "/sys");

/// The NUMA nodes, ascending, that the ways out of the node are next to: its InfiniBand adapters
/// or, if none of them works, its Ethernet devices; those that are up, or whose state is not known.
std::vector<int> numa_nodes_of(const std::vector<NetworkInterface>& interfaces);

/// The NUMA nodes that `cores` belong to, ascending; empty where Linux knows none.
std::vector<int> numa_nodes_of(const std::vector<int>& cores,
                               const std::filesystem::path& sys = "/sys");

/// The NUMA node that the accelerator at `place` on the PCI bus ("0000:1b:00", as device_place())
/// is next to; nothing where Linux knows none or there is none.
std::optional<int> numa_node_of_device(const std::string& place,
                                       const std::filesystem::path& sys = "/sys");

/// Whether the node has the device files of an NVIDIA or AMD GPU.
bool has_gpu_files(const std::filesystem::path& dev = "/dev");

}  // namespace nekbone_k
