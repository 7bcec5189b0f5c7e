// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Interpolation inside an element, in host memory.
#pragma once

#include <vector>

namespace nekbone_k {

/// Applies a matrix along all three directions of an element. Not collective.
class ElementInterpolation {
 public:
  /// `matrix` has the shape (to, from), row-major.
  ElementInterpolation(std::vector<double> matrix, int from, int to);

  /// Turns values `x` of shape (from, from, from) into `y` of shape (to, to, to), which may be the
  /// same memory.
  void apply(const double* x, double* y);

 private:
  std::vector<double> m_matrix;
  int m_from, m_to;
  std::vector<double> m_values, m_work;
};

}  // namespace nekbone_k
