// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/patch_line.hpp"

#include <cmath>
#include <cstddef>

#include "multigrid/symmetric_eigen.hpp"

namespace nekbone_k {
namespace {

/// Stiffness and lumped mass of a line, by adding elements.
struct LineMatrices {
  explicit LineMatrices(int points)
      : n(points), stiffness(std::size_t(points) * points), mass(points) {}

  /// Adds nodes [first, last) of an element; node i is point point_of(i).
  template <class PointOf>
  void add(const GllBasis& basis, double length, int first, int last, const PointOf& point_of) {
    for (int i = first; i < last; ++i) {
      mass[point_of(i)] += length / 2 * basis.weights[i];
      for (int j = first; j < last; ++j) {
        double sum = 0;
        for (int q = 0; q < basis.nq(); ++q)
          sum += basis.weights[q] * basis.derivative[q * basis.nq() + i] *
                 basis.derivative[q * basis.nq() + j];
        stiffness[std::size_t(point_of(i)) * n + point_of(j)] += 2 / length * sum;
      }
    }
  }

  int n;
  std::vector<double> stiffness, mass;
};

}  // namespace

LineModes line_modes(const GllBasis& basis, const PatchLine& line) {
  const int order = basis.order, n = patch_points(order);
  LineMatrices matrices(n);
  if (line.closed) {
    matrices.add(basis, line.own, 0, order + 1, [&](int i) { return i % order + 1; });
  } else {
    matrices.add(basis, line.own, 0, order + 1, [](int i) { return i + 1; });
    if (line.left > 0)
      matrices.add(basis, line.left, order - 1, order + 1, [&](int i) { return i + 1 - order; });
    if (line.right > 0) matrices.add(basis, line.right, 0, 2, [&](int i) { return i + 1 + order; });
  }

  const auto [first, last] = line.active(order);
  const int n_modes = last - first;
  std::vector<double> scaled(std::size_t(n_modes) * n_modes);
  for (int i = 0; i < n_modes; ++i)
    for (int j = 0; j < n_modes; ++j)
      scaled[std::size_t(i) * n_modes + j] =
          matrices.stiffness[std::size_t(first + i) * n + first + j] /
          std::sqrt(matrices.mass[first + i] * matrices.mass[first + j]);
  const SymmetricEigen eigen = symmetric_eigen(std::move(scaled), n_modes);
  LineModes modes{std::vector<double>(n, 1.0), std::vector<double>(std::size_t(n) * n, 0.0)};
  for (int m = 0; m < n_modes; ++m) {
    // The first mode of a closed line is constant. Its eigenvalue must not be a rounding error.
    modes.values[m] = line.closed && m == 0 ? 0 : eigen.values[m];
    for (int i = 0; i < n_modes; ++i)
      modes.vectors[std::size_t(first + i) * n + m] =
          eigen.vectors[std::size_t(i) * n_modes + m] / std::sqrt(matrices.mass[first + i]);
  }
  return modes;
}

}  // namespace nekbone_k
