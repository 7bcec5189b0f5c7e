// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The metric that first derivatives need.
#pragma once

#include <vector>

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// The metric of the map x(r) of a block of elements at a point: from derivatives along the
/// reference directions r_a to derivatives along the coordinates x_d. `T` is Lanes or a number.
template <class T>
struct MetricAt {
  T adjugate[3][3];    ///< J ∂r_a/∂x_d at [a][d]
  T inverse_jacobian;  ///< 1 / J; 0 for an empty element
};

/// MetricAt at the points of a tensor product of `points` points per direction, or for each element
/// where it is constant in it. In device memory. Empty elements have zeros.
struct MetricTerms {
  static constexpr int n_terms = 10;

  /// At the GLL points of the space. Not collective.
  explicit MetricTerms(const AssembledSpace& space);
  /// At the points `nodes` in [-1, 1] in each direction. Not collective.
  MetricTerms(const AssembledSpace& space, const std::vector<double>& nodes);

  int points = 0;
  bool per_element = false;
  DeviceVector<double> terms;  ///< item() of a block, see ElementLayout::offset()

  /// Item of term `c` at point `q` among the items of a block. A CPU thread reads the terms of a
  /// point together; GPU threads, each with a point, read the same term side by side.
  KOKKOS_FUNCTION static int item(int q, int c, int n_points) {
    return is_host_device ? q * n_terms + c : c * n_points + q;
  }
  /// Values per element.
  KOKKOS_FUNCTION static int items(bool per_element, int points) {
    return n_terms * (per_element ? 1 : points * points * points);
  }
  static double estimated_bytes(const BoxMesh& mesh, int points);
};

/// Reads metric terms in kernels.
template <bool per_element>
struct MetricReader {
  /// Whether ∂r_a/∂x_d is 0 unless a = d: elements with a constant metric are bricks along the
  /// axes.
  static constexpr bool is_diagonal = per_element;

  explicit MetricReader(const MetricTerms& from)
      : n_points(from.points * from.points * from.points), terms(from.terms) {}

  /// At point q of the elements of a block.
  KOKKOS_FORCEINLINE_FUNCTION MetricAt<Lanes> operator()(LocalIndex block, int q) const {
    const int n = per_element ? 1 : n_points, at = per_element ? 0 : q;
    const double* const from =
        terms.data() + ElementLayout::offset(block, 0, MetricTerms::n_terms * n);
    const auto term = [&](int c) {
      return read_lanes(from + MetricTerms::item(at, c, n) * ElementLayout::lanes);
    };
    return {{{term(0), term(1), term(2)}, {term(3), term(4), term(5)}, {term(6), term(7), term(8)}},
            term(9)};
  }

  int n_points;
  ConstDeviceVector<double> terms;
};

}  // namespace nekbone_k
