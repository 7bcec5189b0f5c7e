// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Distribution of kernels over the threads of an execution space. AxhelmShape covers the element
/// kernel, whose shape depends on the polynomial order.
#pragma once

#include <array>

#include "core/types.hpp"

namespace nekbone_k {

/// On a CPU, a team is one thread that works through a stretch of memory alone.
template <class Space>
struct LaunchShape {
  /// Threads of a team that works through consecutive entries or positions.
  static constexpr int team_size = 1;
  /// Entries per thread of a reduction, in Lanes, the most first: on a CPU a whole stretch.
  static constexpr std::array<int, 1> entries_a_thread{512};
  /// Teams that fill the device. A reduction takes fewer entries per thread to have as many.
  static constexpr int enough_teams = 1;
  /// Most positions of a run of indices, and fewest of a run with a stride; a shorter run does not
  /// pay for a loop of its own.
  static constexpr LocalIndex longest_run = 1024, shortest_run = 16;
  /// Local points of a batch: one thread updates the entries of some elements just before it
  /// applies the operator to them. A batch keeps its entries in the caches and its memory streams
  /// long. 0: all entries first.
  static constexpr LocalIndex points_at_a_time = 131072;
  /// Threads of the team that computes an all-reduce.
  static constexpr int sum_team_size = 1;
  /// Threads of the team that adds the parts of products.
  static constexpr int scalar_team = 1;
};

/// On a GPU.
struct GpuLaunchShape {
  static constexpr int team_size = 256;
  /// Several, so that a GPU has more than one read in flight per thread. On small vectors fewer, as
  /// the entries of a thread follow each other.
  static constexpr std::array<int, 4> entries_a_thread{8, 4, 2, 1};
  static constexpr int enough_teams = 512;
  static constexpr LocalIndex longest_run = team_size, shortest_run = team_size;
  static constexpr LocalIndex points_at_a_time = 0;
  static constexpr int sum_team_size = 64;
  static constexpr int scalar_team = 512;
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
struct LaunchShape<Kokkos::Cuda> : GpuLaunchShape {};
#endif
#ifdef KOKKOS_ENABLE_HIP
template <>
struct LaunchShape<Kokkos::HIP> : GpuLaunchShape {};
#endif

/// The policy with a hint to pass the functor with the launch. Without it, Kokkos copies a functor
/// of more than 512 bytes to a GPU separately, and the host waits. A functor has at most 4 KiB.
template <class Policy>
auto light(const Policy& policy) {
  return Kokkos::Experimental::require(policy,
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

}  // namespace nekbone_k
