// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Memory layout of element values. This is the only place that defines the use of SIMD lanes.
#pragma once

#include <cmath>

#include "core/lanes.hpp"

namespace nekbone_k {

/// Index arithmetic of element-wise arrays of one order on one rank.
///
/// Elements are processed in blocks of `lanes`. Position p of the processing order is lane p %
/// lanes of block p / lanes. The last block is padded with empty elements. Lanes hold elements, not
/// points, so a kernel needs no shuffles and no remainder loops at any order (after libCEED's
/// blocked backends).
///
/// The Np = Nq^3 points of an element are its surface points, which other elements may share, and
/// its interior points, which belong to it alone.
struct ElementLayout {
  static constexpr int lanes = static_cast<int>(Lanes::size());
  static constexpr int n_factors = 6;  ///< numbers per factor at a point (StoredFactor)

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
  /// Numbers of the points at one (i, j): surface point `first` at k = 0 and `first` +
  /// last_layer(nq) at k = Nq - 1. Between them, if (i, j) is on the rim, are surface points
  /// `inner` + (k - 1) surface_stride(nq); otherwise interior points `inner` + (k - 1)
  /// interior_stride(nq). Surface points are thus numbered layer by layer: the first and last layer
  /// whole, the others only their rim.
  struct Column {
    bool on_rim;
    int first, inner;
  };
  KOKKOS_FUNCTION static constexpr int surface_stride(int nq) { return 4 * (nq - 1); }
  KOKKOS_FUNCTION static constexpr int interior_stride(int nq) { return (nq - 2) * (nq - 2); }
  KOKKOS_FUNCTION static constexpr int last_layer(int nq) {
    return nq * nq + (nq - 2) * surface_stride(nq);
  }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr Column column(int nq, int i, int j) {
    if (i > 0 && j > 0 && i < nq - 1 && j < nq - 1)
      return {false, j * nq + i, (j - 1) * (nq - 2) + i - 1};
    int on_rim = nq + 2 * (j - 1) + (i == 0 ? 0 : 1);
    if (j == 0) on_rim = i;
    if (j == nq - 1) on_rim = nq + 2 * (nq - 2) + i;
    return {true, j * nq + i, nq * nq + on_rim};
  }
  KOKKOS_FUNCTION static constexpr int surface_index(int nq, int i, int j, int k) {
    const Column c = column(nq, i, j);
    if (k == 0) return c.first;
    return k == nq - 1 ? c.first + last_layer(nq) : c.inner + (k - 1) * surface_stride(nq);
  }
  KOKKOS_FUNCTION static constexpr int interior_index(int nq, int i, int j, int k) {
    return column(nq, i, j).inner + (k - 1) * interior_stride(nq);
  }

  /// Offset of lane 0 of item `item` of a block, for arrays of shape (block, item, lane) with
  /// `items` items per block.
  KOKKOS_FUNCTION static std::size_t offset(LocalIndex block, int item, int items) {
    return (std::size_t(block) * items + item) * lanes;
  }
  /// Elements of a *group*, whose geometric values are interleaved. A group is a block or, on a GPU
  /// whose threads have an element each, the elements that are read at once (AxhelmShape).
  KOKKOS_FUNCTION static constexpr int group_size(int nq) {
    return (is_host_device || nq > 2) ? lanes : 32;
  }
  /// For stored factors: number of the geometric value that is entry c of the factor at point q =
  /// (k Nq + j) Nq + i. Linear in q and c. A CPU thread reads the entries of a point together, and
  /// memory in one stream. GPU threads, each with a point, read the same entry side by side.
  KOKKOS_FUNCTION static constexpr int factor_item(int nq, int q, int c) {
    return is_host_device ? q * n_factors + c : c * nq * nq * nq + q;
  }
  /// Index of geometric value `item` of the element at `position`; each element has `items` values.
  KOKKOS_FUNCTION static constexpr std::size_t geometry_offset(int nq, LocalIndex position,
                                                               int item, int items) {
    const int n = group_size(nq);
    return (std::size_t(position / n) * items + item) * n + position % n;
  }
  /// Length of an array of geometric values.
  std::size_t n_geometry_values(int items) const {
    const int n = group_size(nq);
    return (std::size_t(n_elements) + n - 1) / n * n * items;
  }

  /// Sizes in values, for estimates of meshes that may be too large to index.
  struct Estimate {
    double surface = 0, interior = 0;
  };
  static Estimate estimate(int nq, double elements) {
    const double padded = std::ceil(elements / lanes) * lanes;
    const double points = std::pow(nq, 3), inner = std::pow(nq - 2, 3);
    return {padded * (points - inner), padded * inner};
  }

  std::size_t n_surface_values() const { return offset(n_blocks(), 0, n_surface()); }
  std::size_t n_interior_values() const { return offset(n_blocks(), 0, n_interior()); }
};

}  // namespace nekbone_k
