// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/gauss.hpp"

#include <cmath>
#include <numbers>

#include "core/errors.hpp"
#include "mesh/legendre.hpp"

namespace nekbone_k {

GaussRule make_gauss_rule(int points) {
  require(points >= 1, "a Gauss rule needs 1 point or more");
  using Long = long double;  // so that the nodes are exact to the last bit of a double
  const int m = points;
  std::vector<Long> x(m), slope(m);
  const auto derivative = [&](Long at) {
    const LegendreValues l = legendre(m, at);
    return m * (l.previous - at * l.value) / (1 - at * at);
  };
  for (int i = 0; i < m; ++i) {
    x[i] = -std::cos(std::numbers::pi_v<Long> * (i + Long(0.75)) / (m + Long(0.5)));
    for (int step = 0; step < 100; ++step) {
      const Long change = legendre(m, x[i]).value / derivative(x[i]);
      x[i] -= change;
      if (std::abs(change) < 1e-19L) break;
    }
  }
  GaussRule rule;
  rule.nodes.resize(m);
  rule.weights.resize(m);
  rule.derivative.assign(m * m, 0.0);
  for (int i = 0; i < m; ++i) slope[i] = derivative(x[i]);
  for (int i = 0; i < m; ++i) {
    // Averaging with the mirror image makes the rule exactly symmetric.
    rule.nodes[i] = static_cast<double>((x[i] - x[m - 1 - i]) / 2);
    rule.weights[i] = static_cast<double>(2 / ((1 - x[i] * x[i]) * slope[i] * slope[i]));
    for (int j = 0; j < m; ++j)
      rule.derivative[i * m + j] = static_cast<double>(
          i == j ? x[i] / (1 - x[i] * x[i]) : slope[i] / (slope[j] * (x[i] - x[j])));
  }
  return rule;
}

}  // namespace nekbone_k
