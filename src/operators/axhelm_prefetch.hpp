/// @file
/// What a CPU fetches from memory while the element kernel computes.
#pragma once

#include "operators/axhelm_elements.hpp"

namespace nekbone_k {

/// While a thread works on a block of elements, has its core fetch what it needs next: the factors
/// some layers ahead and, bit by bit, u in the next block and the places of this block's results.
///
/// A core waits for only so many lines of memory at once, and where a value is missing it looks no
/// further than some hundred instructions ahead. So that memory is never idle, requests are spread
/// over all that is computed: the kernel calls step() at every line of nodes that it differentiates
/// and twice a row of points, and each time the same share of a block's factors is requested.
/// Addresses ascend, as the core's own prefetchers expect.
///
/// All inlined by force: GCC takes a function that only prefetches to do nothing, and drops calls.
template <class Shape, int nq, Geometry geometry, SurfaceResults surface_results>
class AxhelmPrefetch {
 public:
  template <class Elements>
  KOKKOS_FORCEINLINE_FUNCTION AxhelmPrefetch(const Elements& elements, LocalIndex block) {
    static_assert(!Shape::prefetches || is_host_device);  // factors are then in one stream
    if constexpr (Shape::prefetches) {
      if constexpr (geometry == Geometry::stored)
        m_factors = elements.factors(block, layers_ahead * nq * nq);
      const LocalIndex next = block + 1 < elements.args.last_block ? block + 1 : block;
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
  }

  /// In each of the `steps` of a block: Nq^2 lines along t, in every layer 2 Nq along s and 4 a
  /// row, Nq^2 lines along t. Where a step's share is no whole number of lines of the cache, some
  /// are requested twice.
  KOKKOS_FORCEINLINE_FUNCTION void step() {
    if constexpr (Shape::prefetches && geometry == Geometry::stored) {
      NEKBONE_K_UNROLL
      for (int n = 0; n < of_a_step; n += line) fetch(m_factors + n);
      m_factors += of_a_step;
    }
  }

  /// At the n-th of the Nq^3 points that are worked on: u at point n of the next block, those on
  /// the surface first, as ElementLayout numbers them, and the place of this block's result there.
  KOKKOS_FORCEINLINE_FUNCTION void at_point(int n) const {
    if constexpr (Shape::prefetches) {
      constexpr int n_surface = ElementLayout::n_surface(nq);
      if (n < n_surface) {
        // Every other point will do: the next one's values mostly lie beside its own.
        if (n % 2 == 0) {
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
  }

 private:
  static constexpr int lanes = ElementLayout::lanes;
  static constexpr int line = 64 / sizeof(double);  ///< of the cache, in doubles
  static constexpr int points_of_a_line = lanes < line ? line / lanes : 1;
  static constexpr int steps = (1 + 6 + 1) * nq * nq;
  /// Doubles of factors requested in a step, rounded up, so that a block's are requested whole.
  static constexpr int of_a_step =
      (ElementLayout::n_factors * nq * nq * nq * lanes + steps - 1) / steps;
  /// How far ahead of the first layer the requests of a block begin. They gain on the kernel before
  /// the layers and after them and fall behind in between; 1 was too few, 4 and 8 were no better.
  static constexpr int layers_ahead = 3;

  /// To read: into the second cache, as the first is needed now. To write, which has no choice of
  /// caches on x86: into the first. Requests of addresses where there is no memory, as beyond the
  /// last block or where a point has no row, are ignored.
  template <bool to_write = false>
  KOKKOS_FORCEINLINE_FUNCTION static void fetch(const double* from) {
    __builtin_prefetch(from, to_write, 2);
  }
  /// Those of a surface point in the first and in the last lane: neighbouring elements' are
  /// numbered side by side, so that those between mostly lie in the same lines of the cache.
  template <bool to_write>
  KOKKOS_FORCEINLINE_FUNCTION static void fetch_entries(const double* vector,
                                                        const IndexList& entries, int point) {
    fetch<to_write>(vector + entries[point * lanes]);
    fetch<to_write>(vector + entries[point * lanes + lanes - 1]);
  }

  const double* m_factors = nullptr;                       // to be requested next
  const double *m_u = nullptr, *m_u_interior = nullptr;    // of the next block
  const double *m_au = nullptr, *m_au_interior = nullptr;  // of this block: stored, or all of Au
  IndexList m_u_surface{}, m_au_surface{};
};

}  // namespace nekbone_k
