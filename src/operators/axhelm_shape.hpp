/// @file
/// How the element kernel is spread over the threads of an execution space.
#pragma once

#include <algorithm>

#include "operators/element_layout.hpp"

namespace nekbone_k {

/// The launch shape of the element kernel at one compiled order. An element's nodes over one (i, j)
/// are a *column*; a thread works on *strips* of `width` neighbouring columns, whose values it
/// keeps to itself.
///
/// A CPU thread has a block of elements to itself: all rows of columns, one row at a time, so that
/// a coefficient read once serves a whole row.
template <class Space, int nq>
struct AxhelmShape {
  static constexpr int width = nq;
  static constexpr int strips = nq;  ///< of a thread
  static constexpr int blocks_per_team = 1;
  static constexpr int team_size = 1;
  static constexpr int least_teams = 0;  ///< at once on a multiprocessor; 0: no say
  /// Whether the factors of the next layer are read before they are needed.
  static constexpr bool reads_ahead = false;
  /// Whether the loop over layers is unrolled, so that a column can live in registers.
  static constexpr bool unrolls_layers = false;
};

/// A GPU thread has one column, in registers. Small elements share a team, so that a team has
/// enough threads to hide latency; `least_teams` bounds the registers of a thread.
template <int nq>
struct GpuAxhelmShape {
  static constexpr int width = 1;
  static constexpr int strips = 1;
  static constexpr int blocks_per_team = std::max(1, 128 / (nq * nq));
  static constexpr int team_size = blocks_per_team * nq * nq;
  /// 65,536 registers of a multiprocessor over what a thread needs: two columns, two rows of D, the
  /// factors of a layer, and some.
  static constexpr int registers = std::min(255, 2 * (4 * nq + 12) + 40);
  static constexpr int least_teams =
      std::max(1, 65536 / (registers * ((team_size + 31) / 32 * 32)));
  static constexpr bool reads_ahead = true;
  static constexpr bool unrolls_layers = true;
};

#ifdef KOKKOS_ENABLE_CUDA
template <int nq>
struct AxhelmShape<Kokkos::Cuda, nq> : GpuAxhelmShape<nq> {};
#endif
#ifdef KOKKOS_ENABLE_HIP
template <int nq>
struct AxhelmShape<Kokkos::HIP, nq> : GpuAxhelmShape<nq> {};
#endif

}  // namespace nekbone_k
