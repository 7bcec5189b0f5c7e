// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Prefetches memory on a CPU while the element kernel computes.
#pragma once

#include "operators/axhelm/axhelm_elements.hpp"

namespace nekbone_k {

/// While a thread processes a block of elements, prefetches the data that it needs next: the
/// factors some layers ahead and, bit by bit, u of the next block and the destinations of this
/// block's results.
///
/// A core has a limited number of cache misses in flight. At a missing value, it looks only some
/// hundred instructions ahead. To keep memory busy, requests are therefore spread over the whole
/// computation. The kernel calls step() at every line of nodes that it differentiates and twice per
/// row of points. Each call requests the same share of a block's factors. Addresses ascend, as the
/// core's hardware prefetchers expect.
///
/// Everything is force-inlined, because GCC assumes that a function which only prefetches has no
/// effect and drops its calls.
///
/// A pair of blocks has a stream of factors for each, and its second block's requests of u and Au
/// are made along with those of the first.
template <int nq, Geometry geometry, SurfaceResults surface_results, class T, int blocks_at_once>
class AxhelmPrefetch;
template <int nq, Geometry geometry, SurfaceResults surface_results, class T>
class AxhelmPrefetch<nq, geometry, surface_results, T, 1> {
 public:
  template <class Elements>
  KOKKOS_FORCEINLINE_FUNCTION AxhelmPrefetch(const Elements& elements, LocalIndex block,
                                             int blocks_at_once = 1) {
    if constexpr (geometry == Geometry::stored)  // all blocks form one stream
      m_factors = elements.factors(block, layers_ahead * nq * nq);
    const LocalIndex next =
        block + blocks_at_once < elements.args.last_block ? block + blocks_at_once : block;
    m_u = elements.args.u.data();
    m_u_surface = elements.args.surface_entries(next);
    m_u_interior = m_u + elements.interior_begin(next);
    m_au_interior = elements.args.au.data() + elements.interior_begin(block);
    if constexpr (surface_results == SurfaceResults::stored) {
      m_au = elements.args.au_surface.data() +
             ElementLayout::offset(block, 0, ElementLayout::n_surface(nq));
    } else {
      m_au = elements.args.au.data();
      m_au_surface = elements.args.surface_entries(block);
    }
  }

  /// Called in each of the `steps` of a block: Nq^2 lines along t, then per layer 2 Nq lines along
  /// s and 4 calls per row, then Nq^2 lines along t. If a step's share is not a whole number of
  /// cache lines, some lines are requested twice.
  KOKKOS_FORCEINLINE_FUNCTION void step() {
    if constexpr (geometry == Geometry::stored) {
      NEKBONE_K_UNROLL
      for (int n = 0; n < of_a_step; n += line) fetch(m_factors + n);
      m_factors += of_a_step;
    }
  }

  /// Called at the n-th of the Nq^3 processed points. Prefetches u at point n of the next block,
  /// surface points first as in ElementLayout, and the destination of this block's result there.
  KOKKOS_FORCEINLINE_FUNCTION void at_point(int n) const {
    constexpr int n_surface = ElementLayout::n_surface(nq);
    if (n < n_surface) {
      // Not every point needs a request: the values of the next one mostly lie next to its own.
      if (n % surface_points_at_once == 0) {
        fetch_entries<false>(m_u, m_u_surface, n);
        if constexpr (surface_results == SurfaceResults::added)
          fetch_entries<true>(m_au, m_au_surface, n);
      }
      if constexpr (surface_results == SurfaceResults::stored)
        if (n % points_of_a_line == 0) fetch<true>(m_au + n * lanes);
    } else if (n % points_of_a_line == 0) {
      fetch(m_u_interior + (n - n_surface) * lanes);
      fetch<true>(m_au_interior + (n - n_surface) * lanes);
    }
  }

 private:
  static constexpr int lanes = ElementLayout::lanes;
  static constexpr int line = 64 / sizeof(T);  ///< of the cache, in values
  static constexpr int points_of_a_line = lanes < line ? line / lanes : 1;
  static constexpr int surface_points_at_once = 2 * sizeof(double) / sizeof(T);
  static constexpr int steps = (1 + 6 + 1) * nq * nq;
  /// Values of factors requested per step, rounded up so that all factors of a block are
  /// requested.
  static constexpr int of_a_step =
      (ElementLayout::n_factors * nq * nq * nq * lanes + steps - 1) / steps;
  /// Layers between the first layer and the beginning of a block's requests. Requests gain on the
  /// kernel before and after the layers and fall behind in between. 1 was too few; 4 and 8 were no
  /// better.
  static constexpr int layers_ahead = 3;

  /// Reads go into the second-level cache, because the first is needed for current data. Writes go
  /// into the first level, as x86 offers no choice. The CPU ignores requests of invalid addresses,
  /// e.g. beyond the last block or where a point has no row.
  template <bool to_write = false>
  KOKKOS_FORCEINLINE_FUNCTION static void fetch(const T* from) {
    __builtin_prefetch(from, to_write, 2);
  }
  /// Prefetches the entries of a surface point in the first and the last lane. Neighbouring
  /// elements are numbered side by side, so those in between mostly lie in the same cache lines.
  template <bool to_write>
  KOKKOS_FORCEINLINE_FUNCTION static void fetch_entries(const T* vector, const IndexList& entries,
                                                        int point) {
    fetch<to_write>(vector + entries[point * lanes]);
    fetch<to_write>(vector + entries[point * lanes + lanes - 1]);
  }

  const T* m_factors = nullptr;                       // requested next
  const T *m_u = nullptr, *m_u_interior = nullptr;    // of the next block
  const T *m_au = nullptr, *m_au_interior = nullptr;  // of this block: stored, or all of Au
  IndexList m_u_surface{}, m_au_surface{};
};
template <int nq, Geometry geometry, SurfaceResults surface_results, class T>
class AxhelmPrefetch<nq, geometry, surface_results, T, 2> {
 public:
  template <class Elements>
  KOKKOS_FORCEINLINE_FUNCTION AxhelmPrefetch(const Elements& elements, LocalIndex block)
      : m_first(elements, block, 2),
        m_second(elements, block + 1 < elements.args.last_block ? block + 1 : block, 2) {}

  KOKKOS_FORCEINLINE_FUNCTION void step() {
    m_first.step();
    m_second.step();
  }
  KOKKOS_FORCEINLINE_FUNCTION void at_point(int n) const {
    m_first.at_point(n);
    m_second.at_point(n);
  }

 private:
  AxhelmPrefetch<nq, geometry, surface_results, T, 1> m_first, m_second;
};

}  // namespace nekbone_k
