/// @file
/// How the element kernel is spread over the threads of an execution space.
#pragma once

#include "operators/element_layout.hpp"

namespace nekbone_k {

/// The launch shape of the element kernel at one compiled order. The nodes of an element over one
/// (i, j) are a *column*.
///
/// A CPU thread has a block of elements to itself and works through them layer by layer, so that
/// the tiles of a layer stay in its first cache.
template <class Space, int nq>
struct AxhelmShape {
  static constexpr int blocks_per_team = 1;
  static constexpr int threads_per_block = 1;  ///< they share the block's columns
  static constexpr int least_teams = 0;        ///< at once on a multiprocessor; 0: no say
  static constexpr int layers = 1;             ///< of an element that are in the tiles at a time
  static constexpr int pitch = nq;             ///< Lanes from one row of a tile to the next
  /// Whether ∂u/∂t of a thread's columns is in team scratch, else in the thread's own memory.
  static constexpr bool u_t_in_scratch = true;
  /// Layers of factors that are read before they are needed.
  static constexpr int factors_ahead = 0;
};

/// What was fastest on an H200 (docs/performance.md). A thread has one column; small elements share
/// a team. `least_teams` bounds the registers of a thread.
struct GpuAxhelmShape {
  int blocks_per_team, layers, factors_ahead, least_teams;
  bool u_t_in_scratch;
};
inline constexpr GpuAxhelmShape gpu_axhelm_shapes[] = {
    {16, 2, 2, 16, false},  // Nq = 2
    {7, 3, 2, 12, false},   // 3
    {4, 4, 2, 12, false},   // 4
    {5, 5, 2, 5, false},    // 5
    {3, 6, 3, 4, false},    // 6
    {2, 7, 3, 4, false},    // 7
    {1, 8, 3, 8, false},    // 8
    {1, 9, 3, 5, false},    // 9
    {1, 10, 3, 4, false},   // 10
    {1, 11, 3, 4, true},    // 11
    {1, 12, 3, 3, true},    // 12
    {1, 7, 2, 2, true},     // 13
    {1, 7, 2, 2, true},     // 14
    {1, 5, 2, 2, true},     // 15
    {1, 8, 1, 2, false},    // 16
};
template <int nq, GpuAxhelmShape shape = gpu_axhelm_shapes[nq - 2]>
struct GpuAxhelm {
  static constexpr int blocks_per_team = shape.blocks_per_team;
  static constexpr int threads_per_block = nq * nq;
  static constexpr int least_teams = shape.least_teams;
  static constexpr int layers = shape.layers;
  /// Odd, so that the rows that half a warp reads begin in different banks.
  static constexpr int pitch = nq % 2 == 0 ? nq + 1 : nq;
  static constexpr bool u_t_in_scratch = shape.u_t_in_scratch;
  static constexpr int factors_ahead = shape.factors_ahead;
};

#ifdef KOKKOS_ENABLE_CUDA
template <int nq>
struct AxhelmShape<Kokkos::Cuda, nq> : GpuAxhelm<nq> {};
#endif
#ifdef KOKKOS_ENABLE_HIP
template <int nq>
struct AxhelmShape<Kokkos::HIP, nq> : GpuAxhelm<nq> {};
#endif

}  // namespace nekbone_k
