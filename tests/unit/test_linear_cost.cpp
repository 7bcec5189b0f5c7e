// SPDX-License-Identifier: BSD-3-Clause
// The linear fit of measured times: exact on exact data, robust to outliers, and always positive.
#include "machine/linear_cost.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

using Points = std::vector<TransferTime>;

const std::vector<double> sizes{8, 2048, 16384, 131072, 524288, 2097152};

Points on_line(double latency, double bandwidth) {
  Points points;
  for (const double bytes : sizes) points.push_back({bytes, latency + bytes / bandwidth});
  return points;
}

TEST(LinearCost, IsALatencyAndABandwidth) {
  const LinearCost cost{2e-6, 1e9};
  EXPECT_DOUBLE_EQ(cost.seconds(0), 2e-6);
  EXPECT_DOUBLE_EQ(cost.seconds(3000), 5e-6);
}

TEST(LinearCost, OfPointsOnALineIsThatLine) {
  for (const double latency : {3e-7, 2e-5, 1.5e-4})
    for (const double bandwidth : {5e8, 1e10, 2e11}) {
      const LinearCost cost = fit_linear_cost(on_line(latency, bandwidth));
      EXPECT_NEAR(cost.latency, latency, 1e-6 * latency);
      EXPECT_NEAR(cost.bandwidth, bandwidth, 1e-6 * bandwidth);
    }
}

TEST(LinearCost, IsNotMovedByOneSizeThatWentAstray) {
  for (std::size_t astray = 0; astray < sizes.size(); ++astray)
    for (const double factor : {0.1, 30.0}) {
      Points points = on_line(2e-6, 1e10);
      points[astray].seconds *= factor;
      const LinearCost cost = fit_linear_cost(points);
      // Three sizes determine the latency, and two the bandwidth.
      EXPECT_NEAR(cost.seconds(sizes.front()), 2e-6, 1e-8) << astray << ' ' << factor;
      EXPECT_NEAR(cost.seconds(131072), 2e-6 + 131072e-10, 1e-7) << astray << ' ' << factor;
    }
}

TEST(LinearCost, OfNoisyTimesIsNearTheTruth) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 100; ++trial) {
    Points points = on_line(5e-6, 8e9);
    for (TransferTime& point : points)
      point.seconds *= 0.9 + 0.2 * static_cast<double>(random() % 1000) / 1000;
    const LinearCost cost = fit_linear_cost(points);
    for (const double bytes : sizes) {
      const double truth = 5e-6 + bytes / 8e9;
      EXPECT_NEAR(cost.seconds(bytes), truth, 0.25 * truth);
    }
  }
}

TEST(LinearCost, DoesNotDependOnTheOrderOfThePoints) {
  Points points = on_line(5e-6, 8e9);
  points[2].seconds *= 1.3;
  points[4].seconds *= 0.8;
  const LinearCost cost = fit_linear_cost(points);
  std::reverse(points.begin(), points.end());
  EXPECT_DOUBLE_EQ(fit_linear_cost(points).latency, cost.latency);
  EXPECT_DOUBLE_EQ(fit_linear_cost(points).bandwidth, cost.bandwidth);
}

TEST(LinearCost, IsPositiveAndFiniteWhateverItIsGiven) {
  const std::vector<Points> odd{
      {{8, 1e-6}},                             // one size
      {{8, 1e-6}, {8, 2e-6}},                  // the same size twice
      {{8, 3e-6}, {2048, 3e-6}, {1e6, 3e-6}},  // no measurable bandwidth
      {{1e6, 1e-3}, {2e6, 2e-3}},              // no measurable latency
      {{8, 5e-6}, {2048, 4e-6}, {1e6, 1e-6}},  // faster with size
      {{8, 0}, {2048, 0}},                     // below the clock's resolution
      {{0, 1e-6}},
  };
  for (const Points& points : odd) {
    const LinearCost cost = fit_linear_cost(points);
    EXPECT_GT(cost.latency, 0);
    EXPECT_GT(cost.bandwidth, 0);
    EXPECT_TRUE(std::isfinite(cost.latency) && std::isfinite(cost.bandwidth));
  }
  EXPECT_NEAR(fit_linear_cost(odd[2]).seconds(2048), 3e-6, 0.1e-6);
  EXPECT_NEAR(fit_linear_cost(odd[3]).seconds(1.5e6), 1.5e-3, 0.05e-3);
  EXPECT_THROW(fit_linear_cost({}), InternalError);
}

}  // namespace
}  // namespace nekbone_k
