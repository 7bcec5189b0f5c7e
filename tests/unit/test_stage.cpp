// SPDX-License-Identifier: BSD-3-Clause
// The choice of winners and the number of rounds, on samples with known answers.
#include "tuning/stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace nekbone_k {
namespace {

using Samples = std::vector<double>;

std::vector<StageResult*> members_of(std::vector<StageResult>& results) {
  std::vector<StageResult*> members;
  for (StageResult& result : results) members.push_back(&result);
  return members;
}

std::vector<StageResult> with_samples(const std::vector<Samples>& samples) {
  std::vector<StageResult> results(samples.size());
  for (std::size_t c = 0; c < samples.size(); ++c) results[c].samples = samples[c];
  return results;
}

// ---- Winners -----------------------------------------------------------------------------------

TEST(StageJudge, TakesTheLowestMedian) {
  auto results = with_samples({{4, 4, 4, 4, 4}, {2, 2, 2, 2, 90}, {3, 3, 3, 3, 3}});
  EXPECT_EQ(judge(members_of(results), {}), 1u);
  EXPECT_EQ(results[0].relative_to_best, 2);
  EXPECT_EQ(results[1].relative_to_best, 1);
  EXPECT_EQ(results[2].relative_to_best, 1.5);
  EXPECT_EQ(results[1].cost.median, 2);
  for (const StageResult& result : results) EXPECT_FALSE(result.tie);
}

TEST(StageJudge, TakesTheFirstOfTheTableOfThoseThatTie) {
  // The second is the fastest by 1 %, but the third is faster in some rounds.
  auto results = with_samples({{2.00, 2.00, 2.00, 2.00, 2.00},
                               {1.00, 1.02, 1.00, 1.02, 1.00},
                               {1.02, 1.00, 1.02, 1.00, 1.01}});
  EXPECT_EQ(judge(members_of(results), {}), 1u);
  EXPECT_FALSE(results[0].tie);
  EXPECT_TRUE(results[1].tie);
  EXPECT_TRUE(results[2].tie);

  std::swap(results[1].samples, results[2].samples);
  for (StageResult& result : results) result.tie = false;
  EXPECT_EQ(judge(members_of(results), {}), 1u) << "though the third is the fastest now";
  EXPECT_GT(results[1].relative_to_best, 1);
  EXPECT_EQ(results[2].relative_to_best, 1);
}

TEST(StageJudge, TakesOutWhatTheWorkTookInTheSameRound) {
  const Samples work{1, 5, 3};
  auto results = with_samples({{1.5, 5.5, 3.5}, {1.25, 5.25, 3.25}});
  EXPECT_EQ(judge(members_of(results), work), 1u);
  EXPECT_EQ(results[0].cost.median, 0.5);
  EXPECT_EQ(results[0].cost.low, 0.5) << "the work's noise is none of the exchange's";
  EXPECT_EQ(results[0].cost.high, 0.5);
  EXPECT_EQ(results[1].cost.median, 0.25);
  // Both costs include the median work of 3 s.
  EXPECT_EQ(results[0].relative_to_best, 3.5 / 3.25);
}

// With much work, the difference between the exchanges is at most 0.5 % of the measured time.
TEST(StageJudge, TiesByWorkAndExchangeTogether) {
  auto results = with_samples({{100.5, 100.9, 100.6}, {100.4, 101.0, 100.5}});
  EXPECT_EQ(judge(members_of(results), {100, 100, 100}), 0u);
  EXPECT_TRUE(results[0].tie);
  EXPECT_TRUE(results[1].tie);
}

TEST(StageJudge, TakesOfThoseThatTieUnderWorkOneThatIsFasterAlone) {
  const Samples work(5, 100);
  auto results = with_samples({{100.5, 100.9, 100.6, 100.5, 100.6},
                               {100.4, 101.0, 100.5, 100.6, 100.5},
                               {100.5, 100.8, 100.7, 100.4, 100.6},
                               {130, 130, 130, 130, 130}});
  auto alone = with_samples({{9, 9, 9, 9, 9}, {4, 4, 4}, {3.9, 4.1, 4, 4, 4}, {1, 1, 1, 1, 1}});
  alone[1].stopped = true;  // in the first stage, because it could not win
  const auto winner = [&](const std::vector<const StageResult*>& known) {
    return judge(members_of(results), work, known);
  };
  EXPECT_EQ(winner({}), 0u);
  // The second and third also tie alone. The fourth does not tie with work.
  EXPECT_EQ(winner({&alone[0], &alone[1], &alone[2], &alone[3]}), 1u);
  EXPECT_EQ(winner({&alone[1], &alone[0], &alone[2], &alone[3]}), 0u);
  EXPECT_EQ(winner({&alone[0], nullptr, &alone[2], nullptr}), 2u);
  EXPECT_EQ(winner({nullptr, &alone[1], nullptr, nullptr}), 0u) << "how it did is not known";
}

TEST(StageJudge, TakesWhatIsFasterAloneWithinAHundredthOfTheBestUnderWork) {
  // Slower than the first in every round: by 0.5 %, by 2 %, and by 0.5 % but stopped.
  auto results = with_samples({{100, 101, 102, 103, 104},
                               {100.5, 101.5, 102.5, 103.5, 104.5},
                               {102, 103, 104, 105, 106},
                               {100.5, 101.5, 102.5, 103.5, 104.5}});
  results[3].stopped = true;
  auto alone = with_samples({{9, 9, 9, 9, 9}, {5, 5, 5, 5, 5}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}});
  const std::vector<const StageResult*> known{&alone[0], &alone[1], &alone[2], &alone[3]};
  const Samples work(5, 50);
  EXPECT_EQ(judge(members_of(results), work), 0u);
  EXPECT_EQ(judge(members_of(results), work, known), 1u);
  EXPECT_FALSE(results[1].tie);
  const std::vector<const StageResult*> plain_first{nullptr, &alone[1], &alone[2], &alone[3]};
  EXPECT_EQ(judge(members_of(results), work, plain_first), 0u);
}

TEST(StageJudge, ComparesOneThatWasStoppedInItsOwnRounds) {
  // The best candidate slowed down after the first was stopped.
  auto results = with_samples({{2, 2, 2}, {1, 1, 1, 3, 3, 3, 3}});
  results[0].stopped = true;
  EXPECT_EQ(judge(members_of(results), {}), 1u) << "though its median is 3 s";
  EXPECT_EQ(results[0].relative_to_best, 2);
  EXPECT_FALSE(results[0].tie);
}

// ---- Rounds ------------------------------------------------------------------------------------

struct StageRounds : testing::Test {
  const Communicator comm{MPI_COMM_SELF};
  std::vector<std::size_t> calls;

  // Runs candidates that claim to take `seconds`. Returns the number of rounds.
  int run(std::vector<StageResult>& results, const Samples& seconds, const Rounds::Limits& limits,
          Samples* reference = nullptr) {
    calls.clear();
    return Rounds(comm).run(members_of(results), reference, limits, [&](std::size_t c) {
      calls.push_back(c);
      return seconds[c];
    });
  }
  long calls_of(std::size_t c) const { return std::count(calls.begin(), calls.end(), c); }
};

constexpr int warm_ups = Rounds::warm_ups;

TEST_F(StageRounds, DoesEachOnceARoundInChangingOrders) {
  std::vector<StageResult> results(4);
  EXPECT_EQ(run(results, {1, 1, 1, 1}, {.seconds = 0, .least = 20}), 20);
  ASSERT_EQ(calls.size(), 4u * (20 + warm_ups));
  std::set<std::vector<std::size_t>> orders;
  for (std::size_t begin = 4 * warm_ups; begin < calls.size(); begin += 4) {
    std::vector<std::size_t> order(calls.begin() + begin, calls.begin() + begin + 4);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
  }
  EXPECT_GT(orders.size(), 5u);
  for (const StageResult& result : results) EXPECT_EQ(result.samples, Samples(20, 1.0));
}

TEST_F(StageRounds, EndsAtTheMost) {
  std::vector<StageResult> results(2);
  EXPECT_EQ(run(results, {1, 1}, {.seconds = 1e9, .least = 1, .most = 7}), 7);
}

TEST_F(StageRounds, LeavesOutWhatCannotWinFromTheFifthRoundOn) {
  // Slower than the first by 50 %, 20 % and 10 %.
  std::vector<StageResult> results(4);
  Samples reference;
  EXPECT_EQ(run(results, {1, 1.5, 1.2, 1.1, 9}, {.seconds = 0, .least = 8}, &reference), 8);
  EXPECT_TRUE(results[1].stopped);
  EXPECT_EQ(results[1].samples.size(), 5u);
  EXPECT_EQ(calls_of(1), warm_ups + 5);
  for (const int c : {0, 2, 3}) {
    EXPECT_FALSE(results[c].stopped) << c;
    EXPECT_EQ(results[c].samples.size(), 8u) << c;
  }
  EXPECT_EQ(reference, Samples(8, 9.0)) << "which is no candidate";
}

TEST_F(StageRounds, KeepsAllWhereNoneIsToBeLeftOut) {
  std::vector<StageResult> results(2);
  EXPECT_EQ(run(results, {1, 5}, {.seconds = 0, .least = 9, .early_stop = false}), 9);
  EXPECT_FALSE(results[1].stopped);
  EXPECT_EQ(results[1].samples.size(), 9u);
}

TEST_F(StageRounds, EndsEarlyWhenOneIsLeftAndTheLeastIsDone) {
  std::vector<StageResult> results(2);
  EXPECT_EQ(run(results, {1, 5}, {.seconds = 1e9, .least = 1}), 5);
  results = std::vector<StageResult>(2);
  EXPECT_EQ(run(results, {1, 5}, {.seconds = 1e9, .least = 12}), 12);
  EXPECT_EQ(results[1].samples.size(), 5u);
}

// ---- Repeats -----------------------------------------------------------------------------------

TEST(StageRepeats, FillASampleOfTwoHundredMicroseconds) {
  EXPECT_EQ(repeats_for_sample(10e-6, 30e-6, 1, 5), 20);
  EXPECT_EQ(repeats_for_sample(1e-3, 1e-3, 1, 5), 1);
  EXPECT_EQ(repeats_for_sample(0, 0, 1, 5), 1000);
}

TEST(StageRepeats, LeaveTimeForAllRounds) {
  // The other candidates take 1 ms per round. The budget has room for seven rounds of 10 repeats.
  EXPECT_EQ(repeats_for_sample(1e-6, 1e-3, 0.0701, 7 - Rounds::warm_ups), 10);
  EXPECT_EQ(repeats_for_sample(1e-6, 1, 0, 5), 1);
}

}  // namespace
}  // namespace nekbone_k
