// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Sums over the ranks inside a kernel, so that the host waits for nothing.
#pragma once

#include "core/peer_memory.hpp"
#include "core/types.hpp"

namespace nekbone_k {

/// Memory of a rank that all ranks can access. It has a flag per rank, then two sets of values per
/// rank, for even and odd calls. No rank overwrites values that another still reads. A rank writes
/// at call c + 2 after it has seen all flags of call c + 1. Every rank raises that flag after it
/// has read the values of call c.
struct SumMemory {
  std::byte* begin;
  int n_ranks, n_values;

  KOKKOS_FUNCTION Flag* flag(int rank) const { return reinterpret_cast<Flag*>(begin) + rank; }
  KOKKOS_FUNCTION double* values(int rank, std::uint64_t call) const {
    return reinterpret_cast<double*>(flag(n_ranks)) + (call % 2 * n_ranks + rank) * n_values;
  }
  static std::size_t bytes(int n_ranks, int n_values) {
    return n_ranks * (sizeof(Flag) + 2 * n_values * sizeof(double));
  }
};

/// Sums a few values over all ranks in a kernel of one team, as AllReduce does with a kernel of its
/// own. Kernels of all ranks call exchange(), then sum(). They count their calls in device memory,
/// so that a recorded kernel can be replayed (core/kernel_graph.hpp). Without memories there is one
/// rank, and its values are the sums.
struct DeviceSum {
  DeviceVector<SumMemory> memories = {};     ///< (ranks)
  DeviceVector<std::uint64_t> n_calls = {};  ///< (1) calls that have ended
  int rank = 0;
  Late* late = nullptr;

  /// Gives own(0), …, own(n_values - 1) to all ranks and waits for theirs. All threads of the team
  /// call it, with the same values. Returns the number of the call.
  template <class Team, class Own>
  KOKKOS_FUNCTION std::uint64_t exchange(const Team& team, int n_values, const Own& own) const {
    const int n_ranks = static_cast<int>(memories.extent(0));
    if (n_ranks == 0) return 0;
    const std::uint64_t call = n_calls(0) + 1;
    for (int r = team.team_rank(); r < n_ranks; r += team.team_size()) {
      for (int v = 0; v < n_values; ++v) memories(r).values(rank, call)[v] = own(v);
      raise_flag(memories(r).flag(rank), call);
    }
    for (int r = team.team_rank(); r < n_ranks; r += team.team_size())
      await(memories(rank).flag(r), call, late);
    team.team_barrier();
    // The host reads `late` after it has the sums.
    desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
    if (team.team_rank() == 0) n_calls(0) = call;
    return call;
  }

  /// The sum of value v of that call, added in ascending rank.
  template <class Own>
  KOKKOS_FUNCTION double sum(int v, std::uint64_t call, const Own& own) const {
    const int n_ranks = static_cast<int>(memories.extent(0));
    if (n_ranks == 0) return own(v);
    double sum = 0;
    for (int r = 0; r < n_ranks; ++r) sum += memories(rank).values(r, call)[v];
    return sum;
  }
};

}  // namespace nekbone_k
