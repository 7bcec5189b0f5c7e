// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Distribution of the element kernel over the threads of an execution space.
#pragma once

#include "operators/element_layout.hpp"

namespace nekbone_k {

/// The body of the element kernel that a shape is for: AxhelmCpu or, for floats on bricks,
/// AxhelmBricks; AxhelmGpu.
enum class AxhelmBody { cpu, gpu };

/// The launch shape of the element kernel at one compiled order. The nodes of an element at one (i,
/// j) are a *column*.
///
/// A CPU thread has a block of elements to itself.
template <class Space, int nq>
struct AxhelmShape {
  static constexpr AxhelmBody body = AxhelmBody::cpu;
  static constexpr int blocks_per_team = 1;
  static constexpr int threads_per_element_block = 1;  ///< they share the columns of the block
  static constexpr int least_teams = 0;                ///< on a multiprocessor; 0: no bound
  /// Whether lines along s are differentiated two at a time. AVX-512 has the registers for it.
  static constexpr bool two_lines_abreast = ElementLayout::lanes == 8;
  /// Whether adding surface results is faster than storing them and summing rows in another kernel.
  /// A single CPU thread adds plainly; a GPU adds atomically.
  static constexpr bool adds_surface_results = true;
};

/// The fastest of the tested shapes on an H200
/// (docs/measurements/2026-11-25-element-kernel-gpu.md), by order. A thread has one column; small
/// elements share a team. `least_teams` bounds the registers per thread.
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
  static constexpr AxhelmBody body = AxhelmBody::gpu;
  static constexpr GpuAxhelmTuning tuning = gpu_axhelm_tuning[nq <= 16 ? nq - 3 : 0];
  static constexpr int blocks_per_team = tuning.blocks_per_team;
  static constexpr int threads_per_element_block = nq * nq;
  static constexpr int least_teams = tuning.least_teams;
  /// Layers of an element that are in the tiles together.
  static constexpr int layers = tuning.layers;
  /// Banks of team scratch, each a double wide, that neighbouring threads should not share: those
  /// of half a warp; 1: no banks. See AxhelmTiles.
  static constexpr int scratch_banks = 16;
  static constexpr bool padded_rows = tuning.padded_rows;
  /// Whether ∂u/∂t of a thread's columns, and the fluxes along t that replace it, are in team
  /// scratch; otherwise they are in the thread's own memory.
  static constexpr bool u_t_in_scratch = tuning.u_t_in_scratch;
  /// Whether a thread with an element to itself also keeps the tiles in its own memory.
  static constexpr bool tiles_in_registers = false;
  /// Number of layers by which stored factors are read ahead.
  static constexpr int factors_ahead = tuning.factors_ahead;
  /// Whether factors are evicted first from the caches (read_lanes_once()). That leaves space for
  /// u, but is slower at some orders.
  static constexpr bool reads_factors_once = tuning.reads_factors_once;
  static constexpr bool adds_surface_results = tuning.adds_surface_results;
};
/// At Nq = 2 a thread has a whole element in registers, and the threads of a team read the factors
/// of their elements side by side (ElementLayout::group_size). With one thread per column, the many
/// short accesses to scratch and factors took longer than memory.
template <>
struct GpuAxhelmShape<2> {
  static constexpr AxhelmBody body = AxhelmBody::gpu;
  static constexpr int blocks_per_team = ElementLayout::group_size(2);
  static constexpr int threads_per_element_block = 1;
  static constexpr int least_teams = 12;
  static constexpr int layers = 2, scratch_banks = 1;
  static constexpr bool padded_rows = false;
  static constexpr bool u_t_in_scratch = false, tiles_in_registers = true;
  static constexpr int factors_ahead = 0;
  static constexpr bool reads_factors_once = false;
  static constexpr bool adds_surface_results = true;
};

#ifdef KOKKOS_ENABLE_CUDA
template <int nq>
struct AxhelmShape<Kokkos::Cuda, nq> : GpuAxhelmShape<nq> {};
#endif
#ifdef KOKKOS_ENABLE_HIP
template <int nq>
struct AxhelmShape<Kokkos::HIP, nq> : GpuAxhelmShape<nq> {
  // The bound on registers was found on another GPU, and HIP's launch bounds count differently.
  static constexpr int least_teams = 0;
  /// Not known to be faster: an atomic sum may be a loop on these GPUs.
  static constexpr bool adds_surface_results = false;
  /// At Nq = 2 one wavefront.
  static constexpr int blocks_per_team = nq == 2 ? 64 : GpuAxhelmShape<nq>::blocks_per_team;
};
#endif

}  // namespace nekbone_k
