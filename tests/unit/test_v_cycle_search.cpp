// SPDX-License-Identifier: BSD-3-Clause
#include "selection/v_cycle_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace nekbone_k {
namespace {

/// Residuals that fall by `first` digits in the first iteration, then by `digits` in each.
std::vector<double> residuals(int iterations, double first, double digits) {
  std::vector<double> history{1};
  for (int i = 1; i <= iterations; ++i) history.push_back(std::pow(10, -first - (i - 1) * digits));
  return history;
}

// ---- The rate of convergence -------------------------------------------------------------------

TEST(VCycleSearchConvergence, CountsFromWhereTheResidualFellTenfold) {
  const Convergence found(residuals(21, 1.2, 0.05));
  EXPECT_NEAR(found.fall, 2.2, 1e-12);
  EXPECT_NEAR(found.digits, 0.05, 1e-12);  // not 2.2 / 21
  EXPECT_TRUE(found.is_known);
  EXPECT_TRUE(found.is_settled);
}

TEST(VCycleSearchConvergence, IsNotKnownFromTheFirstIterations) {
  const Convergence found(residuals(12, 1.2, 0.05));
  EXPECT_NEAR(found.fall, 1.75, 1e-12);
  EXPECT_FALSE(found.is_known);
  const Convergence slow(residuals(4, 0.2, 0.1));
  EXPECT_NEAR(slow.digits, 0.5 / 4, 1e-12);  // of all iterations
  EXPECT_FALSE(slow.is_known);
}

TEST(VCycleSearchConvergence, IsKnownEarlyIfItIsFast) {
  const Convergence found(residuals(4, 1, 1));
  EXPECT_NEAR(found.digits, 1, 1e-12);
  EXPECT_TRUE(found.is_known);
  EXPECT_FALSE(found.is_settled);
  EXPECT_TRUE(Convergence(residuals(7, 1, 1)).is_settled);
  EXPECT_TRUE(Convergence({1, 1e-9}).is_settled);  // a whole sample
  EXPECT_NEAR(Convergence({1, 0}).digits, 16, 1e-12);
}

TEST(VCycleSearchConvergence, HasNoDigitsWithoutIterations) {
  for (const std::vector<double>& history : {std::vector<double>{}, {1}, {0, 0}, {1, NAN}}) {
    const Convergence found(history);
    EXPECT_EQ(found.digits, 0);
    EXPECT_FALSE(found.is_known);
  }
  EXPECT_LT(Convergence({1, 10}).fall, 0);
}

TEST(VCycleSearchTrial, EndsWhenTheRateIsSettled) {
  const TrialLimits limits{.seconds = 100, .share = 50};
  EXPECT_EQ(end_of_trial(residuals(6, 1, 1), limits, 1), std::nullopt);
  EXPECT_EQ(end_of_trial(residuals(7, 1, 1), limits, 1), TrialEnd::measured);
  // Once it took its share, a known rate is enough, but no other.
  EXPECT_EQ(end_of_trial(residuals(4, 1, 1), limits, 20), TrialEnd::measured);
  EXPECT_EQ(end_of_trial(residuals(4, 1, 0.1), limits, 20), std::nullopt);
  EXPECT_EQ(end_of_trial(residuals(3, 1, 1), limits, 1000), std::nullopt);  // too few
}

TEST(VCycleSearchTrial, IsUnfinishedIfTheTimeEnds) {
  const TrialLimits limits{.seconds = 10, .share = 1};
  EXPECT_EQ(end_of_trial(residuals(9, 1, 0.05), limits, 1), std::nullopt);
  EXPECT_EQ(end_of_trial(residuals(10, 1, 0.05), limits, 1), TrialEnd::unfinished);
  EXPECT_EQ(end_of_trial(residuals(11, 1, 0.1), limits, 1), TrialEnd::measured);  // two digits
}

TEST(VCycleSearchTrial, EndsWhenAnotherIsCertainlyFaster) {
  const TrialLimits limits{.seconds = 1000, .share = 100, .best = 4};
  // 1.5 digits in 6 iterations: 4 s per digit, and later ones take longer.
  EXPECT_EQ(end_of_trial(residuals(6, 1, 0.1), limits, 1), std::nullopt);
  EXPECT_EQ(end_of_trial(residuals(6, 1, 0.1), limits, 1.6), TrialEnd::slower);
  EXPECT_EQ(end_of_trial(residuals(6, -1, 0), limits, 1), TrialEnd::slower);
}

TEST(VCycleSearchTrial, FailsIfItGainsNothing) {
  const TrialLimits limits{.seconds = 1000, .share = 1000};
  EXPECT_EQ(end_of_trial(residuals(99, 0.5, 1e-4), limits, 1), std::nullopt);
  EXPECT_EQ(end_of_trial(residuals(100, 0.5, 1e-4), limits, 1), TrialEnd::failed);
}

// ---- The search --------------------------------------------------------------------------------

/// A machine that pretends to run V-cycles.
struct Machine {
  std::function<double(const MultigridMethod&)> digits;             ///< 0: CG breaks down
  std::function<double(const MultigridMethod&)> iteration_seconds;  ///< at most
  double setup_seconds = 0.01;
  double clock = 0;
  std::vector<MultigridMethod> tried{};

  MultigridCandidate try_out(const MultigridMethod& method, const TrialLimits& limits) {
    tried.push_back(method);
    MultigridCandidate candidate;
    candidate.iteration_seconds = iteration_seconds(method);
    const double rate = digits(method);
    clock += setup_seconds;
    if (!(rate > 0)) {
      candidate.trial = TrialEnd::failed;
      return candidate;
    }
    std::optional<TrialEnd> end;
    std::vector<double> history;
    for (int i = 1; !end; ++i) {
      history = residuals(i, 0.5, rate);
      end = end_of_trial(history, limits, candidate.iteration_seconds);
    }
    candidate.trial = *end;
    candidate.digits = Convergence(history).digits;
    clock += candidate.iteration_seconds * static_cast<double>(history.size() - 1);
    candidate.verified = true;
    if (*end == TrialEnd::measured) candidate.once = candidate.iteration_seconds / candidate.digits;
    return candidate;
  }
};

/// What the input leaves open by default.
MultigridChoices all_choices() {
  return {{{7, 3, 1}, {7, 5, 3, 1}},
          {SmootherKind::jacobi, SmootherKind::schwarz},
          {ChebyshevKind::optimized_fourth, ChebyshevKind::first, ChebyshevKind::fourth},
          {3, 2, 4, 1, 5, 6},
          {Precision::single, Precision::double_}};
}

VCycleSearch searched(Machine& machine, const MultigridChoices& choices, double budget = 2) {
  return {choices,
          {.seconds = budget, .first_seconds = budget},
          [&](const MultigridMethod& method, const TrialLimits& limits) {
            return machine.try_out(method, limits);
          },
          [&] { return machine.clock; }};
}

bool is_schwarz(const MultigridMethod& method) { return method.smoother == SmootherKind::schwarz; }

/// Each degree costs as much as an operator; Schwarz and doubles twice as much.
double usual_cost(const MultigridMethod& method) {
  return 1e-3 * (1 + method.degree) * (is_schwarz(method) ? 2 : 1) *
         (method.precision == Precision::double_ ? 2 : 1);
}

/// Jacobi hardly helps on stretched elements.
double stretched(const MultigridMethod& method) {
  return (is_schwarz(method) ? 0.15 : 0.02) * method.degree;
}

TEST(VCycleSearch, TriesDegreesFirstWhereTheDefaultConvergesWell) {
  const MultigridChoices choices = all_choices();
  Machine machine{[](const MultigridMethod& m) { return is_schwarz(m) ? 1.2 : 1.0; }, usual_cost};
  const VCycleSearch found = searched(machine, choices);
  EXPECT_EQ(machine.tried.front(), choices.first());
  EXPECT_EQ(machine.tried[1].degree, 2);
  EXPECT_FALSE(found.budget_ended());
  EXPECT_EQ(machine.tried.size(), found.candidates().size());
  const MultigridCandidate& best = found.candidates()[found.best()];
  EXPECT_EQ(best.method.degree, 1);  // all degrees converge equally here
  EXPECT_EQ(best.method.smoother, SmootherKind::jacobi);
  EXPECT_EQ(best.method.precision, Precision::single);
}

TEST(VCycleSearch, TriesSchwarzSecondWhereTheDefaultConvergesPoorly) {
  const MultigridChoices choices = all_choices();
  Machine machine{stretched, usual_cost};
  const VCycleSearch found = searched(machine, choices);
  MultigridMethod robust = choices.first();
  robust.smoother = SmootherKind::schwarz;
  ASSERT_GE(machine.tried.size(), 3u);
  EXPECT_EQ(machine.tried[1], robust);
  EXPECT_EQ(machine.tried[2].degree, 4);  // higher degrees before lower ones
  const MultigridCandidate& best = found.candidates()[found.best()];
  EXPECT_TRUE(is_schwarz(best.method));
  EXPECT_EQ(best.trial, TrialEnd::measured);
  EXPECT_EQ(best.method.degree, 6);
}

TEST(VCycleSearch, TakesTheRobustOneIfTheBudgetEndsBeforeAnyRateIsKnown) {
  const MultigridChoices choices = all_choices();
  Machine machine{stretched, [](const MultigridMethod& m) { return 300 * usual_cost(m); }};
  const VCycleSearch found = searched(machine, choices);
  EXPECT_TRUE(found.budget_ended());
  const MultigridCandidate& best = found.candidates()[found.best()];
  MultigridMethod robust = choices.first();
  robust.smoother = SmootherKind::schwarz;
  EXPECT_EQ(best.method, robust);
  EXPECT_EQ(best.trial, TrialEnd::unfinished);
}

TEST(VCycleSearch, JudgesNoneByATrialThatWasCutOff) {
  // The first iterations of low degrees look best, as on Kershaw's map.
  for (const double scale : {1.0, 10.0, 30.0, 100.0, 300.0}) {
    const MultigridChoices choices = all_choices();
    Machine machine{stretched, [&](const MultigridMethod& m) { return scale * usual_cost(m); }};
    const VCycleSearch found = searched(machine, choices);
    for (const MultigridCandidate& c : found.candidates())
      if (c.once > 0) {
        EXPECT_NEAR(c.digits, stretched(c.method), 1e-9) << name(c.method);
      }
    EXPECT_TRUE(is_schwarz(found.candidates()[found.best()].method)) << scale;
  }
}

TEST(VCycleSearch, NamesWhatTheBudgetLeftOut) {
  const MultigridChoices choices = all_choices();
  Machine machine{[](const MultigridMethod&) { return 1.0; }, usual_cost};
  machine.setup_seconds = 1.5;
  const VCycleSearch found = searched(machine, choices);
  EXPECT_TRUE(found.budget_ended());
  EXPECT_EQ(machine.tried.size(), 3u);  // the default is free
  for (std::size_t c = 3; c < found.candidates().size(); ++c) {
    EXPECT_FALSE(found.candidates()[c].tried());
    EXPECT_EQ(found.candidates()[c].failure, "not tried: the time for tuning was used up");
  }
}

TEST(VCycleSearch, KnowsTheFirstRateEvenIfItHasNoTimeForOthers) {
  const MultigridChoices choices = all_choices();
  Machine machine{[](const MultigridMethod&) { return 1.0; }, usual_cost};
  const VCycleSearch found{choices,
                           {.seconds = 0, .first_seconds = 2},
                           [&](const MultigridMethod& method, const TrialLimits& limits) {
                             return machine.try_out(method, limits);
                           },
                           [&] { return machine.clock; }};
  EXPECT_EQ(machine.tried.size(), 1u);
  EXPECT_TRUE(found.budget_ended());
  EXPECT_EQ(found.best(), 0u);
  EXPECT_EQ(found.candidates()[0].trial, TrialEnd::measured);
}

TEST(VCycleSearch, TriesDoublesIfCgBreaksDownWithFloats) {
  const MultigridChoices choices = all_choices();
  Machine machine{
      [](const MultigridMethod& m) { return m.precision == Precision::double_ ? 1.0 : 0.0; },
      usual_cost};
  const VCycleSearch found = searched(machine, choices, /*budget=*/0);
  ASSERT_EQ(machine.tried.size(), 2u);  // both are free
  EXPECT_EQ(found.candidates()[found.best()].method.precision, Precision::double_);
}

TEST(VCycleSearch, FindsNoneIfAllFail) {
  const MultigridChoices choices = all_choices();
  Machine machine{[](const MultigridMethod&) { return 0.0; }, usual_cost};
  const VCycleSearch found = searched(machine, choices);
  EXPECT_FALSE(found.candidates()[found.best()].verified);
  EXPECT_EQ(found.best(), 0u);
}

TEST(VCycleSearch, KeepsWhatTheInputPins) {
  MultigridChoices choices = all_choices();
  choices.smoothers = {SmootherKind::jacobi};
  choices.degrees = {2};
  Machine machine{stretched, [](const MultigridMethod& m) { return 300 * usual_cost(m); }};
  const VCycleSearch found = searched(machine, choices);
  for (const MultigridMethod& method : machine.tried) {
    EXPECT_FALSE(is_schwarz(method));
    EXPECT_EQ(method.degree, 2);
  }
  EXPECT_EQ(found.candidates()[found.best()].method, choices.first());
}

}  // namespace
}  // namespace nekbone_k
