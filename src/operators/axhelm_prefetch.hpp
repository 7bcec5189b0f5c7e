/// @file
/// What a CPU fetches from memory while the element kernel computes.
#pragma once

#include "operators/axhelm_elements.hpp"

namespace nekbone_k {

/// While a thread works on a layer of a block, has its core fetch into the second cache what it
/// needs next: the factors of the layer after and, bit by bit, u in the next block and, where
/// results on the surface are added to Au, the rows of this block.
///
/// A core waits for only so many lines of memory at once, and where a value is missing it looks no
/// further than some hundred instructions ahead. Requests are therefore spread over all that is
/// computed in a layer: each point and each line of nodes that is differentiated makes a few.
/// Addresses ascend, as the core's own prefetchers expect. A small element has so little to compute
/// at a point that more than its factors, requested point by point, costs more than it saves.
///
/// All inlined by force: GCC takes a function that only prefetches to do nothing, and drops calls.
template <class Shape, int nq, Geometry geometry, SurfaceResults surface_results>
class AxhelmPrefetch {
 public:
  /// A layer is differentiated twice, and its factors are read between.
  enum Pass { of_u, of_fluxes };

  template <class Elements>
  KOKKOS_FORCEINLINE_FUNCTION AxhelmPrefetch(const Elements& elements, LocalIndex block,
                                             int layer) {
    if constexpr (Shape::prefetches) {
      const LocalIndex next = block + 1 < elements.args.last_block ? block + 1 : block;
      if constexpr (geometry == Geometry::stored)
        m_factors = layer + 1 < nq ? elements.factors(block, (layer + 1) * nq * nq)
                                   : elements.factors(next, 0);
      m_first_point = layer * nq * nq;
      m_u = elements.args.u.data();
      m_surface = elements.args.surface_entries(next);
      m_interior = m_u + elements.interior_begin(next);
      m_au = elements.args.au.data();
      m_rows = elements.args.surface_entries(block);
    }
  }

  /// At line `line` of the 2 Nq of a pass: Nq along r, Nq along s.
  KOKKOS_FORCEINLINE_FUNCTION void at_line(Pass pass, int line) const {
    if constexpr (Shape::prefetches) {
      const int first = (pass == of_u ? 0 : of_a_layer - of_a_pass) + line * of_a_line;
      NEKBONE_K_UNROLL
      for (int n = 0; n < of_a_line; ++n) fetch_factors(first + n);
    }
  }

  /// At point `c` of the Nq^2 of the layer.
  KOKKOS_FORCEINLINE_FUNCTION void at_point(int c) const {
    if constexpr (Shape::prefetches) {
      constexpr int left = of_a_layer - 2 * of_a_pass;
      const int n = c * left / (nq * nq), next = (c + 1) * left / (nq * nq);
      if (n < next) fetch_factors(of_a_pass + n);
      if constexpr (!is_small) fetch_vectors(m_first_point + c);  // all, once all layers are done
    }
  }

 private:
  static constexpr int lanes = ElementLayout::lanes;
  static constexpr bool is_small = nq <= 4;
  /// Points that share a line of the cache, of 64 bytes.
  static constexpr int points_of_a_line = lanes < 8 ? 8 / lanes : 1;
  /// Lines of the cache that each factor of a layer takes; those fetched at a line of nodes and at
  /// all of a pass. Both passes take about half or more of the layer's; the others follow where its
  /// own factors are read.
  static constexpr int of_a_layer = (nq * nq + points_of_a_line - 1) / points_of_a_line;
  static constexpr int of_a_line = is_small ? 0 : (of_a_layer + 4 * nq) / (8 * nq);
  static constexpr int of_a_pass = 2 * nq * of_a_line;

  /// Into the second cache, as the first is needed now.
  template <bool to_write = false>
  KOKKOS_FORCEINLINE_FUNCTION static void fetch(const double* from) {
    __builtin_prefetch(from, to_write, 2);
  }
  /// The n-th line of the cache of each factor of the next layer.
  KOKKOS_FORCEINLINE_FUNCTION void fetch_factors(int n) const {
    if constexpr (geometry == Geometry::stored)
      for (int c = 0; c < ElementLayout::n_factors; ++c)
        fetch(m_factors +
              (c * nq * nq * nq + n * points_of_a_line) * ElementLayout::group_size(nq));
  }
  /// u at point `point` of the next block, those on the surface first, as ElementLayout numbers
  /// them, and the rows to add to of this block. On the surface every other point will do: the next
  /// one's values mostly lie beside its own.
  KOKKOS_FORCEINLINE_FUNCTION void fetch_vectors(int point) const {
    constexpr int n_surface = ElementLayout::n_surface(nq);
    if (point >= n_surface) {
      fetch(m_interior + (point - n_surface) * lanes);
    } else if (point % 2 == 0) {
      fetch_entries<false>(m_u, m_surface, point);
      if constexpr (surface_results == SurfaceResults::added)
        fetch_entries<true>(m_au, m_rows, point);
    }
  }
  /// Those of a surface point in the first and in the last lane: neighbouring elements' are
  /// numbered side by side, so that those between mostly lie in the same lines of the cache. Where
  /// there is no row the address may be of no memory at all: requests of such are ignored.
  template <bool to_write>
  KOKKOS_FORCEINLINE_FUNCTION static void fetch_entries(const double* vector,
                                                        const IndexList& entries, int point) {
    fetch<to_write>(vector + entries[point * lanes]);
    fetch<to_write>(vector + entries[point * lanes + lanes - 1]);
  }

  const double* m_factors = nullptr;  // of the next layer, if they are stored
  int m_first_point = 0;              // of this layer
  // Of the next block.
  const double *m_u = nullptr, *m_interior = nullptr;
  IndexList m_surface{};
  // Of this block.
  const double* m_au = nullptr;
  IndexList m_rows{};
};

}  // namespace nekbone_k
