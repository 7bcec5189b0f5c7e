#include "gs/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace nekbone_k {
namespace {

constexpr int resamplings = 2000;

/// Median of a range that may be reordered.
double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

double median(std::span<const double> samples) {
  std::vector<double> values(samples.begin(), samples.end());
  return median_in_place(values);
}

Summary summarize(std::span<const double> samples) {
  if (samples.empty()) return {};
  // Integers drawn by hand: std::uniform_int_distribution may differ between libraries.
  std::mt19937_64 random(20220101);
  std::vector<double> resample(samples.size()), medians(resamplings);
  for (double& m : medians) {
    for (double& value : resample) value = samples[random() % samples.size()];
    m = median_in_place(resample);
  }
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
  std::vector<double> differences(std::min(a.size(), b.size()));
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] = a[i] - b[i];
  return summarize(differences);
}
}  // namespace

bool is_slower(std::span<const double> a, std::span<const double> b, double tolerance) {
  return summarize_differences(a, b).low > 0 && median(a) > (1 + tolerance) * median(b);
}

bool is_tie(std::span<const double> a, std::span<const double> b, double tolerance) {
  const Summary difference = summarize_differences(a, b);
  const double smaller = std::min(median(a), median(b)), larger = std::max(median(a), median(b));
  return difference.low <= 0 && difference.high >= 0 && larger - smaller <= tolerance * smaller;
}

}  // namespace nekbone_k
