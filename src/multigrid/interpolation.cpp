// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/interpolation.hpp"

#include <algorithm>
#include <cmath>

namespace nekbone_k {

std::vector<double> lagrange_values(const GllBasis& basis, double x) {
  const int nq = basis.nq();
  std::vector<double> values(nq, 0);
  double sum = 0;
  for (int m = 0; m < nq; ++m) {
    const double distance = x - basis.nodes[m];
    if (std::abs(distance) < 1e-14) {
      std::fill(values.begin(), values.end(), 0.0);
      values[m] = 1;
      return values;
    }
    double weight = 1;
    for (int other = 0; other < nq; ++other)
      if (other != m) weight /= basis.nodes[m] - basis.nodes[other];
    values[m] = weight / distance;
    sum += values[m];
  }
  for (double& value : values) value /= sum;
  return values;
}

std::vector<double> interpolation_matrix(const GllBasis& coarse, const GllBasis& fine) {
  std::vector<double> matrix;
  for (const double x : fine.nodes) {
    const std::vector<double> row = lagrange_values(coarse, x);
    matrix.insert(matrix.end(), row.begin(), row.end());
  }
  return matrix;
}

std::vector<LatticeWeights> lattice_weights(const LineOfElements& coarse,
                                            const LineOfElements& fine) {
  const GllBasis coarse_basis = make_gll_basis(coarse.order),
                 fine_basis = make_gll_basis(fine.order);
  const std::int64_t n_coarse = coarse.n_points();
  std::vector<LatticeWeights> all(fine.n_points());
  for (std::int64_t p = 0; p < fine.n_points(); ++p) {
    const std::int64_t element = std::min<std::int64_t>(p / fine.order, fine.elements - 1);
    const double inside = (fine_basis.nodes[p - element * fine.order] + 1) / 2;
    // In units of fine elements times coarse ones, so that a face of both is found exactly.
    const std::int64_t whole = element * coarse.elements;
    const std::int64_t in = std::min<std::int64_t>(
        (whole + static_cast<std::int64_t>(inside * coarse.elements)) / fine.elements,
        coarse.elements - 1);
    const double fraction =
        (static_cast<double>(whole - in * fine.elements) + inside * coarse.elements) /
        fine.elements;
    const std::vector<double> values = lagrange_values(coarse_basis, 2 * fraction - 1);
    for (int m = 0; m <= coarse.order; ++m) {
      if (values[m] == 0) continue;
      const std::int64_t point = in * coarse.order + m;
      if (!coarse.periodic && (point == 0 || point == n_coarse - 1)) continue;
      auto& [points, weights] = all[p];
      const auto found = std::find(points.begin(), points.end(), point % n_coarse);
      if (found != points.end()) {  // both ends of a single periodic element
        weights[found - points.begin()] += values[m];
      } else {
        points.push_back(point % n_coarse);
        weights.push_back(values[m]);
      }
    }
  }
  return all;
}

}  // namespace nekbone_k
