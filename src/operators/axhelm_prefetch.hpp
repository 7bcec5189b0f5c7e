/// @file
/// What a CPU fetches from memory while the element kernel computes.
#pragma once

#include "operators/axhelm_elements.hpp"

namespace nekbone_k {

/// While a thread works on a block of elements, has its core fetch into the second cache what it
/// needs next: the factors some layers ahead and, bit by bit, u in the next block and the places of
/// this block's results.
///
/// A core waits for only so many lines of memory at once, and where a value is missing it looks no
/// further than some hundred instructions ahead. So that memory is never idle, requests are spread
/// over all that is computed: each line of nodes that is differentiated is a *step* in which the
/// same share of a block's factors is requested, and so is half a row of points. Addresses ascend,
/// as the core's own prefetchers expect.
///
/// All inlined by force: GCC takes a function that only prefetches to do nothing, and drops calls.
template <class Shape, int nq, Geometry geometry, SurfaceResults surface_results>
class AxhelmPrefetch {
 public:
  template <class Elements>
  KOKKOS_FORCEINLINE_FUNCTION AxhelmPrefetch(const Elements& elements, LocalIndex block) {
    if constexpr (Shape::prefetches) {
      if constexpr (geometry == Geometry::stored)
        m_factors = elements.factors(block, layers_ahead * nq * nq);
      const LocalIndex next = block + 1 < elements.args.last_block ? block + 1 : block;
      m_u = elements.args.u.data();
      m_u_surface = elements.args.surface_entries(next);
      m_u_interior = m_u + elements.interior_begin(next);
      m_au = elements.args.au.data();
      m_au_surface = elements.args.surface_entries(block);
      m_au_interior = m_au + elements.interior_begin(block);
      if constexpr (surface_results == SurfaceResults::stored)
        m_stored = elements.args.au_surface.data() +
                   ElementLayout::offset(block, 0, ElementLayout::n_surface(nq));
    }
  }

  /// At column `c` of the Nq^2 that are differentiated along t before the layers …
  KOKKOS_FORCEINLINE_FUNCTION void before_layers(int c) const { fetch_factors(c); }
  /// … at a step of the 6 Nq of layer k: Nq lines along s, 4 steps a row, Nq lines along s …
  KOKKOS_FORCEINLINE_FUNCTION void in_layer(int k, int step) const {
    fetch_factors((nq + 6 * k) * nq + step);
  }
  /// … and at a column that is differentiated along t after them.
  KOKKOS_FORCEINLINE_FUNCTION void after_layers(int c) const { fetch_factors(7 * nq * nq + c); }

  /// At point `i` of row j of layer k, whose row begins at step Nq + 4 j of the layer's.
  KOKKOS_FORCEINLINE_FUNCTION void at_point(int k, int j, int i) const {
    if constexpr (Shape::prefetches) {
      if (i == 0) in_layer(k, nq + 4 * j + 1);
      if (i == nq / 2) in_layer(k, nq + 4 * j + 2);
      fetch_vectors((k * nq + j) * nq + i);
    }
  }

 private:
  static constexpr int lanes = ElementLayout::lanes;
  static constexpr int line = 64 / sizeof(double);  ///< of the cache, in doubles
  static constexpr int points_of_a_line = lanes < line ? line / lanes : 1;
  /// Doubles of factors that are requested in each of the 8 Nq^2 steps of a block, and how far
  /// ahead of the point that is worked on: few enough to be in the cache still when it is reached.
  static constexpr int of_a_step = ElementLayout::n_factors * nq * lanes / 8;
  static constexpr int layers_ahead = 3;

  /// Into the second cache, as the first is needed now. Of an address where there is no memory, as
  /// beyond the last block or where a point has no row, requests are ignored.
  template <bool to_write = false>
  KOKKOS_FORCEINLINE_FUNCTION static void fetch(const double* from) {
    __builtin_prefetch(from, to_write, 2);
  }
  KOKKOS_FORCEINLINE_FUNCTION void fetch_factors(int step) const {
    if constexpr (Shape::prefetches && geometry == Geometry::stored) {
      NEKBONE_K_UNROLL
      for (int n = 0; n < of_a_step; n += line) fetch(m_factors + step * of_a_step + n);
    }
  }
  /// u at point `point` of the next block, those on the surface first, as ElementLayout numbers
  /// them, and the places of this block's results. All are requested once all layers are done.
  KOKKOS_FORCEINLINE_FUNCTION void fetch_vectors(int point) const {
    constexpr int n_surface = ElementLayout::n_surface(nq);
    if (point < n_surface) {
      // Every other point will do: the next one's values mostly lie beside its own.
      if (point % 2 == 0) {
        fetch_entries<false>(m_u, m_u_surface, point);
        if constexpr (surface_results == SurfaceResults::added)
          fetch_entries<true>(m_au, m_au_surface, point);
      }
      if constexpr (surface_results == SurfaceResults::stored)
        if (point % points_of_a_line == 0) fetch<true>(m_stored + point * lanes);
    } else if (point % points_of_a_line == 0) {
      fetch(m_u_interior + (point - n_surface) * lanes);
      fetch<true>(m_au_interior + (point - n_surface) * lanes);
    }
  }
  /// Those of a surface point in the first and in the last lane: neighbouring elements' are
  /// numbered side by side, so that those between mostly lie in the same lines of the cache.
  template <bool to_write>
  KOKKOS_FORCEINLINE_FUNCTION static void fetch_entries(const double* vector,
                                                        const IndexList& entries, int point) {
    fetch<to_write>(vector + entries[point * lanes]);
    fetch<to_write>(vector + entries[point * lanes + lanes - 1]);
  }

  const double* m_factors = nullptr;  // if they are stored
  // Of the next block.
  const double *m_u = nullptr, *m_u_interior = nullptr;
  IndexList m_u_surface{};
  // Of this block.
  const double *m_au = nullptr, *m_au_interior = nullptr, *m_stored = nullptr;
  IndexList m_au_surface{};
};

}  // namespace nekbone_k
