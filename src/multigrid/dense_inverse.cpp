// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/dense_inverse.hpp"

#include <cmath>
#include <cstddef>

namespace nekbone_k {

bool invert_by_cholesky(std::vector<double>& matrix, int n) {
  const auto row = [&](int i) { return matrix.data() + std::size_t(i) * n; };
  // Row i of U, with A = Uᵀ U, from rows above: inner loops run along rows, which are contiguous.
  for (int i = 0; i < n; ++i) {
    double* const u = row(i);
    if (!(u[i] > 0)) return false;
    const double scale = 1 / std::sqrt(u[i]);
    for (int j = i; j < n; ++j) u[j] *= scale;
    for (int k = i + 1; k < n; ++k) {
      double* const below = row(k);
      const double factor = u[k];
      for (int j = k; j < n; ++j) below[j] -= factor * u[j];
    }
  }
  // V = U⁻¹, upper triangular, in place from the last row up: row i of V needs rows below it.
  std::vector<double> inverse(n);
  for (int i = n - 1; i >= 0; --i) {
    double* const u = row(i);
    const double pivot = 1 / u[i];
    for (int j = i; j < n; ++j) inverse[j] = 0;
    for (int k = i + 1; k < n; ++k) {
      const double factor = -pivot * u[k];
      const double* const below = row(k);
      for (int j = k; j < n; ++j) inverse[j] += factor * below[j];
    }
    inverse[i] = pivot;
    for (int j = i; j < n; ++j) u[j] = inverse[j];
  }
  // A⁻¹ = V Vᵀ: entry (i, j) is the product of rows i and j from column j on. Rows below i are
  // still V.
  for (int i = 0; i < n; ++i) {
    double* const v = row(i);
    for (int j = i; j < n; ++j) {
      const double* const other = row(j);
      double sum = 0;
      for (int k = j; k < n; ++k) sum += v[k] * other[k];
      inverse[j] = sum;
    }
    for (int j = i; j < n; ++j) v[j] = inverse[j];
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) row(i)[j] = row(j)[i];
  return true;
}

}  // namespace nekbone_k
