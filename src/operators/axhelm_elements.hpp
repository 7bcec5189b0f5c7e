/// @file
/// How element kernels read and write the values of a block of elements.
#pragma once

#include "operators/axhelm.hpp"

namespace nekbone_k {

/// The values of element nodes in vectors and factors, a lane an element.
template <class Nq>
struct AxhelmElements {
  AxhelmArguments args;
  Nq nq;

  KOKKOS_FUNCTION static Lanes read(const double* from) {
    Lanes value;
    value.copy_from(from, Kokkos::Experimental::simd_flag_default);
    return value;
  }

  /// u at node (i, j, k).
  KOKKOS_FUNCTION Lanes load(LocalIndex block, int i, int j, int k) const {
    if (!ElementLayout::on_surface(nq, i, j, k))
      return read(args.u.data() + interior_entry(block, i, j, k));
    const LocalIndex* entries = args.surface_entries.data() + surface_offset(block, i, j, k);
    const double* u = args.u.data();
    return Lanes([=](auto lane) { return u[entries[lane]]; });
  }

  /// Writes Au at node (i, j, k).
  KOKKOS_FUNCTION void store(LocalIndex block, int i, int j, int k, const Lanes& value) const {
    double* const to = ElementLayout::on_surface(nq, i, j, k)
                           ? args.au_surface.data() + surface_offset(block, i, j, k)
                           : args.au_interior.data() + interior_entry(block, i, j, k);
    value.copy_to(to, Kokkos::Experimental::simd_flag_default);
  }

  /// Factor c at node number q = (k Nq + j) Nq + i.
  KOKKOS_FUNCTION Lanes factor(LocalIndex block, int c, int q) const {
    const int points = nq * nq * nq;
    return read(args.factors.data() +
                ElementLayout::offset(block, c * points + q, ElementLayout::n_factors * points));
  }

 private:
  KOKKOS_FUNCTION std::size_t surface_offset(LocalIndex block, int i, int j, int k) const {
    return ElementLayout::offset(block, ElementLayout::surface_index(nq, i, j, k),
                                 ElementLayout::n_surface(nq));
  }
  KOKKOS_FUNCTION std::size_t interior_entry(LocalIndex block, int i, int j, int k) const {
    return args.interior_begin + ElementLayout::offset(block,
                                                       ElementLayout::interior_index(nq, i, j, k),
                                                       ElementLayout::n_interior(nq));
  }
};

/// λ times the mass factor of a layer, given G and λ / (w_i w_j w_k)².
KOKKOS_FORCEINLINE_FUNCTION Lanes mass_factor(const Lanes (&g)[ElementLayout::n_factors],
                                              double scale) {
  return scale * determinant(g[0], g[1], g[2], g[3], g[4], g[5]);
}

}  // namespace nekbone_k
