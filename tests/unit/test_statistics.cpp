// SPDX-License-Identifier: BSD-3-Clause
// The statistics by which strategies are judged, on samples with known answers.
#include "core/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace nekbone_k {
namespace {

using Samples = std::vector<double>;

// The numbers 1 to n, unsorted. n must be odd.
Samples shuffled_ranks(int n) {
  Samples samples(n);
  for (int i = 0; i < n; ++i) samples[i] = 1 + (2 * i) % n;
  return samples;
}

TEST(StatisticsMedian, OfAnOddNumberIsTheMiddleOne) {
  EXPECT_EQ(median(Samples{3}), 3);
  EXPECT_EQ(median(Samples{3, 1, 2}), 2);
  EXPECT_EQ(median(Samples{9, 1, 1, 1, 9}), 1);
  EXPECT_EQ(median(Samples{-5, 7, -6, 0, 100}), 0);
}

TEST(StatisticsMedian, OfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median(Samples{1, 2}), 1.5);
  EXPECT_EQ(median(Samples{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(Samples{100, -4, -2, -100}), -3);
  EXPECT_EQ(median(Samples{8, 8, 1, 1, 8, 1, 8, 1}), 4.5);
}

TEST(StatisticsMedian, LeavesTheSamplesAsTheyAre) {
  const Samples samples{5, 1, 4, 2, 3};
  Samples given = samples;
  median(given);
  summarize(given);
  EXPECT_EQ(given, samples);
}

TEST(StatisticsSummary, OfNothingIsZero) {
  const Summary summary = summarize({});
  EXPECT_EQ(summary.median, 0);
  EXPECT_EQ(summary.low, 0);
  EXPECT_EQ(summary.high, 0);
}

TEST(StatisticsSummary, OfEqualSamplesIsAPoint) {
  for (const int n : {1, 2, 5, 100}) {
    const Summary summary = summarize(Samples(n, 0.125));
    EXPECT_EQ(summary.median, 0.125) << n;
    EXPECT_EQ(summary.low, 0.125) << n;
    EXPECT_EQ(summary.high, 0.125) << n;
  }
}

TEST(StatisticsSummary, OfTwoSamplesSpansBoth) {
  // A resample is two zeros or two ones with probability 1/4 each, otherwise mixed.
  const Summary summary = summarize(Samples{1, 0});
  EXPECT_EQ(summary.median, 0.5);
  EXPECT_EQ(summary.low, 0);
  EXPECT_EQ(summary.high, 1);
}

// The median of a resample is at most the k-th smallest of n samples if at least (n + 1)/2 of n
// draws fall among these k, each with probability k/n. The bounds are the smallest k for which that
// probability exceeds 2.5 %, and its mirror image. For these n it exceeds it by more than four
// standard errors of 2000 resamplings, so any good random numbers give the same bounds.
TEST(StatisticsSummary, HasTheBootstrapQuantilesOfTheBinomialDistribution) {
  const std::vector<std::array<int, 3>> known{{3, 1, 3}, {5, 1, 5}, {7, 2, 6}, {11, 3, 9}};
  for (const auto& [n, low, high] : known) {
    const Summary summary = summarize(shuffled_ranks(n));
    EXPECT_EQ(summary.median, (n + 1) / 2) << n;
    EXPECT_EQ(summary.low, low) << n;
    EXPECT_EQ(summary.high, high) << n;
  }
}

TEST(StatisticsSummary, ContainsTheMedianWithinTheSamples) {
  for (int n = 1; n <= 60; ++n) {
    Samples samples(n);
    for (int i = 0; i < n; ++i) samples[i] = std::sin(12.9898 * (i + 1) * n);
    const Summary summary = summarize(samples);
    EXPECT_EQ(summary.median, median(samples)) << n;
    EXPECT_LE(summary.low, summary.median) << n;
    EXPECT_GE(summary.high, summary.median) << n;
    EXPECT_GE(summary.low, *std::min_element(samples.begin(), samples.end())) << n;
    EXPECT_LE(summary.high, *std::max_element(samples.begin(), samples.end())) << n;
  }
}

TEST(StatisticsSummary, NarrowsWithMoreSamples) {
  const Summary few = summarize(shuffled_ranks(11)), many = summarize(shuffled_ranks(1001));
  EXPECT_EQ(many.median, 501);
  EXPECT_LT((many.high - many.low) / 1001, 0.25 * (few.high - few.low) / 11);
}

TEST(StatisticsSummary, IsNotMovedByAnOutlier) {
  Samples samples(19, 1.0);
  samples[7] = 1e6;
  const Summary summary = summarize(samples);
  EXPECT_EQ(summary.low, 1);
  EXPECT_EQ(summary.high, 1);
}

// A candidate was dropped after five rounds, in which it was slower. Then the machine slowed down.
TEST(StatisticsPairs, AreOfTheRoundsThatBothWereIn) {
  const Samples excluded{1.3, 1.31, 1.29, 1.3, 1.32};
  Samples stayed{1.0, 1.01, 1.0, 0.99, 1.0};
  stayed.resize(15, 1.4);
  EXPECT_TRUE(is_slower(excluded, stayed));
  EXPECT_FALSE(is_slower(stayed, excluded));
  EXPECT_FALSE(is_tie(excluded, stayed));
  // Equal in the common rounds.
  Samples alike{1.3, 1.3, 1.31, 1.3, 1.3};
  alike.resize(15, 2.0);
  EXPECT_TRUE(is_tie(excluded, alike));
  EXPECT_TRUE(is_tie(alike, excluded));
}

TEST(StatisticsSummary, HasMeanAndDeviation) {
  // For 1 to n, the mean is (n + 1)/2 and the standard deviation √(n (n + 1)/12).
  for (const int n : {3, 5, 1001}) {
    const Summary summary = summarize(shuffled_ranks(n));
    EXPECT_DOUBLE_EQ(summary.mean, (n + 1) / 2.0);
    EXPECT_DOUBLE_EQ(summary.deviation, std::sqrt(n * (n + 1) / 12.0));
  }
  EXPECT_EQ(summarize(Samples{3}).mean, 3);
  EXPECT_EQ(summarize(Samples{3}).deviation, 0);
}

TEST(StatisticsSummary, IsTheSameEveryTime) {
  const Samples samples = shuffled_ranks(33);
  const Summary first = summarize(samples);
  summarize(shuffled_ranks(7));  // must not leave state for the next call
  const Summary second = summarize(samples);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
  EXPECT_EQ(first.median, second.median);
}

// In the ties below, each candidate is better in some rounds. The interval of the median difference
// is then [-d, d]: with 3 of 5 rounds against 2, each side gets at least 30 % of the resamples.

TEST(StatisticsSlower, IsWhatIsSoBeyondNoiseAndTheTolerance) {
  const std::vector<double> one(8, 1.0), slower(8, 1.05), a_little_slower(8, 1.02);
  const std::vector<double> noisy{1.2, 0.9, 1.2, 0.9, 1.2, 1.2, 0.9, 1.2};
  EXPECT_TRUE(is_slower(slower, one));
  EXPECT_FALSE(is_slower(one, slower));
  EXPECT_FALSE(is_slower(a_little_slower, one));
  EXPECT_TRUE(is_slower(a_little_slower, one, 0.01));
  EXPECT_FALSE(is_slower(noisy, one));
}

TEST(StatisticsTie, EqualSamplesTie) {
  const Samples samples{1, 2, 3, 4, 5};
  EXPECT_TRUE(is_tie(samples, samples));
  EXPECT_TRUE(is_tie(samples, samples, 0));
}

TEST(StatisticsTie, NeitherIsConsistentlyBetterAndTheyAreClose) {
  const Samples a{1.00, 1.00, 1.02, 1.02, 1.02}, b{1.02, 1.02, 1.00, 1.00, 1.00};
  EXPECT_TRUE(is_tie(a, b));
  EXPECT_TRUE(is_tie(b, a));
}

TEST(StatisticsTie, NotWhenFurtherApartThanTheToleranceHoweverNoisy) {
  const Samples a{1.00, 1.00, 1.04, 1.04, 1.04}, b{1.04, 1.04, 1.00, 1.00, 1.00};
  EXPECT_FALSE(is_tie(a, b));
  EXPECT_FALSE(is_tie(b, a));
  EXPECT_TRUE(is_tie(a, b, 0.05));
  EXPECT_TRUE(is_tie(b, a, 0.05));
}

TEST(StatisticsTie, NotWhenOneIsConsistentlyBetterHoweverClose) {
  const Samples a{1.00, 2.00, 3.00, 4.00, 5.00}, b{1.01, 2.01, 3.01, 4.01, 5.01};
  EXPECT_FALSE(is_tie(a, b));
  EXPECT_FALSE(is_tie(b, a));
}

TEST(StatisticsTie, ComparesRoundsByRoundNotSortedSamples) {
  // The same samples as in the test above, but in other rounds.
  const Samples a{1.00, 2.00, 3.00, 4.00, 5.00}, b{5.01, 4.01, 3.01, 2.01, 1.01};
  EXPECT_TRUE(is_tie(a, b));
}

TEST(StatisticsTie, MeasuresTheToleranceFromTheSmallerMedian) {
  const Samples a{1.0, 1.0, 1.0, 1.5, 1.5}, b{1.5, 1.5, 1.5, 1.0, 1.0};  // medians 1 and 1.5
  EXPECT_TRUE(is_tie(a, b, 0.5));
  EXPECT_TRUE(is_tie(b, a, 0.5));
  EXPECT_FALSE(is_tie(a, b, 0.499));  // 0.5 is 33 % of the larger, 50 % of the smaller
  EXPECT_FALSE(is_tie(b, a, 0.499));
}

TEST(StatisticsTie, ADifferenceOnTheEdgeOfTheIntervalIsOne) {
  // Most differences are 0 and the others have one sign, so the interval touches 0.
  const Samples a{1, 1, 1, 1, 1}, b{1, 1, 1, 1.01, 1.01};
  EXPECT_TRUE(is_tie(a, b));
  EXPECT_TRUE(is_tie(b, a));
}

}  // namespace
}  // namespace nekbone_k
