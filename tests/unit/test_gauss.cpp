// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/gauss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

constexpr double rounding_error = std::numeric_limits<double>::epsilon();

/// P_n and P_n' at x, by recurrences. Unlike monomials, this basis is well conditioned.
struct LegendreAt {
  double value = 1, slope = 0;

  LegendreAt(int n, double x) {
    double previous = 0, previous_slope = 0;
    for (int k = 1; k <= n; ++k) {
      const double next = ((2 * k - 1) * x * value - (k - 1) * previous) / k;
      const double next_slope = (2 * k - 1) * value + previous_slope;  // P_k' - P_{k-2}'
      previous = value;
      value = next;
      previous_slope = slope;
      slope = next_slope;
    }
  }
};

class GaussRulePoints : public testing::TestWithParam<int> {
 public:
  const int points = GetParam();
  const GaussRule rule = make_gauss_rule(points);

  template <class Function>
  double integral(const Function& f) const {
    double sum = 0;
    for (int i = 0; i < points; ++i) sum += rule.weights[i] * f(rule.nodes[i]);
    return sum;
  }
};

TEST_P(GaussRulePoints, HaveTheirShape) {
  EXPECT_EQ(rule.points(), points);
  EXPECT_EQ(rule.nodes.size(), points + 0u);
  EXPECT_EQ(rule.weights.size(), points + 0u);
  EXPECT_EQ(rule.derivative.size(), points * points + 0u);
}

TEST_P(GaussRulePoints, AscendInsideAndAreSymmetric) {
  EXPECT_GT(rule.nodes.front(), -1);
  for (int i = 0; i < points; ++i) {
    EXPECT_EQ(rule.nodes[i], -rule.nodes[points - 1 - i]);
    EXPECT_NEAR(rule.weights[i], rule.weights[points - 1 - i],
                4 * rounding_error * rule.weights[i]);
    EXPECT_GT(rule.weights[i], 0);
    if (i > 0) {
      EXPECT_LT(rule.nodes[i - 1], rule.nodes[i]);
    }
    for (int j = 0; j < points; ++j)
      EXPECT_NEAR(rule.derivative[i * points + j],
                  -rule.derivative[(points - 1 - i) * points + points - 1 - j],
                  8 * rounding_error * points * points);
  }
}

TEST_P(GaussRulePoints, IntegrateExactlyToDegree2MMinus1) {
  for (int degree = 0; degree < 2 * points; ++degree) {
    const double sum = integral([&](double x) { return LegendreAt(degree, x).value; });
    EXPECT_NEAR(sum, degree == 0 ? 2 : 0, 16 * rounding_error) << "degree " << degree;
  }
}

// All nodes are roots of P_M, whose square has the integral 2 / (2M + 1).
TEST_P(GaussRulePoints, DoNotIntegrateExactlyDegree2M) {
  const auto square = [&](double x) { return std::pow(LegendreAt(points, x).value, 2); };
  EXPECT_NEAR(integral(square), 0, 16 * rounding_error);
}

// P_n' reaches n(n + 1)/2 at the ends. Rounding of the nodes adds an error that grows with P_n''.
TEST_P(GaussRulePoints, DifferentiateExactlyToDegreeMMinus1) {
  for (int degree = 0; degree < points; ++degree)
    for (int i = 0; i < points; ++i) {
      double slope = 0;
      for (int j = 0; j < points; ++j)
        slope += rule.derivative[i * points + j] * LegendreAt(degree, rule.nodes[j]).value;
      EXPECT_NEAR(slope, LegendreAt(degree, rule.nodes[i]).slope,
                  32 * rounding_error * points * (points + 1))
          << "degree " << degree << ", node " << i;
    }
}

// The largest rule is that of the highest order, 31.
INSTANTIATE_TEST_SUITE_P(Rules, GaussRulePoints,
                         testing::Values(1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 14, 15, 18, 24, 48),
                         [](const auto& instance) {
                           return "points" + std::to_string(instance.param);
                         });

TEST(Gauss, HasTheKnownNodesAndWeights) {
  const auto expect = [](const std::vector<double>& nodes, const std::vector<double>& weights) {
    const GaussRule rule = make_gauss_rule(static_cast<int>(nodes.size()));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_NEAR(rule.nodes[i], nodes[i], rounding_error);
      EXPECT_NEAR(rule.weights[i], weights[i], 2 * rounding_error);
    }
  };
  const double two = std::sqrt(1.0 / 3), three = std::sqrt(3.0 / 5);
  const double inner = std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(6.0 / 5)),
               outer = std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(6.0 / 5));
  const double of_inner = (18 + std::sqrt(30.0)) / 36, of_outer = (18 - std::sqrt(30.0)) / 36;
  expect({0}, {2});
  expect({-two, two}, {1, 1});
  expect({-three, 0, three}, {5.0 / 9, 8.0 / 9, 5.0 / 9});
  expect({-outer, -inner, inner, outer}, {of_outer, of_inner, of_inner, of_outer});
}

TEST(Gauss, HasTheKnownDerivatives) {
  EXPECT_EQ(make_gauss_rule(1).derivative, std::vector<double>{0});
  const double half = std::sqrt(3.0) / 2;
  const std::vector<double> found = make_gauss_rule(2).derivative;
  const std::vector<double> expected{-half, half, -half, half};
  for (int a = 0; a < 4; ++a) EXPECT_NEAR(found[a], expected[a], 2 * rounding_error);
}

TEST(Gauss, RefusesARuleWithoutPoints) {
  EXPECT_THROW(make_gauss_rule(0), InternalError);
  EXPECT_THROW(make_gauss_rule(-1), InternalError);
}

}  // namespace
}  // namespace nekbone_k
