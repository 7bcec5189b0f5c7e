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
  static constexpr int threads_per_element_block = 1;  ///< they share its columns
  static constexpr int least_teams = 0;                ///< at once on a multiprocessor; 0: no say
  static constexpr int layers = 1;  ///< of an element that are in the tiles at a time
  static constexpr int pitch = nq;  ///< Lanes from one row of a tile to the next
  /// Whether ∂u/∂t of a thread's columns is in team scratch, else in the thread's own memory; so
  /// are the fluxes along t that take its place. Tiles and it are then one stretch of memory, in
  /// cache.
  static constexpr bool u_t_in_scratch = true;
  /// Layers of factors that are read before they are needed.
  static constexpr int factors_ahead = 0;
  /// Whether the loop over the element's layers is unrolled.
  static constexpr bool unrolls_steps = false;
};

/// What of some shapes was fastest on an H200 (docs/performance.md), by order. A thread has one
/// column; small elements share a team. `least_teams` bounds the registers of a thread.
struct GpuAxhelmTuning {
  int blocks_per_team, layers, factors_ahead, least_teams;
  bool u_t_in_scratch;
};
inline constexpr GpuAxhelmTuning gpu_axhelm_tuning[] = {
    {16, 2, 2, 16, false},  // Nq = 2
    {7, 3, 2, 12, false},   // 3
    {4, 4, 2, 12, false},   // 4
    {5, 5, 2, 5, false},    // 5
    {3, 6, 3, 4, false},    // 6
    {2, 7, 2, 5, true},     // 7
    {1, 8, 3, 8, false},    // 8
    {1, 9, 4, 5, false},    // 9
    {1, 10, 4, 4, true},    // 10
    {1, 11, 3, 4, true},    // 11
    {1, 12, 3, 3, true},    // 12
    {1, 13, 3, 2, false},   // 13
    {1, 7, 2, 2, true},     // 14
    {1, 5, 3, 2, true},     // 15
    {1, 8, 1, 2, false},    // 16
};
template <int nq>
struct GpuAxhelmShape {
  static_assert(nq <= 16, "no shape is known: leave orders above 15 out of NEKBONE_K_ORDERS");
  static constexpr GpuAxhelmTuning tuning = gpu_axhelm_tuning[nq <= 16 ? nq - 2 : 0];
  static constexpr int blocks_per_team = tuning.blocks_per_team;
  static constexpr int threads_per_element_block = nq * nq;
  static constexpr int least_teams = tuning.least_teams;
  static constexpr int layers = tuning.layers;
  /// Odd, so that the rows that half a warp reads begin in different banks.
  static constexpr int pitch = nq % 2 == 0 ? nq + 1 : nq;
  static constexpr bool u_t_in_scratch = tuning.u_t_in_scratch;
  static constexpr int factors_ahead = tuning.factors_ahead;
  static constexpr bool unrolls_steps = true;
};

#ifdef KOKKOS_ENABLE_CUDA
template <int nq>
struct AxhelmShape<Kokkos::Cuda, nq> : GpuAxhelmShape<nq> {};
#endif
#ifdef KOKKOS_ENABLE_HIP
template <int nq>
struct AxhelmShape<Kokkos::HIP, nq> : GpuAxhelmShape<nq> {
  // The bound of registers was found on another GPU, and HIP's launch bounds count differently.
  static constexpr int least_teams = 0;
};
#endif

}  // namespace nekbone_k
