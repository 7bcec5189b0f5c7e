// SPDX-License-Identifier: BSD-3-Clause
#include "output/lagrange_cell.hpp"

#include "multigrid/interpolation.hpp"

namespace nekbone_k {
namespace {

/// (equispaced node, GLL node) row-major.
std::vector<double> equispaced_matrix(const GllBasis& basis) {
  std::vector<double> matrix;
  for (int e = 0; e < basis.nq(); ++e) {
    const std::vector<double> row = lagrange_values(basis, -1 + 2.0 * e / basis.order);
    matrix.insert(matrix.end(), row.begin(), row.end());
  }
  return matrix;
}

}  // namespace

std::vector<std::array<int, 3>> vtk_nodes(int order) {
  const int n = order;
  std::vector<std::array<int, 3>> nodes;
  // The corners of a square, counter-clockwise.
  const std::array<std::array<int, 2>, 4> square{{{0, 0}, {n, 0}, {n, n}, {0, n}}};
  for (const int k : {0, n})
    for (const auto& [i, j] : square) nodes.push_back({i, j, k});
  for (const int k : {0, n}) {
    for (int i = 1; i < n; ++i) nodes.push_back({i, 0, k});
    for (int j = 1; j < n; ++j) nodes.push_back({n, j, k});
    for (int i = 1; i < n; ++i) nodes.push_back({i, n, k});
    for (int j = 1; j < n; ++j) nodes.push_back({0, j, k});
  }
  for (const auto& [i, j] : square)
    for (int k = 1; k < n; ++k) nodes.push_back({i, j, k});
  for (const int i : {0, n})
    for (int k = 1; k < n; ++k)
      for (int j = 1; j < n; ++j) nodes.push_back({i, j, k});
  for (const int j : {0, n})
    for (int k = 1; k < n; ++k)
      for (int i = 1; i < n; ++i) nodes.push_back({i, j, k});
  for (const int k : {0, n})
    for (int j = 1; j < n; ++j)
      for (int i = 1; i < n; ++i) nodes.push_back({i, j, k});
  for (int k = 1; k < n; ++k)
    for (int j = 1; j < n; ++j)
      for (int i = 1; i < n; ++i) nodes.push_back({i, j, k});
  return nodes;
}

ToEquispaced::ToEquispaced(const GllBasis& basis)
    : m_interpolation(equispaced_matrix(basis), basis.nq(), basis.nq()) {}

}  // namespace nekbone_k
