// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// One-dimensional interpolation between levels.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/gll.hpp"

namespace nekbone_k {

/// Values of the Lagrange polynomials of a basis at x in [-1, 1]: (Nq). Exactly 0 and 1 at a node.
/// By the barycentric formula (Berrut and Trefethen, SIAM Review 46, 2004).
std::vector<double> lagrange_values(const GllBasis& basis, double x);

/// (fine Nq, coarse Nq) row-major: the Lagrange polynomials of `coarse` at the nodes of `fine`.
std::vector<double> interpolation_matrix(const GllBasis& coarse, const GllBasis& fine);

/// One direction of a mesh, without its extent: the lattice of its GLL points.
struct LineOfElements {
  int elements = 1, order = 1;
  bool periodic = true;

  /// Points of the lattice; the end of a periodic direction is its beginning.
  std::int64_t n_points() const { return std::int64_t{1} * elements * order + (periodic ? 0 : 1); }
};

/// Weights of the coarse points whose combination is the value at a fine point.
struct LatticeWeights {
  std::vector<std::int64_t> points;  ///< distinct
  std::vector<double> weights;       ///< not zero
};

/// The weights for every fine point of one direction, by interpolation in the coarse element that
/// contains it. Leaves out the ends of a direction that is not periodic, where values are zero.
std::vector<LatticeWeights> lattice_weights(const LineOfElements& coarse,
                                            const LineOfElements& fine);

}  // namespace nekbone_k
