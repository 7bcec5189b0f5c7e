// SPDX-License-Identifier: BSD-3-Clause
#include "output/lagrange_cell.hpp"

#include <algorithm>

namespace nekbone_k {

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
    : m_nq(basis.nq()), m_matrix(m_nq * m_nq), m_work(m_nq * m_nq * m_nq) {
  for (int e = 0; e < m_nq; ++e) {
    const double x = -1 + 2.0 * e / basis.order;
    for (int g = 0; g < m_nq; ++g) {
      double value = 1;
      for (int other = 0; other < m_nq; ++other)
        if (other != g) value *= (x - basis.nodes[other]) / (basis.nodes[g] - basis.nodes[other]);
      m_matrix[e * m_nq + g] = value;
    }
  }
}

void ToEquispaced::apply(double* values) {
  const int lines = m_nq * m_nq;
  // Each sweep interpolates along the last direction and turns it to the front.
  for (int sweep = 0; sweep < 3; ++sweep) {
    for (int line = 0; line < lines; ++line)
      for (int e = 0; e < m_nq; ++e) {
        double sum = 0;
        for (int g = 0; g < m_nq; ++g) sum += m_matrix[e * m_nq + g] * values[line * m_nq + g];
        m_work[e * lines + line] = sum;
      }
    std::copy(m_work.begin(), m_work.end(), values);
  }
}

}  // namespace nekbone_k
