// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/lattice_interpolation.hpp"

namespace nekbone_k {
namespace {

LineOfElements line(const BoxMesh& mesh, int d) {
  return {mesh.spec().elements[d], mesh.order(), mesh.spec().periodic[d]};
}

}  // namespace

LatticeInterpolation::LatticeInterpolation(const BoxMesh& coarse, const BoxMesh& fine)
    : m_coarse(coarse), m_fine(fine) {
  for (int d = 0; d < 3; ++d) {
    m_coarse_of_fine[d] = lattice_weights(line(coarse, d), line(fine, d));
    m_fine_of_coarse[d].resize(m_coarse.length[d]);
    for (std::size_t f = 0; f < m_coarse_of_fine[d].size(); ++f) {
      const LatticeWeights& of_fine = m_coarse_of_fine[d][f];
      for (std::size_t c = 0; c < of_fine.points.size(); ++c) {
        LatticeWeights& of_coarse = m_fine_of_coarse[d][of_fine.points[c]];
        of_coarse.points.push_back(static_cast<std::int64_t>(f));
        of_coarse.weights.push_back(of_fine.weights[c]);
      }
    }
  }
}

}  // namespace nekbone_k
