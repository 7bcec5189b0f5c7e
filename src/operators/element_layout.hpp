/// @file
/// Where the values of an element lie in memory: the one place that knows of SIMD lanes.
#pragma once

#include <Kokkos_SIMD.hpp>
#include <cmath>

#include "core/types.hpp"

namespace nekbone_k {

/// One double of each of several elements: a SIMD register on a CPU, a plain double on a GPU.
/// Kernels are written once in terms of it; elements, not points, lie in the lanes, so a kernel
/// needs no shuffles and no remainder loops at any order (after libCEED's blocked backends).
using Lanes = Kokkos::Experimental::native_simd<double>;

/// Index arithmetic of element-wise arrays of one order on one rank.
///
/// Elements are processed in blocks of `lanes`; position p of the processing order is lane p %
/// lanes of block p / lanes, and the last block is padded with empty elements. The Np = Nq^3 points
/// of an element are its surface points, which other elements may share, and its interior points,
/// which belong to it alone.
struct ElementLayout {
  static constexpr int lanes = static_cast<int>(Lanes::size());
  static constexpr int n_factors = 6;  ///< rr, rs, rt, ss, st, tt

  int nq = 2;
  LocalIndex n_elements = 0;

  KOKKOS_FUNCTION LocalIndex n_blocks() const { return (n_elements + lanes - 1) / lanes; }
  KOKKOS_FUNCTION int points() const { return nq * nq * nq; }
  KOKKOS_FUNCTION static constexpr int n_surface(int nq) {
    return nq * nq * nq - (nq - 2) * (nq - 2) * (nq - 2);
  }
  KOKKOS_FUNCTION static constexpr int n_interior(int nq) { return (nq - 2) * (nq - 2) * (nq - 2); }
  int n_surface() const { return n_surface(nq); }
  int n_interior() const { return n_interior(nq); }

  KOKKOS_FUNCTION static constexpr bool on_surface(int nq, int i, int j, int k) {
    return i == 0 || j == 0 || k == 0 || i == nq - 1 || j == nq - 1 || k == nq - 1;
  }
  /// Number of surface point (i, j, k): the layers k in turn, the first and last whole, the others
  /// their rim.
  KOKKOS_FUNCTION static constexpr int surface_index(int nq, int i, int j, int k) {
    const int rim = 4 * (nq - 1);
    if (k == 0) return j * nq + i;
    const int layer = nq * nq + (k - 1) * rim;
    if (k == nq - 1 || j == 0) return layer + (k == nq - 1 ? j * nq : 0) + i;
    if (j == nq - 1) return layer + nq + 2 * (nq - 2) + i;
    return layer + nq + 2 * (j - 1) + (i == 0 ? 0 : 1);
  }
  KOKKOS_FUNCTION static constexpr int interior_index(int nq, int i, int j, int k) {
    return ((k - 1) * (nq - 2) + j - 1) * (nq - 2) + i - 1;
  }

  /// Offset of lane 0 of item `item` of `items` a block: arrays of shape (block, item, lane).
  KOKKOS_FUNCTION static std::size_t offset(LocalIndex block, int item, int items) {
    return (std::size_t(block) * items + item) * lanes;
  }
  /// Sizes of a mesh too large for its indices to exist, in values, for estimates.
  struct Estimate {
    double surface = 0, interior = 0, factors = 0;
  };
  static Estimate estimate(int nq, double elements) {
    const double padded = std::ceil(elements / lanes) * lanes;
    const double points = std::pow(nq, 3), inner = std::pow(nq - 2, 3);
    return {padded * (points - inner), padded * inner, padded * n_factors * points};
  }

  std::size_t n_surface_values() const { return offset(n_blocks(), 0, n_surface()); }
  std::size_t n_interior_values() const { return offset(n_blocks(), 0, n_interior()); }
  std::size_t n_factor_values() const { return offset(n_blocks(), 0, n_factors * points()); }
};

}  // namespace nekbone_k
