// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Gauss–Legendre quadrature on [-1, 1], for over-integration.
#pragma once

#include <vector>

namespace nekbone_k {

/// A Gauss–Legendre rule of M points, in host memory. It is exact for polynomials of degree
/// 2M - 1.
struct GaussRule {
  std::vector<double> nodes;       ///< (M), ascending, symmetric about 0
  std::vector<double> weights;     ///< (M)
  std::vector<double> derivative;  ///< (M, M) row-major: l_j'(x_i), l_j on the same nodes

  int points() const { return static_cast<int>(nodes.size()); }
};

/// The rule of `points` points. The nodes are the roots of P_M, found by Newton's method from
/// Chebyshev points (Canuto et al., Spectral Methods, Springer 2006, section 2.3). Throws
/// InternalError if `points` is below 1. Not collective.
GaussRule make_gauss_rule(int points);

}  // namespace nekbone_k
