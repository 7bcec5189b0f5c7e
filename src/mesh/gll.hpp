// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Gauss–Lobatto–Legendre nodes, weights and the derivative matrix on [-1, 1].
#pragma once

#include <vector>

namespace nekbone_k {

/// The highest supported polynomial order.
inline constexpr int max_order = 31;

/// The one-dimensional basis of order N, with Nq = N + 1 nodes, in host memory.
struct GllBasis {
  int order = 0;
  std::vector<double> nodes;       ///< (Nq), ascending from -1 to 1
  std::vector<double> weights;     ///< (Nq), exact for polynomials of degree 2N - 1
  std::vector<double> derivative;  ///< (Nq, Nq) row-major: D(i, j) = l_j'(x_i)

  int nq() const { return order + 1; }
};

/// The basis of `order`. The nodes are the roots of (1 - x^2) P_N'(x), found by Newton's method
/// from Chebyshev–Lobatto points (Canuto et al., Spectral Methods, Springer 2006, section 2.3).
/// Throws InternalError if `order` is below 1. Not collective.
GllBasis make_gll_basis(int order);

}  // namespace nekbone_k
