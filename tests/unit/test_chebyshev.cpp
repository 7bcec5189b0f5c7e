// SPDX-License-Identifier: BSD-3-Clause
// Error propagation of the steps for one eigenvalue at a time.
#include "multigrid/chebyshev.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

constexpr double lambda_max = 2.3;

/// The factor by which the steps multiply an error whose eigenvalue of S A is λ: solves λ x = λ
/// from x = 0 with S = 1.
double error_factor(const std::vector<ChebyshevStep>& steps, double lambda) {
  double x = 0, z = std::numeric_limits<double>::quiet_NaN(), r = lambda;
  for (const ChebyshevStep& step : steps) {
    z = step.direction == 0 ? step.residual * r : step.direction * z + step.residual * r;
    x += step.solution * z;
    r -= lambda * z;
  }
  return 1 - x;
}

/// λ in (0, λmax], denser at both ends.
std::vector<double> eigenvalues(double lowest = 0) {
  constexpr int n = 4000;
  std::vector<double> values;
  for (int i = 1; i <= n; ++i)
    values.push_back(lowest + (lambda_max - lowest) * (1 - std::cos(M_PI * i / n)) / 2);
  return values;
}

/// T_n(x) for any x.
double first_kind(int n, double x) {
  if (std::abs(x) <= 1) return std::cos(n * std::acos(x));
  return (x < 0 && n % 2 != 0 ? -1 : 1) * std::cosh(n * std::acosh(std::abs(x)));
}

/// W_n(x) / W_n(1) at x = cos θ, by W_n = sin((n + 1/2) θ) / sin(θ / 2).
double scaled_fourth_kind(int n, double x) {
  const double half = std::acos(std::clamp(x, -1.0, 1.0)) / 2;
  return half < 1e-8 ? 1 : std::sin((2 * n + 1) * half) / std::sin(half) / (2 * n + 1);
}

/// The largest λ p² / (1 - p²) for λmax = 1. The bound of a V-cycle grows with it (Lottes 2022,
/// theorem 4.1).
double worst_case(const std::vector<ChebyshevStep>& steps) {
  double worst = 0;
  for (const double lambda : eigenvalues()) {
    const double p = error_factor(steps, lambda);
    worst = std::max(worst, lambda / lambda_max * p * p / (1 - p * p));
  }
  return worst;
}

class ChebyshevDegree : public testing::TestWithParam<int> {
 protected:
  const int k = GetParam();
  std::vector<ChebyshevStep> steps(ChebyshevKind kind) const {
    return chebyshev_steps(kind, k, lambda_max);
  }
};

TEST_P(ChebyshevDegree, HasAStepPerDegree) {
  for (const auto kind :
       {ChebyshevKind::first, ChebyshevKind::fourth, ChebyshevKind::optimized_fourth}) {
    EXPECT_EQ(steps(kind).size(), std::size_t(k)) << name(kind);
    EXPECT_EQ(steps(kind).front().direction, 0) << name(kind);
    EXPECT_EQ(error_factor(steps(kind), 0), 1) << name(kind);
  }
}

TEST_P(ChebyshevDegree, FirstKindIsTheScaledPolynomialOfItsInterval) {
  const double lambda_min = lambda_max / first_kind_ratio;
  const double centre = (lambda_max + lambda_min) / 2, radius = (lambda_max - lambda_min) / 2;
  for (const double lambda : eigenvalues())
    EXPECT_NEAR(error_factor(steps(ChebyshevKind::first), lambda),
                first_kind(k, (centre - lambda) / radius) / first_kind(k, centre / radius), 1e-13)
        << "lambda " << lambda;
}

// A polynomial of degree k with p(0) = 1 and k + 1 extrema of one size and alternating signs is
// the smallest.
TEST_P(ChebyshevDegree, FirstKindEquioscillates) {
  const double lambda_min = lambda_max / first_kind_ratio;
  const double centre = (lambda_max + lambda_min) / 2, radius = (lambda_max - lambda_min) / 2;
  double largest = 0;
  for (const double lambda : eigenvalues(lambda_min))
    largest = std::max(largest, std::abs(error_factor(steps(ChebyshevKind::first), lambda)));
  EXPECT_LE(largest, (1 + 1e-12) / first_kind(k, centre / radius));
  for (int extremum = 0; extremum <= k; ++extremum) {
    const double lambda = centre - radius * std::cos(M_PI * extremum / k);
    const double sign = extremum % 2 == 0 ? 1 : -1;
    EXPECT_NEAR(sign * error_factor(steps(ChebyshevKind::first), lambda), largest, 1e-12);
  }
}

TEST_P(ChebyshevDegree, FourthKindIsTheScaledPolynomial) {
  for (const double lambda : eigenvalues())
    EXPECT_NEAR(error_factor(steps(ChebyshevKind::fourth), lambda),
                scaled_fourth_kind(k, 1 - 2 * lambda / lambda_max), 1e-13)
        << "lambda " << lambda;
}

// Step j of the fourth kind takes the error from W_{j-1} to W_j; its weight is `solution`.
TEST_P(ChebyshevDegree, WeightsMultiplyTheStepsOfTheFourthKind) {
  const auto weighted = steps(ChebyshevKind::optimized_fourth);
  for (const double lambda : eigenvalues()) {
    const double x = 1 - 2 * lambda / lambda_max;
    double expected = 1;
    for (int j = 1; j <= k; ++j)
      expected -=
          weighted[j - 1].solution * (scaled_fourth_kind(j - 1, x) - scaled_fourth_kind(j, x));
    EXPECT_NEAR(error_factor(weighted, lambda), expected, 1e-13) << "lambda " << lambda;
  }
}

TEST_P(ChebyshevDegree, IsSmallerThanOneEverywhere) {
  for (const auto kind :
       {ChebyshevKind::first, ChebyshevKind::fourth, ChebyshevKind::optimized_fourth})
    for (const double lambda : eigenvalues())
      if (lambda > 1e-6) {
        ASSERT_LT(std::abs(error_factor(steps(kind), lambda)), 1) << name(kind);
      }
}

// The worst cases are those of Lottes 2022: 3 / (4 k (k + 1)) without weights; and about
// 1 / ((4 / π²) (2k + 1)² - 2/3) with optimal weights.
TEST_P(ChebyshevDegree, WorstCasesAreThoseOfTheSource) {
  EXPECT_NEAR(worst_case(steps(ChebyshevKind::fourth)), 3.0 / (4 * k * (k + 1)), 1e-5);
  const double root = 2 * (2 * k + 1) / M_PI;
  const double optimal = worst_case(steps(ChebyshevKind::optimized_fourth));
  EXPECT_NEAR(optimal * (root * root - 2.0 / 3), 1, 0.01);
  EXPECT_LT(optimal, worst_case(steps(ChebyshevKind::fourth)));
}

TEST_P(ChebyshevDegree, NoOtherWeightIsBetter) {
  const auto best = steps(ChebyshevKind::optimized_fourth);
  for (int changed = 0; changed < k; ++changed)
    for (const double factor : {0.99, 1.01}) {
      auto other = best;
      other[changed].solution *= factor;
      EXPECT_GT(worst_case(other), worst_case(best)) << "weight " << changed << " times " << factor;
    }
}

// Eigenvalues scale with λmax.
TEST_P(ChebyshevDegree, DependsOnTheRatioToTheLargestEigenvalue) {
  for (const auto kind :
       {ChebyshevKind::first, ChebyshevKind::fourth, ChebyshevKind::optimized_fourth})
    for (const double part : {0.01, 0.3, 0.8, 1.0})
      EXPECT_NEAR(error_factor(chebyshev_steps(kind, k, 700), 700 * part),
                  error_factor(steps(kind), lambda_max * part), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Degrees, ChebyshevDegree, testing::Range(1, most_chebyshev_degree + 1),
                         [](const auto& instance) { return "K" + std::to_string(instance.param); });

TEST(Chebyshev, RejectsOtherDegrees) {
  for (const auto kind :
       {ChebyshevKind::first, ChebyshevKind::fourth, ChebyshevKind::optimized_fourth})
    for (const int degree : {-1, 0, most_chebyshev_degree + 1})
      EXPECT_THROW(chebyshev_steps(kind, degree, 1), InternalError) << name(kind) << degree;
}

TEST(Chebyshev, HasNames) {
  EXPECT_STREQ(name(ChebyshevKind::first), "chebyshev-1");
  EXPECT_STREQ(name(ChebyshevKind::fourth), "chebyshev-4");
  EXPECT_STREQ(name(ChebyshevKind::optimized_fourth), "chebyshev-4-opt");
}

}  // namespace
}  // namespace nekbone_k
