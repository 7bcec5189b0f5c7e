// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/gll.hpp"

#include <cmath>
#include <numbers>

#include "core/errors.hpp"
#include "mesh/legendre.hpp"

namespace nekbone_k {
namespace {

// Long double throughout, so that the nodes are exact to the last bit of a double.
using Long = long double;

}  // namespace

GllBasis make_gll_basis(int order) {
  require(order >= 1, "a GLL basis needs order 1 or more");
  const int n = order, nq = order + 1;
  std::vector<Long> x(nq), p(nq);
  for (int i = 0; i < nq; ++i) {
    x[i] = -std::cos(std::numbers::pi_v<Long> * i / n);
    // Newton on q(x) = x P_N - P_{N-1} = (x^2 - 1) P_N' / N, whose derivative is (N + 1) P_N.
    for (int step = 0; step < 100 && i > 0 && i < n; ++step) {
      const LegendreValues l = legendre(n, x[i]);
      const Long change = (x[i] * l.value - l.previous) / ((n + 1) * l.value);
      x[i] -= change;
      if (std::abs(change) < 1e-19L) break;
    }
    p[i] = legendre(n, x[i]).value;
  }

  GllBasis basis;
  basis.order = order;
  basis.nodes.resize(nq);
  basis.weights.resize(nq);
  basis.derivative.assign(nq * nq, 0.0);
  for (int i = 0; i < nq; ++i) {
    // Averaging with the mirror image makes the basis exactly symmetric.
    const Long xi = (x[i] - x[n - i]) / 2;
    basis.nodes[i] = static_cast<double>(xi);
    basis.weights[i] = static_cast<double>(2 / (Long(n) * (n + 1) * p[i] * p[i]));
    for (int j = 0; j < nq; ++j)
      if (i != j) basis.derivative[i * nq + j] = static_cast<double>(p[i] / (p[j] * (x[i] - x[j])));
  }
  // The diagonal follows from D·1 = 0, so that D annihilates constants to rounding.
  for (int i = 0; i < nq; ++i) {
    Long sum = 0;
    for (int j = 0; j < nq; ++j) sum += basis.derivative[i * nq + j];
    basis.derivative[i * nq + i] = static_cast<double>(-sum);
  }
  return basis;
}

}  // namespace nekbone_k
