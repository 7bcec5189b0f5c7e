// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The statistics that judge every measured time.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace nekbone_k {

/// Median of samples with its 95 % confidence interval, their mean and their standard deviation, in
/// the unit of the samples. Decisions use the median, because every disturbance moves the mean.
struct Summary {
  double median = 0, low = 0, high = 0;
  double mean = 0, deviation = 0;
};

/// Median of `samples`, which may not be empty.
double median(std::span<const double> samples);

/// Median with its 95 % confidence interval, mean and standard deviation. The interval is a
/// percentile bootstrap (Efron 1979) of 2000 resamplings with a fixed seed, so the same samples
/// give the same interval on every rank. The standard deviation divides by n - 1; it is 0 for one
/// sample. Without samples, all values are 0.
Summary summarize(std::span<const double> samples);

/// The samples of two candidates in the rounds that both took part in; the tuner may drop a
/// candidate from later rounds. is_tie() and is_slower() compare these samples only.
std::array<std::span<const double>, 2> in_same_rounds(std::span<const double> a,
                                                      std::span<const double> b);

/// Whether two candidates tie in their common rounds. They tie if the confidence interval of the
/// median of their paired differences contains 0, and if their medians differ by at most
/// `tolerance`, relative to the smaller.
bool is_tie(std::span<const double> a, std::span<const double> b, double tolerance = 0.03);

/// Whether `a` is slower than `b` in their common rounds. It is slower if the confidence interval
/// of the median of their paired differences lies above 0, and if its median exceeds that of `b` by
/// more than `tolerance`.
bool is_slower(std::span<const double> a, std::span<const double> b, double tolerance = 0.03);

}  // namespace nekbone_k
