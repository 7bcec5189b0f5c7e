// SPDX-License-Identifier: BSD-3-Clause
#include "machine/limits.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

// ---- Cores --------------------------------------------------------------------------------------

/// A set of cores in the format of the kernel, of any size: cpu_set_t ends at 1,024.
class CoreMask {
 public:
  explicit CoreMask(int cores)
      : m_cores(cores), m_bytes(CPU_ALLOC_SIZE(cores)), m_set(CPU_ALLOC(cores), release) {
    if (m_set == nullptr) throw std::bad_alloc();
    CPU_ZERO_S(m_bytes, m_set.get());
  }
  /// Reads the set of thread `id`. Returns whether it could; errno has the reason if not.
  bool read(pid_t id) { return sched_getaffinity(id, m_bytes, m_set.get()) == 0; }
  /// The cores of the set, ascending.
  std::vector<int> cores() const {
    std::vector<int> found;
    for (int core = 0; core < m_cores; ++core)
      if (CPU_ISSET_S(core, m_bytes, m_set.get())) found.push_back(core);
    return found;
  }

 private:
  static void release(cpu_set_t* set) { CPU_FREE(set); }

  int m_cores;
  std::size_t m_bytes;
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> m_set;
};

/// The cores that thread `id` may run on, ascending; empty if unknown.
std::vector<int> cores_of_thread(pid_t id) {
  constexpr int most = 1 << 20;
  for (int cores = CPU_SETSIZE; cores <= most; cores *= 2) {
    CoreMask mask(cores);
    if (mask.read(id)) return mask.cores();
    if (errno != EINVAL) return {};  // EINVAL: the set of the kernel is larger
  }
  return {};
}

/// Take all threads: OpenMP may have bound each one, even the first, to a core of its own.
std::vector<int> cores_of_threads() {
  std::vector<int> all = cores_of_thread(0);
  std::error_code ignored;
  for (const auto& thread : fs::directory_iterator("/proc/self/task", ignored)) {
    const std::vector<int> its = cores_of_thread(std::atoi(thread.path().filename().c_str()));
    all.insert(all.end(), its.begin(), its.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// ---- Files --------------------------------------------------------------------------------------

/// The first number in a file. Infinity if there is none, and for "max".
double number_in(const fs::path& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : unlimited;
}

/// The number after `key` in a file with lines "key number"; empty if there is none.
std::optional<double> entry_in(const fs::path& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double value = 0;
    if (words >> name >> value && name == key) return value;
  }
  return {};
}

// ---- Control groups -----------------------------------------------------------------------------

/// The folder of a control group, and the version of its files.
struct GroupFolder {
  fs::path path;
  bool is_v2 = false;
};

bool has_item(const std::string& list, std::string_view item) {
  std::istringstream items(list);
  for (std::string one; std::getline(items, one, ',');)
    if (one == item) return true;
  return false;
}

/// A mount point of control groups, and the group that it shows as the topmost one.
struct GroupMount {
  fs::path point;
  std::string top = "/";
};

/// Mounts of version 2, or of the version 1 hierarchy of `controller`. A line of /proc/self/cgroup
/// names that hierarchy `controllers`.
std::vector<GroupMount> group_mounts(const fs::path& root, bool is_v2, std::string_view controller,
                                     const std::string& controllers) {
  std::vector<GroupMount> mounts;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t separator = line.find(" - ");
    if (separator == std::string::npos) continue;
    std::istringstream front(line), back(line.substr(separator + 3));
    std::string id, parent, device, top, point, type, source, options;
    front >> id >> parent >> device >> top >> point;
    back >> type >> source >> options;
    if (is_v2 ? type == "cgroup2" : type == "cgroup" && has_item(options, controller))
      mounts.push_back({root / fs::path(point).relative_path(), top});
  }
  // If the mounts cannot be read, use the usual places.
  const fs::path usual = root / "sys/fs/cgroup";
  if (mounts.empty() && is_v2) mounts = {{usual}};
  if (mounts.empty()) mounts = {{usual / controller}, {usual / controllers}};
  return mounts;
}

/// The folders of the control group of this process and of the groups above it that have files of
/// `controller` ("cpu", "memory"), innermost first. Batch systems set limits per job or per step.
/// If a container hides the folder of the group, the topmost folder that it shows is that of the
/// group.
std::vector<GroupFolder> group_folders(const fs::path& root, std::string_view controller) {
  std::vector<GroupFolder> folders;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:/path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_v2 = controllers.empty();
    if (!is_v2 && !has_item(controllers, controller)) continue;
    for (const GroupMount& mount : group_mounts(root, is_v2, controller, controllers)) {
      std::string path = line.substr(second + 1);
      if (path.find("..") != std::string::npos) path = "/";  // outside of the visible groups
      if (mount.top != "/" && (path + "/").starts_with(mount.top + "/"))
        path.erase(1, std::min(mount.top.size(), path.size() - 1));  // keep the first slash
      fs::path group = path;
      for (bool at_top = false; !at_top; group = group.parent_path()) {
        at_top = !group.has_relative_path();
        folders.push_back({mount.point / group.relative_path(), is_v2});
      }
    }
  }
  return folders;
}

/// The memory that a control group still grants: its limit minus its use. File cache can be
/// reclaimed, so it does not count as used.
double group_memory(const GroupFolder& group) {
  const bool v2 = group.is_v2;
  const double used = number_in(group.path / (v2 ? "memory.current" : "memory.usage_in_bytes"));
  const double limit = number_in(group.path / (v2 ? "memory.max" : "memory.limit_in_bytes"));
  const double cache =
      entry_in(group.path / "memory.stat", v2 ? "inactive_file" : "total_inactive_file")
          .value_or(0);
  return used < unlimited ? std::max(limit - used + cache, 0.0) : unlimited;
}

/// The processor time that a group may use, in cores; unlimited without a quota.
double group_cores(const GroupFolder& group) {
  double quota = unlimited, period = unlimited;  // microseconds
  if (group.is_v2) {
    std::ifstream file(group.path / "cpu.max");  // "100000 100000", "max 100000"
    if (!(file >> quota >> period)) return unlimited;
  } else {
    quota = number_in(group.path / "cpu.cfs_quota_us");  // -1 means none
    period = number_in(group.path / "cpu.cfs_period_us");
  }
  const bool is_set = quota > 0 && quota < unlimited && period > 0 && period < unlimited;
  return is_set ? quota / period : unlimited;
}

double group_throttled(const GroupFolder& group) {
  const auto stat = [&](const char* key) { return entry_in(group.path / "cpu.stat", key); };
  return group.is_v2 ? 1e-6 * stat("throttled_usec").value_or(0)
                     : 1e-9 * stat("throttled_time").value_or(0);
}

// ---- Memory -------------------------------------------------------------------------------------

double system_memory(const fs::path& root) {
  const fs::path info = root / "proc/meminfo";
  constexpr double kib = 1024;
  double bytes = kib * entry_in(info, "MemAvailable:").value_or(unlimited);
  constexpr double never = 2;  // /proc/sys/vm/overcommit_memory: never overcommit
  if (number_in(root / "proc/sys/vm/overcommit_memory") == never) {
    const auto limit = entry_in(info, "CommitLimit:"), committed = entry_in(info, "Committed_AS:");
    if (limit && committed) bytes = std::min(bytes, kib * std::max(*limit - *committed, 0.0));
  }
  return bytes;
}

}  // namespace

std::string allowed_cores() {
  const std::vector<int> cores = cores_of_threads();
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < cores.size(); begin = end) {
    while (end < cores.size() && cores[end] - cores[begin] == static_cast<int>(end - begin)) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cores[begin]);
    if (end - begin > 1) text += fmt::format("-{}", cores[end - 1]);
  }
  return text;
}

int allowed_core_count() { return static_cast<int>(cores_of_threads().size()); }

std::vector<CpuQuota> cpu_quotas(const fs::path& root) {
  std::vector<CpuQuota> quotas;
  for (const GroupFolder& group : group_folders(root, "cpu")) {
    const double cores = group_cores(group);
    struct stat folder {};
    if (cores == unlimited || stat(group.path.c_str(), &folder) != 0) continue;
    // Identify the group by inode. Containers show the same group by other names, and other groups
    // by the same name.
    const CpuQuota quota{fmt::format("{}:{}", folder.st_dev, folder.st_ino), cores};
    if (std::find(quotas.begin(), quotas.end(), quota) == quotas.end()) quotas.push_back(quota);
  }
  return quotas;
}

double throttled_seconds(const fs::path& root) {
  double most = 0;
  for (const GroupFolder& group : group_folders(root, "cpu"))
    most = std::max(most, group_throttled(group));
  return most;
}

double available_memory(const fs::path& root) {
  double least = system_memory(root);
  for (const GroupFolder& group : group_folders(root, "memory"))
    least = std::min(least, group_memory(group));
  return least;
}

ProcessMemory process_memory(const fs::path& root) {
  ProcessMemory memory;
  const auto limited_by = [&](auto resource, const char* used_key, const char* command) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    const double used = 1024 * entry_in(root / "proc/self/status", used_key).value_or(0);
    const double left = std::max(static_cast<double>(limit.rlim_cur) - used, 0.0);
    if (left < memory.left) memory = {left, command};
  };
  limited_by(RLIMIT_AS, "VmSize:", "ulimit -v");
  limited_by(RLIMIT_DATA, "VmData:", "ulimit -d");
  return memory;
}

}  // namespace nekbone_k
