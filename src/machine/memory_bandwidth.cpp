// SPDX-License-Identifier: BSD-3-Clause
#include "machine/memory_bandwidth.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "core/device.hpp"
#include "core/large_vector.hpp"
#include "core/launch_shape.hpp"
#include "core/topology.hpp"
#include "core/types.hpp"
#include "machine/limits.hpp"

namespace nekbone_k {
namespace {

constexpr double mebibyte = 1024.0 * 1024;
/// Minimum size if memory is short; vectors that fit into caches tell nothing.
constexpr double least_vector_bytes = 64 * mebibyte;
/// The part of the limits of a rank that is left to other allocations.
constexpr double left_to_a_rank = 32 * mebibyte;
/// A GPU pass is so short that its launch and the wait for it would count.
constexpr int passes_a_sample = is_host_device ? 1 : 8;
constexpr int sample_count = is_host_device ? 3 : 5;

/// The type that a GPU thread reads and writes fastest.
struct alignas(16) Pair {
  double first, second;
};

/// Copies `n` pairs, several per thread. A thread reads all its pairs before it writes the first.
struct CopyPairs {
  static constexpr int team_size = LaunchShape<ExecutionSpace>::team_size, pairs_a_thread = 4;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 0>>;

  const Pair* from;
  Pair* to;
  std::size_t n;

  KOKKOS_FUNCTION void operator()(const Policy::member_type& team) const {
    const std::size_t begin =
        std::size_t(team.league_rank()) * team_size * pairs_a_thread + team.team_rank();
    Pair values[pairs_a_thread];
    NEKBONE_K_UNROLL
    for (int p = 0; p < pairs_a_thread; ++p)
      if (begin + p * team_size < n) values[p] = from[begin + p * team_size];
    NEKBONE_K_UNROLL
    for (int p = 0; p < pairs_a_thread; ++p)
      if (begin + p * team_size < n) to[begin + p * team_size] = values[p];
  }
};

void copy_by_loop(const DeviceVector<double>& to, const DeviceVector<double>& from) {
  Kokkos::parallel_for(
      "nekbone_k: copy", Kokkos::RangePolicy<ExecutionSpace>(0, from.extent(0)),
      KOKKOS_LAMBDA(const std::size_t i) { to(i) = from(i); });
}

void copy_by_kernel(const DeviceVector<double>& to, const DeviceVector<double>& from) {
  if constexpr (is_host_device) {
    copy_by_loop(to, from);
  } else {
    constexpr std::size_t a_team = std::size_t{CopyPairs::team_size} * CopyPairs::pairs_a_thread;
    const CopyPairs copy{reinterpret_cast<const Pair*>(from.data()),
                         reinterpret_cast<Pair*>(to.data()), from.extent(0) / 2};
    const auto teams = static_cast<int>((copy.n + a_team - 1) / a_team);
    Kokkos::parallel_for("nekbone_k: copy", CopyPairs::Policy(teams, CopyPairs::team_size), copy);
  }
}

void triad(const DeviceVector<double>& a, const DeviceVector<double>& b, double scale,
           const DeviceVector<double>& c) {
  Kokkos::parallel_for(
      "nekbone_k: triad", Kokkos::RangePolicy<ExecutionSpace>(0, a.extent(0)),
      KOKKOS_LAMBDA(const std::size_t i) { a(i) = b(i) + scale * c(i); });
}

/// Bytes of one vector per node or GPU. Collective.
double vector_bytes(const Communicator& comm, const NodeLayout& layout, double run_bytes) {
  if (!is_host_device) return 1024 * mebibyte;
  double bytes = 0;
  if (layout.node_rank == 0) {  // alone, because a large node has thousands of files to read
    const double caches = last_level_cache_bytes();
    bytes = caches > 0 ? 4 * caches : 512 * mebibyte;
  }
  return std::max(std::min(comm.max(bytes), run_bytes), 128 * mebibyte);
}

}  // namespace

MemoryBandwidth measure_memory_bandwidth(const Communicator& comm, const NodeLayout& layout,
                                         double run_bytes, double most_bytes) {
  const int sharing = static_cast<int>(
      comm.max(std::int64_t{is_host_device ? layout.node_ranks() : ranks_on_device(comm)}));
  double most = most_bytes;
  if (is_host_device) most = std::min(most, sharing * (process_memory().left - left_to_a_rank));
  const double shared_bytes = std::min(vector_bytes(comm, layout, run_bytes), comm.min(most) / 3);
  if (shared_bytes < least_vector_bytes) return {};
  const std::size_t count =
      static_cast<std::size_t>(shared_bytes) / sizeof(double) / sharing / 2 * 2;  // whole pairs
  const DeviceVector<double> from = large_vector("nekbone_k: bandwidth source", count);
  const DeviceVector<double> also_from = large_vector("nekbone_k: second source", count);
  const DeviceVector<double> to = large_vector("nekbone_k: bandwidth target", count);
  Kokkos::deep_copy(from, 1.5);
  Kokkos::deep_copy(also_from, 2.5);
  const auto seconds = [&](const auto& pass) {
    comm.barrier();
    const double begin = wall_seconds();
    for (int i = 0; i < passes_a_sample; ++i) pass();
    Kokkos::fence("nekbone_k: bandwidth timed");
    return comm.max(wall_seconds() - begin) / passes_a_sample;
  };
  double copied = std::numeric_limits<double>::infinity(), added = copied;
  for (int sample = 0; sample < sample_count; ++sample) {
    const double by_runtime = seconds([&] { Kokkos::deep_copy(ExecutionSpace(), to, from); });
    const double by_kernel = seconds([&] { copy_by_kernel(to, from); });
    copied = std::min({copied, by_runtime, by_kernel});
    added = std::min(added, seconds([&] { triad(to, from, sample, also_from); }));
  }
  const double bytes = double{sizeof(double)} * static_cast<double>(count) * comm.size();
  return {2 * bytes / copied, 3 * bytes / added};
}

}  // namespace nekbone_k
