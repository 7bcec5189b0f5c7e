// SPDX-License-Identifier: BSD-3-Clause
#include "flow/time_scheme.hpp"

#include <cmath>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// Values and first derivatives at `x` of the Lagrange polynomials on `nodes`.
struct LagrangeAt {
  std::vector<double> value, slope;

  LagrangeAt(const std::vector<double>& nodes, double x)
      : value(nodes.size(), 1), slope(nodes.size(), 0) {
    for (std::size_t j = 0; j < nodes.size(); ++j)
      for (std::size_t m = 0; m < nodes.size(); ++m) {
        if (m == j) continue;
        value[j] *= (x - nodes[m]) / (nodes[j] - nodes[m]);
        double product = 1 / (nodes[j] - nodes[m]);
        for (std::size_t other = 0; other < nodes.size(); ++other)
          if (other != j && other != m) product *= (x - nodes[other]) / (nodes[j] - nodes[other]);
        slope[j] += product;
      }
  }
};

}  // namespace

TimeCoefficients time_coefficients(int order, const std::vector<double>& steps) {
  require(order >= 1 && order <= max_time_order && steps.size() >= std::size_t(order),
          "a time step needs as many earlier steps as its order");
  TimeCoefficients c;
  c.order = order;
  c.dt = steps[0];
  // Times in units of the new step, from the new level backwards.
  std::vector<double> times{0};
  for (int level = 0; level < order; ++level)
    times.push_back(times.back() - steps[level] / steps[0]);
  const LagrangeAt with_new(times, 0);
  c.b0 = with_new.slope[0];
  const LagrangeAt old({times.begin() + 1, times.end()}, 0);
  for (int level = 0; level < order; ++level) {
    c.b[level] = -with_new.slope[level + 1];
    c.extrapolation[level] = old.value[level];
  }
  return c;
}

std::vector<double> starting_steps(int order, double dt) {
  if (order == 1) return {};
  // Step i, counted from the last, is dt / ratio^i. The first step is twice the second, so that the
  // sum is 2 dt: dt (1 / ratio + … + 1 / ratio^n) + 2 dt / ratio^n = 2 dt for a ratio of 1.5.
  constexpr double ratio = 1.5;
  constexpr int growing = 18;
  std::vector<double> steps{2 * dt * std::pow(ratio, -growing)};
  for (int i = growing; i >= 1; --i) steps.push_back(dt * std::pow(ratio, -i));
  return steps;
}

}  // namespace nekbone_k
