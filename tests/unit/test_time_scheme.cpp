// SPDX-License-Identifier: BSD-3-Clause
#include "flow/time_scheme.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

TEST(TimeScheme, HasTheTextbookCoefficientsForEqualSteps) {
  struct Textbook {
    double b0;
    std::array<double, max_time_order> b, extrapolation;
  };
  const std::vector<Textbook> textbook{{1, {1, 0, 0}, {1, 0, 0}},
                                       {1.5, {2, -0.5, 0}, {2, -1, 0}},
                                       {11.0 / 6, {3, -1.5, 1.0 / 3}, {3, -3, 1}}};
  for (int order = 1; order <= max_time_order; ++order) {
    const TimeCoefficients c = time_coefficients(order, {0.1, 0.1, 0.1});
    EXPECT_EQ(c.order, order);
    EXPECT_EQ(c.dt, 0.1);
    EXPECT_NEAR(c.b0, textbook[order - 1].b0, 1e-14);
    for (int j = 0; j < max_time_order; ++j) {
      EXPECT_NEAR(c.b[j], textbook[order - 1].b[j], 1e-14) << order << ", " << j;
      EXPECT_NEAR(c.extrapolation[j], textbook[order - 1].extrapolation[j], 1e-14)
          << order << ", " << j;
    }
  }
}

// (1 + 2r)/(1 + r), 1 + r and r²/(1 + r), where r is the ratio of the steps.
TEST(TimeScheme, HasTheTextbookCoefficientsOfOrder2ForTwoSteps) {
  const double r = 1.25;
  const TimeCoefficients c = time_coefficients(2, {0.5, 0.5 / r});
  EXPECT_NEAR(c.b0, (1 + 2 * r) / (1 + r), 1e-14);
  EXPECT_NEAR(c.b[0], 1 + r, 1e-14);
  EXPECT_NEAR(c.b[1], -r * r / (1 + r), 1e-14);
  EXPECT_NEAR(c.extrapolation[0], 1 + r, 1e-14);
  EXPECT_NEAR(c.extrapolation[1], -r, 1e-14);
}

TEST(TimeScheme, IsExactForPolynomialsAtStepsOfAnyLength) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> length(0.02, 0.1), coefficient(-1, 1);
  for (int order = 1; order <= max_time_order; ++order)
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> steps, times{0.7};  // the new level first
      for (int level = 0; level < max_time_order; ++level) {
        steps.push_back(length(random));
        times.push_back(times.back() - steps.back());
      }
      const TimeCoefficients c = time_coefficients(order, steps);
      std::vector<double> factors(order + 1);
      for (double& factor : factors) factor = coefficient(random);
      const auto polynomial = [&](double t, int degree) {
        double value = 0;
        for (int p = degree; p >= 0; --p) value = value * t + factors[p];
        return value;
      };
      // Backward differences are exact to degree `order`, and the extrapolation to one less.
      double slope = 0, difference = c.b0 * polynomial(times[0], order), extrapolated = 0;
      for (int p = order; p >= 1; --p) slope = slope * times[0] + p * factors[p];
      for (int level = 0; level < order; ++level) {
        difference -= c.b[level] * polynomial(times[level + 1], order);
        extrapolated += c.extrapolation[level] * polynomial(times[level + 1], order - 1);
      }
      EXPECT_NEAR(difference / c.dt, slope, 1e-11) << "order " << order;
      EXPECT_NEAR(extrapolated, polynomial(times[0], order - 1), 1e-12) << "order " << order;
    }
}

TEST(TimeScheme, RefusesUnknownOrdersAndMissingSteps) {
  EXPECT_THROW(time_coefficients(0, {0.1}), InternalError);
  EXPECT_THROW(time_coefficients(max_time_order + 1, {0.1, 0.1, 0.1, 0.1}), InternalError);
  EXPECT_THROW(time_coefficients(2, {0.1}), InternalError);
}

TEST(TimeScheme, BeginsWithStepsThatGrowToTheConstantStep) {
  EXPECT_TRUE(starting_steps(1, 0.3).empty());
  for (const int order : {2, 3}) {
    const double dt = 0.3;
    std::vector<double> steps = starting_steps(order, dt);
    EXPECT_NEAR(std::accumulate(steps.begin(), steps.end(), 0.0), 2 * dt, 1e-14);
    EXPECT_LT(steps.front(), 1e-2 * dt);
    steps.push_back(dt);
    for (std::size_t i = 1; i < steps.size(); ++i) {
      EXPECT_LE(steps[i] / steps[i - 1], 1.5 + 1e-12) << i;
      EXPECT_GT(steps[i], 0);
    }
  }
}

/// The error at t = 1 of y' = -λ (y - cos t) - sin t from y = 1, whose solution is cos t. The term
/// -λ y is implicit, and the others are explicit.
double error_of_stiff_equation(int order, double lambda, int n_steps) {
  std::vector<double> steps = starting_steps(order, 1.0 / n_steps), taken;
  const int at_constant_step = n_steps - (steps.empty() ? 0 : 2);
  steps.insert(steps.end(), at_constant_step, 1.0 / n_steps);
  std::vector<double> y{1}, f;  // the newest first
  double t = 0;
  for (const double dt : steps) {
    taken.insert(taken.begin(), dt);
    const int levels = std::min<int>(order, static_cast<int>(taken.size()));
    const TimeCoefficients c = time_coefficients(levels, taken);
    f.insert(f.begin(), lambda * std::cos(t) - std::sin(t));
    double right = 0;
    for (int j = 0; j < levels; ++j) right += c.b[j] * y[j] + dt * c.extrapolation[j] * f[j];
    y.insert(y.begin(), right / (c.b0 + dt * lambda));
    t += dt;
  }
  EXPECT_NEAR(t, 1, 1e-13);
  return std::abs(y[0] - std::cos(1.0));
}

// λ dt is between 0.01 and 30.
TEST(TimeScheme, HasItsOrderFromTheFirstStep) {
  for (const double lambda : {1.0, 30.0, 1000.0})
    for (int order = 1; order <= max_time_order; ++order) {
      double coarse = error_of_stiff_equation(order, lambda, 32);
      for (const int n_steps : {64, 128}) {
        const double fine = error_of_stiff_equation(order, lambda, n_steps);
        EXPECT_GE(std::log2(coarse / fine), order - 0.15)
            << "order " << order << ", lambda " << lambda << ", steps " << n_steps << ", errors "
            << coarse << " and " << fine;
        coarse = fine;
      }
    }
}

}  // namespace
}  // namespace nekbone_k
