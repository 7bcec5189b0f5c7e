// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Interpolation between the lattices of two meshes of one box.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "mesh/box_mesh.hpp"
#include "multigrid/entry_ids.hpp"
#include "multigrid/interpolation.hpp"

namespace nekbone_k {

/// The interpolation P between the DOFs of two whole meshes, by global id: a tensor product of
/// lattice_weights() in the three directions.
class LatticeInterpolation {
 public:
  LatticeInterpolation(const BoxMesh& coarse, const BoxMesh& fine);

  /// Calls action(coarse id, weight) for the DOFs whose combination is the value of a fine DOF.
  template <class Action>
  void for_coarse(GlobalId fine, const Action& action) const {
    for_products(m_coarse_of_fine, m_fine.point(fine), m_coarse, action);
  }
  /// Calls action(fine id, weight) for the DOFs to whose values a coarse DOF contributes.
  template <class Action>
  void for_fine(GlobalId coarse, const Action& action) const {
    for_products(m_fine_of_coarse, m_coarse.point(coarse), m_fine, action);
  }

 private:
  using Weights = std::array<std::vector<LatticeWeights>, 3>;

  template <class Action>
  static void for_products(const Weights& all, const std::array<std::int64_t, 3>& point,
                           const Lattice& to, const Action& action) {
    const LatticeWeights &x = all[0][point[0]], &y = all[1][point[1]], &z = all[2][point[2]];
    for (std::size_t c = 0; c < z.points.size(); ++c)
      for (std::size_t b = 0; b < y.points.size(); ++b)
        for (std::size_t a = 0; a < x.points.size(); ++a)
          action(to.id(x.points[a], y.points[b], z.points[c]),
                 x.weights[a] * y.weights[b] * z.weights[c]);
  }

  Lattice m_coarse, m_fine;
  Weights m_coarse_of_fine, m_fine_of_coarse;
};

}  // namespace nekbone_k
