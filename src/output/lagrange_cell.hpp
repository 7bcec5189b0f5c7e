// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Elements as VTK has them: Lagrange hexahedra with equispaced nodes.
#pragma once

#include <array>
#include <vector>

#include "mesh/gll.hpp"
#include "output/element_interpolation.hpp"

namespace nekbone_k {

/// The nodes (i, j, k) of a Lagrange hexahedron of `order` in VTK's sequence: corners, edges, faces
/// and the inside (Kitware, "Modeling Arbitrary-order Lagrange Finite Elements in the Visualization
/// Toolkit", 2018). Not collective.
std::vector<std::array<int, 3>> vtk_nodes(int order);

/// Values at equispaced nodes of the polynomial that has given values at GLL nodes. Not collective.
class ToEquispaced {
 public:
  explicit ToEquispaced(const GllBasis& basis);

  /// Replaces the values of one element, shape (k, j, i).
  void apply(double* values) { m_interpolation.apply(values, values); }

 private:
  ElementInterpolation m_interpolation;
};

}  // namespace nekbone_k
