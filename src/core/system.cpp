// SPDX-License-Identifier: BSD-3-Clause
#include "core/system.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/errors.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace nekbone_k {

namespace {
/// The ranks on this rank's node, including itself, in rank order. Collective.
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

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string line(text.data(), length);
  line = line.substr(0, line.find_first_of("\n\r"));
  // Open MPI adds its packager after the first comma.
  return line.substr(0, line.find(','));
}

std::string utc_time() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

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
