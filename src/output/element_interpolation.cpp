// SPDX-License-Identifier: BSD-3-Clause
#include "output/element_interpolation.hpp"

#include <algorithm>
#include <utility>

namespace nekbone_k {

ElementInterpolation::ElementInterpolation(std::vector<double> matrix, int from, int to)
    : m_matrix(std::move(matrix)), m_from(from), m_to(to) {
  const int most = std::max(from, to);
  m_values.resize(most * most * most);
  m_work.resize(m_values.size());
}

void ElementInterpolation::apply(const double* x, double* y) {
  std::copy_n(x, m_from * m_from * m_from, m_values.begin());
  // Each sweep interpolates along the last direction and turns it to the front.
  int lines = m_from * m_from;
  for (int sweep = 0; sweep < 3; ++sweep) {
    for (int line = 0; line < lines; ++line)
      for (int i = 0; i < m_to; ++i) {
        double sum = 0;
        for (int m = 0; m < m_from; ++m)
          sum += m_matrix[i * m_from + m] * m_values[line * m_from + m];
        m_work[i * lines + line] = sum;
      }
    std::swap(m_values, m_work);
    lines = lines / m_from * m_to;
  }
  std::copy_n(m_values.begin(), m_to * m_to * m_to, y);
}

}  // namespace nekbone_k
