/// @file
/// The one statistic by which everything timed is judged.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace nekbone_k {

/// Median of samples with a 95 % bootstrap interval, their mean and their standard deviation, in
/// the unit of the samples. Choices are made by the median; a mean moves with every disturbance.
struct Summary {
  double median = 0, low = 0, high = 0;
  double mean = 0, deviation = 0;
};

/// Median of `samples`, which may not be empty.
double median(std::span<const double> samples);

/// Median and its 95 % percentile bootstrap interval (Efron 1979) from 2000 resamplings with a
/// fixed seed: the same samples give the same interval on every rank. Mean, and deviation of the
/// sample (n - 1; 0 for one). Zeros for no samples.
Summary summarize(std::span<const double> samples);

/// The samples of two candidates in the rounds that both were in, as one may have been left out of
/// later ones. What follows compares those alone.
std::array<std::span<const double>, 2> in_same_rounds(std::span<const double> a,
                                                      std::span<const double> b);

/// Whether two candidates measured in the same rounds tie: the interval of the median of their
/// paired differences contains 0 and their medians are within `tolerance` of each other, relative
/// to the smaller.
bool is_tie(std::span<const double> a, std::span<const double> b, double tolerance = 0.03);

/// Whether `a` is slower than `b`, measured in the same rounds: the interval of the median of their
/// paired differences lies above 0, and the medians are further than `tolerance` apart.
bool is_slower(std::span<const double> a, std::span<const double> b, double tolerance = 0.03);

}  // namespace nekbone_k
