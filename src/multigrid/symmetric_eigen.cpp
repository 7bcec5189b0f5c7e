// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

constexpr int most_sweeps = 50;

/// (x, y) = (c x - s y, s x + c y) for n pairs that are `step` apart.
void rotate(double* x, double* y, int n, std::size_t step, double c, double s) {
  for (int i = 0; i < n; ++i) {
    double &a = x[i * step], &b = y[i * step];
    const double before = a;
    a = c * a - s * b;
    b = s * before + c * b;
  }
}

}  // namespace

SymmetricEigen symmetric_eigen(std::vector<double> matrix, int n) {
  const auto at = [&](int i, int j) -> double& { return matrix[std::size_t(i) * n + j]; };
  // Row m of `rows` is eigenvector m.
  std::vector<double> rows(matrix.size(), 0.0);
  for (int i = 0; i < n; ++i) rows[std::size_t(i) * n + i] = 1;
  bool converged = false;
  for (int sweep = 0; !converged && sweep < most_sweeps; ++sweep) {
    converged = true;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double off = at(p, q);
        const double negligible = std::numeric_limits<double>::epsilon() / 4 *
                                  std::sqrt(std::abs(at(p, p))) * std::sqrt(std::abs(at(q, q)));
        if (std::abs(off) <= negligible || std::abs(off) < std::numeric_limits<double>::min())
          continue;
        converged = false;
        const double theta = (at(q, q) - at(p, p)) / (2 * off);
        const double t = std::copysign(1, theta) / (std::abs(theta) + std::hypot(1, theta));
        const double c = 1 / std::hypot(1, t), s = t * c;
        rotate(&at(0, p), &at(0, q), n, n, c, s);
        rotate(&at(p, 0), &at(q, 0), n, 1, c, s);
        at(p, q) = at(q, p) = 0;
        rotate(&rows[std::size_t(p) * n], &rows[std::size_t(q) * n], n, 1, c, s);
      }
  }
  for (int i = 0; i < n; ++i) converged = converged && std::isfinite(at(i, i));
  require(converged, "the eigenvalues of a small matrix did not converge");
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return at(a, a) < at(b, b); });
  SymmetricEigen eigen{std::vector<double>(n), std::vector<double>(matrix.size())};
  for (int m = 0; m < n; ++m) {
    eigen.values[m] = at(order[m], order[m]);
    for (int i = 0; i < n; ++i)
      eigen.vectors[std::size_t(i) * n + m] = rows[std::size_t(order[m]) * n + i];
  }
  return eigen;
}

}  // namespace nekbone_k
