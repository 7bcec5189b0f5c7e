// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The one-dimensional problem of an overlapping patch.
#pragma once

#include <compare>
#include <utility>
#include <vector>

#include "mesh/gll.hpp"

namespace nekbone_k {

/// Points of a patch per direction: those of the element, and one of each neighbour.
constexpr int patch_points(int order) { return order + 3; }

/// One direction of a patch. Point 0 is the last inner point of the left neighbour; points 1 to Nq
/// are those of the element; the last is the first inner point of the right neighbour. The solution
/// is zero beyond them.
struct PatchLine {
  double left = 1, own = 1, right = 1;  ///< lengths of the elements; 0: a Dirichlet face
  bool closed = false;  ///< the element is its own neighbour: its first and last point are one DOF

  /// The points [first, second) that the patch has. At the others, and on Dirichlet faces, it has
  /// no DOF. A closed line has each DOF once.
  std::pair<int, int> active(int order) const {
    if (closed) return {1, order + 1};
    return {left > 0 ? 0 : 2, right > 0 ? order + 3 : order + 1};
  }
  /// How many patches of the direction have point p: two where they overlap, if the order is at
  /// least 3.
  int patches(int order, int p) const {
    const bool overlaps = !closed && ((left > 0 && p < 3) || (right > 0 && p >= order));
    return overlaps ? 2 : 1;
  }
  auto operator<=>(const PatchLine&) const = default;
};

/// The solutions of K s = Λ M s with the stiffness K and the lumped mass M of a line: Sᵀ M S = I
/// and Sᵀ K S = Λ.
struct LineModes {
  std::vector<double> values;   ///< Λ (n); 1 where there is no mode
  std::vector<double> vectors;  ///< S (n, n) row-major, (point, mode); 0 where there is no DOF
};

/// The modes of a line with n = patch_points() points (Lottes and Fischer, J. Sci. Comput. 24,
/// 2005, section 3; fast diagonalisation is by Lynch, Rice and Thomas, Numerische Mathematik 6,
/// 1964). Host memory. Not collective.
LineModes line_modes(const GllBasis& basis, const PatchLine& line);

}  // namespace nekbone_k
