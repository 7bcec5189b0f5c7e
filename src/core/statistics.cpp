// SPDX-License-Identifier: BSD-3-Clause
#include "core/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>

namespace nekbone_k {
namespace {

constexpr int resamplings = 2000;

/// Median of `values`, which it reorders.
double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// For each resample: the positions of its middle two values in the n sorted samples, or the middle
/// one twice.
using Middles = std::vector<std::array<std::uint32_t, 2>>;

/// Drawn once per n, because they hold for any samples and drawing them takes most of a summary's
/// time.
const Middles& middles_of_resamples(std::size_t n) {
  static std::map<std::size_t, Middles> known;
  Middles& middles = known[n];
  if (!middles.empty()) return middles;
  // The modulo replaces std::uniform_int_distribution, which may differ between libraries.
  std::mt19937_64 random(20220101);
  std::vector<std::uint32_t> resample(n);
  for (int r = 0; r < resamplings; ++r) {
    for (std::uint32_t& position : resample) position = static_cast<std::uint32_t>(random() % n);
    const auto middle = resample.begin() + static_cast<std::ptrdiff_t>(n / 2);
    std::nth_element(resample.begin(), middle, resample.end());
    const bool is_odd = n % 2 == 1;
    middles.push_back({is_odd ? *middle : *std::max_element(resample.begin(), middle), *middle});
  }
  return middles;
}

}  // namespace

double median(std::span<const double> samples) {
  std::vector<double> values(samples.begin(), samples.end());
  return median_in_place(values);
}

Summary summarize(std::span<const double> samples) {
  if (samples.empty()) return {};
  std::vector<double> sorted(samples.begin(), samples.end()), medians;
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [low, high] : middles_of_resamples(samples.size()))
    medians.push_back((sorted[low] + sorted[high]) / 2);
  std::sort(medians.begin(), medians.end());
  const auto quantile = [&](double q) { return medians[std::lround(q * (resamplings - 1))]; };
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / samples.size();
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  const double deviation = samples.size() < 2 ? 0 : std::sqrt(squares / (samples.size() - 1));
  return {median(samples), quantile(0.025), quantile(0.975), mean, deviation};
}

namespace {
Summary summarize_differences(std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences(a.size());
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] = a[i] - b[i];
  return summarize(differences);
}
}  // namespace

std::array<std::span<const double>, 2> in_same_rounds(std::span<const double> a,
                                                      std::span<const double> b) {
  const std::size_t rounds = std::min(a.size(), b.size());
  return {a.first(rounds), b.first(rounds)};
}

bool is_slower(std::span<const double> one, std::span<const double> other, double tolerance) {
  const auto [a, b] = in_same_rounds(one, other);
  return summarize_differences(a, b).low > 0 && median(a) > (1 + tolerance) * median(b);
}

bool is_tie(std::span<const double> one, std::span<const double> other, double tolerance) {
  const auto [a, b] = in_same_rounds(one, other);
  const Summary difference = summarize_differences(a, b);
  const double smaller = std::min(median(a), median(b)), larger = std::max(median(a), median(b));
  return difference.low <= 0 && difference.high >= 0 && larger - smaller <= tolerance * smaller;
}

}  // namespace nekbone_k
