/// @file
/// How kernels are spread over the threads of an execution space. That of the element kernel, which
/// differs from order to order, is AxhelmShape.
#pragma once

#include "core/types.hpp"

namespace nekbone_k {

/// On a CPU a team is one thread, which does a stretch of memory by itself.
template <class Space>
struct LaunchShape {
  /// Threads of a team that works through consecutive entries or positions.
  static constexpr int team_size = 1;
  /// Registers of entries that a thread of a reduction does: a whole stretch.
  static constexpr int entries_a_thread = 512;
  /// Positions of a run of indices at most, and of one with a stride at least: what pays for a loop
  /// of its own.
  static constexpr LocalIndex longest_run = 1024, shortest_run = 16;
  /// Points of elements whose entries are worked on just before them, as far as one thread has all:
  /// the entries stay in its caches, and the streams of memory are long. 0: entries come first.
  static constexpr LocalIndex points_at_a_time = 131072;
  /// Threads that sum over ranks.
  static constexpr int sum_team_size = 1;
};

/// On a GPU.
struct GpuLaunchShape {
  static constexpr int team_size = 256;
  /// Several, so that a GPU has more than one read under way.
  static constexpr int entries_a_thread = 8;
  static constexpr LocalIndex longest_run = team_size, shortest_run = team_size;
  static constexpr LocalIndex points_at_a_time = 0;
  static constexpr int sum_team_size = 64;
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
struct LaunchShape<Kokkos::Cuda> : GpuLaunchShape {};
#endif
#ifdef KOKKOS_ENABLE_HIP
template <>
struct LaunchShape<Kokkos::HIP> : GpuLaunchShape {};
#endif

}  // namespace nekbone_k
