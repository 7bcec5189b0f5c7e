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
  /// Banks of team scratch, a double wide, that threads beside each other should not meet in; 1:
  /// none. See AxhelmTiles.
  static constexpr int scratch_banks = 1;
  static constexpr bool padded_rows = false;
  /// Whether ∂u/∂t of a thread's columns is in team scratch, else in the thread's own memory; so
  /// are the fluxes along t that take its place. Tiles and it are then one stretch of memory, in
  /// cache.
  static constexpr bool u_t_in_scratch = true;
  /// Whether a thread with an element to itself has the tiles, too, in memory of its own.
  static constexpr bool tiles_in_registers = false;
  /// Layers of factors that are read before they are needed.
  static constexpr int factors_ahead = 0;
  /// Whether factors are the first to leave a GPU's caches (read_lanes_once()), which leaves room
  /// for u, but for some orders is slower.
  static constexpr bool reads_factors_once = false;
  /// Whether lines along s are differentiated two at a time: with AVX-512 there are registers for
  /// it.
  static constexpr bool two_lines_abreast = ElementLayout::lanes == 8;
  /// Whether what is needed next is fetched into a cache meanwhile (AxhelmPrefetch).
  static constexpr bool prefetches = true;
  /// Whether the indices of a thread's columns are read before any value, and kept.
  static constexpr bool keeps_entries = false;
  /// Whether the loop over the element's layers is unrolled.
  static constexpr bool unrolls_steps = false;
  /// Whether adding results on surfaces is faster than storing them and summing rows by another
  /// kernel: on a CPU by a thread that is alone, on a GPU by atomic operations.
  static constexpr bool adds_surface_results = true;
};

/// What of some shapes was fastest on an H200 (docs/performance.md), by order. A thread has one
/// column; small elements share a team. `least_teams` bounds the registers of a thread.
struct GpuAxhelmTuning {
  int blocks_per_team, layers, factors_ahead, least_teams;
  bool reads_factors_once, u_t_in_scratch, padded_rows, adds_surface_results;
};
inline constexpr GpuAxhelmTuning gpu_axhelm_tuning[] = {
    {7, 3, 3, 10, false, false, true, true},   // Nq = 3
    {4, 4, 2, 10, false, false, false, true},  // 4
    {5, 5, 2, 5, false, false, true, true},    // 5
    {3, 6, 3, 5, true, true, true, true},      // 6
    {3, 7, 3, 4, false, true, true, true},     // 7
    {1, 8, 4, 7, true, true, true, true},      // 8
    {1, 9, 3, 5, false, true, true, false},    // 9
    {1, 10, 5, 4, true, true, false, false},   // 10
    {1, 11, 4, 4, false, true, true, true},    // 11
    {1, 12, 3, 3, false, true, true, false},   // 12
    {1, 7, 5, 2, false, true, true, false},    // 13
    {1, 7, 3, 2, false, true, true, false},    // 14
    {1, 5, 2, 2, true, true, true, false},     // 15
    {1, 8, 1, 2, false, false, true, false},   // 16
};
template <int nq>
struct GpuAxhelmShape {
  static_assert(nq <= 16, "no shape is known: leave orders above 15 out of NEKBONE_K_ORDERS");
  static constexpr GpuAxhelmTuning tuning = gpu_axhelm_tuning[nq <= 16 ? nq - 3 : 0];
  static constexpr int blocks_per_team = tuning.blocks_per_team;
  static constexpr int threads_per_element_block = nq * nq;
  static constexpr int least_teams = tuning.least_teams;
  static constexpr int layers = tuning.layers;
  static constexpr int scratch_banks = 16;  ///< half a warp's
  static constexpr bool padded_rows = tuning.padded_rows;
  static constexpr bool u_t_in_scratch = tuning.u_t_in_scratch;
  static constexpr bool tiles_in_registers = false;
  static constexpr int factors_ahead = tuning.factors_ahead;
  static constexpr bool reads_factors_once = tuning.reads_factors_once;
  static constexpr bool prefetches = false;
  static constexpr bool keeps_entries = true;
  static constexpr bool unrolls_steps = true;
  static constexpr bool adds_surface_results = tuning.adds_surface_results;
};
/// At Nq = 2 a thread has an element to itself, all of it in registers, and the threads of a team
/// read their elements' factors side by side (ElementLayout::group_size): with a thread a column,
/// the many short accesses to scratch and factors took longer than memory.
template <>
struct GpuAxhelmShape<2> {
  static constexpr int blocks_per_team = ElementLayout::group_size(2);
  static constexpr int threads_per_element_block = 1;
  static constexpr int least_teams = 12;
  static constexpr int layers = 2, scratch_banks = 1;
  static constexpr bool padded_rows = false;
  static constexpr bool u_t_in_scratch = false, tiles_in_registers = true;
  static constexpr int factors_ahead = 0;
  static constexpr bool reads_factors_once = false;
  static constexpr bool prefetches = false;
  static constexpr bool keeps_entries = true, unrolls_steps = true, adds_surface_results = true;
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
  /// Not known to be faster: an atomic sum may be a loop there.
  static constexpr bool adds_surface_results = false;
  /// At Nq = 2 a wavefront.
  static constexpr int blocks_per_team = nq == 2 ? 64 : GpuAxhelmShape<nq>::blocks_per_team;
};
#endif

}  // namespace nekbone_k
