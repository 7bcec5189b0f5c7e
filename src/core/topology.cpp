// SPDX-License-Identifier: BSD-3-Clause
#include "core/topology.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <map>
#include <set>

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

/// The first line of a file; empty if the file does not exist.
std::string line_in(const fs::path& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

/// The entries of a folder, by name; none if the folder does not exist.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    entries.push_back(entry->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::optional<int> integer_of(std::string_view text) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return {};
  return number;
}

/// The bytes of a cache from text such as "32768K".
std::optional<double> bytes_of(std::string_view size) {
  double unit = 1;
  if (size.ends_with('K')) unit = 1024;
  if (size.ends_with('M')) unit = 1024 * 1024;
  if (unit > 1) size.remove_suffix(1);
  const std::optional<int> number = integer_of(size);
  return number ? std::optional(unit * *number) : std::nullopt;
}

/// The NUMA node in a device's folder of sysfs.
std::optional<int> numa_node_in(const fs::path& device) {
  const std::optional<int> node = integer_of(line_in(device / "numa_node"));
  return node && *node >= 0 ? node : std::nullopt;  // -1: the machine has only one node
}

/// The state of an InfiniBand adapter's first port, without its number: "4: ACTIVE" is "active".
std::string port_state(const fs::path& adapter) {
  const std::vector<fs::path> ports = entries_of(adapter / "ports");
  if (ports.empty()) return {};
  std::string state = line_in(ports.front() / "state");
  if (const std::size_t colon = state.find(": "); colon != std::string::npos)
    state.erase(0, colon + 2);
  std::transform(state.begin(), state.end(), state.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return state;
}

}  // namespace

std::vector<int> cores_in(std::string_view list) {
  std::vector<int> cores;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(range.size() + 1, list.size()));
    const std::size_t dash = range.find('-');
    const auto first = integer_of(range.substr(0, dash));
    const auto last = dash == range.npos ? first : integer_of(range.substr(dash + 1));
    if (!first || !last) return {};
    for (int core = *first; core <= *last; ++core) cores.push_back(core);
  }
  std::sort(cores.begin(), cores.end());
  return cores;
}

int online_core_count() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

double last_level_cache_bytes(const fs::path& sys) {
  int last_level = 0;
  std::map<std::string, double> sizes;  // by the cores that share a cache
  for (const fs::path& cpu : entries_of(sys / "devices/system/cpu"))
    for (const fs::path& cache : entries_of(cpu / "cache")) {
      const std::optional<double> size = bytes_of(line_in(cache / "size"));
      const int level = integer_of(line_in(cache / "level")).value_or(0);
      if (!size || level < last_level || line_in(cache / "type") == "Instruction") continue;
      if (level > last_level) sizes.clear();
      last_level = level;
      sizes[line_in(cache / "shared_cpu_list")] = *size;
    }
  double bytes = 0;
  for (const auto& [cores, size] : sizes) bytes += size;
  return bytes;
}

std::vector<NetworkInterface> network_interfaces(const fs::path& sys) {
  std::vector<NetworkInterface> interfaces;
  for (const fs::path& path : entries_of(sys / "class/infiniband"))
    interfaces.push_back(
        {path.filename().string(), "InfiniBand", port_state(path), numa_node_in(path / "device")});
  for (const fs::path& path : entries_of(sys / "class/net")) {
    // bonding_masters is a file without operstate
    if (path.filename() == "lo" || !is_there(path / "operstate")) continue;
    const std::string state = line_in(path / "operstate");
    interfaces.push_back({path.filename().string(),
                          is_there(path / "device") ? "Ethernet" : "virtual",
                          state == "unknown" ? "" : state, numa_node_in(path / "device")});
  }
  return interfaces;
}

std::vector<int> numa_nodes_of(const std::vector<NetworkInterface>& interfaces) {
  const auto works = [](const NetworkInterface& interface, std::string_view kind) {
    return interface.kind == kind &&
           (interface.state.empty() || interface.state == "up" || interface.state == "active");
  };
  const bool fast = std::any_of(interfaces.begin(), interfaces.end(),
                                [&](const auto& one) { return works(one, "InfiniBand"); });
  std::set<int> nodes;
  for (const NetworkInterface& interface : interfaces)
    if (works(interface, fast ? "InfiniBand" : "Ethernet") && interface.numa_node)
      nodes.insert(*interface.numa_node);
  return {nodes.begin(), nodes.end()};
}

std::vector<int> numa_nodes_of(const std::vector<int>& cores, const fs::path& sys) {
  std::vector<int> nodes;
  for (const fs::path& path : entries_of(sys / "devices/system/node")) {
    const std::string name = path.filename().string();
    if (!name.starts_with("node")) continue;
    const std::optional<int> node = integer_of(name.substr(4));
    const std::vector<int> its_cores = cores_in(line_in(path / "cpulist"));
    if (node && std::any_of(cores.begin(), cores.end(), [&](int core) {
          return std::binary_search(its_cores.begin(), its_cores.end(), core);
        }))
      nodes.push_back(*node);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::optional<int> numa_node_of_device(const std::string& place, const fs::path& sys) {
  if (place.empty()) return {};
  return numa_node_in(sys / "bus/pci/devices" / (place + ".0"));
}

bool has_gpu_files(const fs::path& dev) {
  return is_there(dev / "nvidia0") || is_there(dev / "kfd");
}

}  // namespace nekbone_k
