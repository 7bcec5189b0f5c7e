// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The levels of a multigrid hierarchy.
#pragma once

#include <functional>
#include <vector>

#include "mesh/box_mesh.hpp"

namespace nekbone_k {

/// One level: a polynomial order on a mesh.
struct LevelPlan {
  int order = 1;
  MeshSpec mesh;
  bool is_replicated = false;  ///< every rank has all of it; otherwise they divide it

  /// DOFs of the whole mesh without Dirichlet points.
  std::int64_t total_dofs() const;
};

/// Orders from `order` down to 1, each half of the one before, rounded down: 7, 3, 1.
std::vector<int> halved_orders(int order);

/// The next coarser mesh: about half the elements in some directions. Equals `mesh` if it cannot be
/// coarsened. Not collective.
///
/// - An odd number is halved and rounded up. Transfers interpolate in the undeformed box, so
///   coarse elements need not be unions of fine ones.
/// - Only directions whose elements are shortest, or at most 1.5 times as long, are halved
///   (semi-coarsening), because a smoother reduces errors only where neighbours are close.
/// - Kinks of Kershaw's map stay on element faces if they are on element faces of `mesh`.
/// - A Dirichlet direction keeps two elements, so that order 1 has a DOF.
MeshSpec coarser_mesh(const MeshSpec& mesh);

/// The levels of a problem, the finest first:
///
/// 1. `orders` on the mesh of the problem, from its order down;
/// 2. the lowest order on coarser meshes, until a level has at most `coarse_dofs` DOFs or its mesh
///    cannot be coarsened.
///
/// The last level is solved directly. There are at least two levels; the second equals the first if
/// nothing is coarser. Orders without DOFs are skipped.
///
/// With several ranks, the last level is replicated, and so are levels of the lowest order, except
/// the first level, if they have at most `replicated_dofs` DOFs or fewer elements than there are
/// ranks. `is_valid` says whether a coarser mesh may be used. Not collective.
std::vector<LevelPlan> plan_levels(
    const MeshSpec& mesh, const std::vector<int>& orders, int ranks, double coarse_dofs,
    const std::function<bool(const MeshSpec&)>& is_valid = [](const MeshSpec&) { return true; },
    double replicated_dofs = 0);

}  // namespace nekbone_k
