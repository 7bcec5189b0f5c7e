// SPDX-License-Identifier: BSD-3-Clause
#include "machine/linear_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

constexpr double shortest_time = 1e-9;  // s; a clock cannot resolve less
constexpr double least_share = 0.01;    // least share of a time that a parameter takes

}  // namespace

LinearCost fit_linear_cost(std::span<const TransferTime> measured) {
  require(!measured.empty(), "no line through no points");
  std::vector<TransferTime> points(measured.begin(), measured.end());
  for (TransferTime& point : points) point.seconds = std::max(point.seconds, shortest_time);
  const auto [smallest, largest] = std::minmax_element(
      points.begin(), points.end(),
      [](const auto& one, const auto& other) { return one.bytes < other.bytes; });
  const double least_latency = least_share * smallest->seconds;
  const double least_slope = least_share * largest->seconds / std::max(largest->bytes, 1.0);

  LinearCost best;
  double least_distance = std::numeric_limits<double>::infinity();
  const auto consider = [&](double latency, double slope) {
    const LinearCost line{std::max(latency, least_latency), 1 / std::max(slope, least_slope)};
    double distance = 0;
    for (const TransferTime& point : points)
      distance += std::abs(std::log(line.seconds(point.bytes) / point.seconds));
    if (distance >= least_distance) return;
    least_distance = distance;
    best = line;
  };
  for (const TransferTime& a : points) {
    for (const TransferTime& b : points) {
      if (b.bytes <= a.bytes) continue;
      const double slope = (b.seconds - a.seconds) / (b.bytes - a.bytes);
      consider(a.seconds - slope * a.bytes, slope);
    }
    consider(a.seconds, 0);
    if (a.bytes > 0) consider(0, a.seconds / a.bytes);
  }
  return best;
}

}  // namespace nekbone_k
