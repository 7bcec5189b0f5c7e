#include "core/machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/errors.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace nekbone_k {

namespace {
/// The ranks on this rank's node, itself among them, in rank order. Collective.
std::vector<int> ranks_of_node(const Communicator& comm) {
  MPI_Comm node_comm = MPI_COMM_NULL;
  check_mpi(
      MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node_comm),
      "MPI_Comm_split_type");
  int size = 1;
  MPI_Comm_size(node_comm, &size);
  std::vector<int> ranks(size);
  const int here = comm.rank();
  const int code = MPI_Allgather(&here, 1, MPI_INT, ranks.data(), 1, MPI_INT, node_comm);
  MPI_Comm_free(&node_comm);
  check_mpi(code, "MPI_Allgather");
  return ranks;
}

int place_among(const std::vector<int>& ranks, int rank) {
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}
}  // namespace

NodeLayout find_node_layout(const Communicator& comm) {
  NodeLayout layout;
  layout.ranks = ranks_of_node(comm);
  layout.node_rank = place_among(layout.ranks, comm.rank());
  layout.nodes = static_cast<int>(comm.sum(std::int64_t{layout.node_rank == 0 ? 1 : 0}));
  return layout;
}

int pretended_ranks_per_node() {
  const char* const text = std::getenv("NEKBONE_K_RANKS_PER_NODE");
  if (text == nullptr) return 0;
  int ranks = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, ranks);
  if (error != std::errc() || stop != end || ranks < 1)
    throw InputError(fmt::format(
        "NEKBONE_K_RANKS_PER_NODE is '{}'; it must be a positive number of ranks, or not be set",
        text));
  return ranks;
}

std::vector<int> nodes_of_ranks(const Communicator& comm) {
  const auto pretended = static_cast<int>(comm.broadcast(std::int64_t{pretended_ranks_per_node()}));
  const std::vector<int> ranks = ranks_of_node(comm);
  const int place = place_among(ranks, comm.rank());
  const int node = ranks[pretended > 0 ? place / pretended * pretended : 0];
  std::vector<int> nodes(comm.size());
  check_mpi(MPI_Allgather(&node, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm.get()),
            "MPI_Allgather");
  return nodes;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t name = line.find_first_not_of(": \t", line.find(':'));
    if (name != std::string::npos) return line.substr(name);
  }
  return "unknown";
}

double own_processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double busy_seconds(const std::set<int>& cores, const std::filesystem::path& stat) {
  std::ifstream file(stat);
  double ticks = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name.size() < 4 || name.compare(0, 3, "cpu") != 0) continue;
    if (cores.count(std::atoi(name.c_str() + 3)) == 0) continue;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    words >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    ticks += user + nice + system + steal;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int launched_processes() {
  for (const char* const name :
       {"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* const text = std::getenv(name); text != nullptr) return std::atoi(text);
  return 0;
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

namespace {
/// Of all threads: OpenMP may have bound each to a core of its own, the first one too.
cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    cpu_set_t its;
    CPU_ZERO(&its);
    if (sched_getaffinity(std::atoi(thread.path().filename().c_str()), sizeof(its), &its) == 0)
      CPU_OR(&set, &set, &its);
  }
  return set;
}
}  // namespace

std::string allowed_cores() {
  const cpu_set_t set = affinity();
  std::string text;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &set)) continue;
    int last = core;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", core);
    if (last > core) text += fmt::format("-{}", last);
    core = last;
  }
  return text;
}

int allowed_core_count() {
  const cpu_set_t set = affinity();
  return CPU_COUNT(&set);
}

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string line(text.data(), length);
  line = line.substr(0, line.find_first_of("\n\r"));
  // Open MPI adds who packaged it; what matters ends at the first comma.
  return line.substr(0, line.find(','));
}

std::string utc_time() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

namespace {
/// First number in a file, or infinity ("max" too) where there is none.
double number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : std::numeric_limits<double>::infinity();
}

double meminfo_available() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  double kib = 0;
  while (file >> key >> kib >> unit)
    if (key == "MemAvailable:") return kib * 1024;
  return std::numeric_limits<double>::infinity();
}

/// The files in which a version of control groups keeps its figures.
struct CgroupFiles {
  const char *root, *limit, *usage, *cache_key;
};
constexpr CgroupFiles cgroup_v1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                "memory.usage_in_bytes", "total_inactive_file"};
constexpr CgroupFiles cgroup_v2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/// What a control group still grants: its limit less what it uses, of which file cache can be had
/// back.
double cgroup_available(const CgroupFiles& files, const std::filesystem::path& group) {
  std::ifstream stat(group / "memory.stat");
  std::string key;
  double value = 0, cache = 0;
  while (stat >> key >> value)
    if (key == files.cache_key) cache = value;
  const double used = number_in(group / files.usage);
  return std::isfinite(used) ? std::max(number_in(group / files.limit) - used + cache, 0.0)
                             : std::numeric_limits<double>::infinity();
}

/// The least that the process's control groups and those above them grant, as batch systems set
/// limits a job or a step. Where a container hides the group's own folder, the root one counts.
double cgroups_available() {
  double least = std::numeric_limits<double>::infinity();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:/path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers.find("memory") == std::string::npos) continue;
    const CgroupFiles& files = controllers.empty() ? cgroup_v2 : cgroup_v1;
    std::filesystem::path group = line.substr(second + 1);
    for (bool at_root = false; !at_root; group = group.parent_path()) {
      at_root = !group.has_relative_path();
      least = std::min(least, cgroup_available(files, files.root / group.relative_path()));
    }
  }
  return least;
}
}  // namespace

double available_memory() { return std::min(meminfo_available(), cgroups_available()); }

void release_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    double kib = 0;
    if (key == "VmHWM:" && status >> kib) return kib * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

}  // namespace nekbone_k
