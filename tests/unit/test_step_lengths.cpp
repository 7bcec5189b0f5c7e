// SPDX-License-Identifier: BSD-3-Clause
#include "flow/step_lengths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/number_archive.hpp"

namespace nekbone_k {
namespace {

FlowCase flow_case(double dt, double end_time, double cfl = 0, int steps = 0, int time_order = 3) {
  FlowCase flow;
  flow.dt = dt;
  flow.end_time = end_time;
  flow.cfl = cfl;
  flow.steps = steps;
  flow.time_order = time_order;
  return flow;
}

/// The lengths of all steps at a constant speed, from step `done` at `time` on.
std::vector<double> all_steps(StepLengths& lengths, double speed, int done = 0, double time = 0) {
  std::vector<double> steps;
  while (!lengths.is_end(done, time) && steps.size() < 1000) {
    steps.push_back(lengths.next(done, time, speed));
    time += steps.back();
    ++done;
  }
  return steps;
}

double sum(const std::vector<double>& steps) {
  double all = 0;
  for (const double step : steps) all += step;
  return all;
}

TEST(StepLengths, EndAtTheEndTime) {
  const FlowCase flow = flow_case(0.03, 1);  // 0.03 does not divide 1
  StepLengths lengths(flow);
  lengths.begin(10);
  const std::vector<double> steps = all_steps(lengths, 10);
  EXPECT_NEAR(sum(steps), 1, 1e-12);
  EXPECT_EQ(steps.size(), std::size_t(lengths.total()));
  EXPECT_EQ(steps.size(), std::size_t(lengths.n_start()) + 32);  // 34, of which two are short ones
  for (std::size_t s = lengths.n_start(); s < steps.size(); ++s)
    EXPECT_NEAR(steps[s], 1.0 / 34, 1e-15);
}

TEST(StepLengths, CountSteps) {
  for (const double cfl : {0.0, 0.4}) {
    const FlowCase flow = flow_case(0.01, 1, cfl, 5);
    StepLengths lengths(flow);
    lengths.begin(1);
    EXPECT_EQ(all_steps(lengths, 1).size(), std::size_t(lengths.n_start()) + 5);
  }
}

TEST(StepLengths, OfOrderOneHaveNoShortOnes) {
  const FlowCase flow = flow_case(0.25, 1, 0, 0, 1);
  StepLengths lengths(flow);
  lengths.begin(1);
  EXPECT_EQ(lengths.n_start(), 0);
  EXPECT_EQ(all_steps(lengths, 1), (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
}

// The CFL number is dt times the speed. A step grows by a fifth at most, and none exceeds flow.dt.
TEST(StepLengths, FollowTheCflNumber) {
  const FlowCase flow = flow_case(0.1, 3, 0.5);
  StepLengths lengths(flow);
  lengths.begin(50);
  int done = lengths.n_start();
  EXPECT_DOUBLE_EQ(lengths.next(done, 0.02, 50), 0.01);
  EXPECT_DOUBLE_EQ(lengths.next(++done, 0.03, 100), 0.005);
  double last = 0.005;
  for (int step = 0; step < 30; ++step) {
    const double dt = lengths.next(++done, 0.04, 1);
    EXPECT_LE(dt, 1.22 * last);  // all steps are a little shorter, to meet the end
    EXPECT_LE(dt, 0.1);
    last = dt;
  }
  EXPECT_NEAR(last, 0.1, 0.01);
  // The last steps are equal.
  const double rest = lengths.next(++done, 2.85, 1);
  EXPECT_NEAR(rest, 0.075, 1e-12);
}

TEST(StepLengths, GoOnFromAnArchive) {
  for (const double cfl : {0.0, 0.5}) {
    const FlowCase flow = flow_case(0.1, 1, cfl);
    for (const int stop : {3, 25}) {  // among the short ones, and after them
      StepLengths lengths(flow);
      lengths.begin(20);
      double time = 0;
      for (int done = 0; done < stop; ++done) time += lengths.next(done, time, 20 + done);
      NumberArchive archive;
      lengths.archive(archive, stop, time);
      StepLengths other(flow);
      archive.restores = true;
      other.archive(archive, stop, time);
      EXPECT_EQ(all_steps(other, 30, stop, time), all_steps(lengths, 30, stop, time)) << cfl;
    }
  }
}

/// A flow that stops after some steps and continues with another input.
struct Continued {
  double time = 0;            ///< at the stop
  std::vector<double> steps;  ///< after it
};
Continued go_on(const FlowCase& first, int stop, const FlowCase& second, double speed = 20) {
  StepLengths lengths(first);
  lengths.begin(speed);
  Continued flow;
  for (int done = 0; done < stop; ++done) flow.time += lengths.next(done, flow.time, speed);
  NumberArchive archive;
  lengths.archive(archive, stop, flow.time);
  StepLengths other(second);
  archive.restores = true;
  other.archive(archive, stop, flow.time);
  flow.steps = all_steps(other, speed, stop, flow.time);
  EXPECT_EQ(other.total(), stop + static_cast<int>(flow.steps.size()));
  return flow;
}

TEST(StepLengths, OfAnotherInputEndAtItsEndTime) {
  const auto check = [](const FlowCase& first, int stop, const FlowCase& second, std::size_t n) {
    const Continued flow = go_on(first, stop, second);
    EXPECT_NEAR(flow.time + sum(flow.steps), second.end_time, 1e-9) << n;
    EXPECT_EQ(flow.steps.size(), n);
    for (const double step : flow.steps) EXPECT_LE(step, second.dt * (1 + 1e-9));
  };
  constexpr int end = 19 + 48;                                      // of time 1 in steps of 0.02
  check(flow_case(0.02, 1), end, flow_case(0.04, 2), 25);           // longer steps
  check(flow_case(0.02, 1), end, flow_case(0.01, 2), 100);          // shorter ones
  check(flow_case(0.02, 1), 19 + 8, flow_case(0.03, 1), 27);        // 0.8 is left
  check(flow_case(0.3, 1), 19 + 2, flow_case(0.3, 2), 4);           // they were of 0.25
  check(flow_case(0.02, 1, 0.1), 19 + 58, flow_case(0.02, 1), 35);  // they were of 0.005
  check(flow_case(0.02, 1, 0, 5), 19 + 5, flow_case(0.02, 1), 43);  // from a number of steps
  check(flow_case(0.02, 1), 3, flow_case(0.02, 2), 16 + 98);        // among the short ones
  check(flow_case(0.02, 1, 0, 0, 1), 10, flow_case(0.04, 1, 0, 0, 1), 20);
}

TEST(StepLengths, OfAnotherInputKeepALengthThatFits) {
  const Continued flow = go_on(flow_case(0.1, 0.3), 19 + 1, flow_case(0.1, 0.7));
  EXPECT_EQ(flow.steps, std::vector<double>(4, 0.3 / 3));
}

// The second restart has the input of the first, and so the same steps.
TEST(StepLengths, OfAnotherInputStayTheSameAfterOneMoreRestart) {
  const FlowCase first = flow_case(0.02, 1), second = flow_case(0.03, 2);
  StepLengths lengths(first), changed(second), again(second);
  lengths.begin(20);
  double time = 0;
  int done = 0;
  for (; done < 30; ++done) time += lengths.next(done, time, 20);
  NumberArchive archive, later;
  lengths.archive(archive, done, time);
  archive.restores = true;
  changed.archive(archive, done, time);
  for (; done < 40; ++done) time += changed.next(done, time, 20);
  changed.archive(later, done, time);
  later.restores = true;
  again.archive(later, done, time);
  EXPECT_EQ(all_steps(again, 20, done, time), all_steps(changed, 20, done, time));
}

TEST(StepLengths, OfAnotherInputAreNoneIfItsEndIsOver) {
  for (const double end_time : {0.2, 1.0})
    for (const double dt : {0.02, 0.04})
      EXPECT_TRUE(go_on(flow_case(0.02, 1), 19 + 48, flow_case(dt, end_time)).steps.empty());
  // Steps by number count from the beginning of the flow.
  EXPECT_EQ(go_on(flow_case(0.02, 1), 19 + 8, flow_case(0.01, 1, 0, 10)).steps,
            (std::vector<double>{0.01, 0.01}));
}

// A fluid at rest has no CFL number.
TEST(StepLengths, GoOnFromAnArchiveOfAFluidAtRest) {
  const FlowCase flow = flow_case(0.1, 1, 0.5);
  StepLengths lengths(flow);
  lengths.begin(0);
  NumberArchive archive;
  lengths.archive(archive, 0, 0);
  StepLengths other(flow);
  archive.restores = true;
  other.archive(archive, 0, 0);
  EXPECT_EQ(all_steps(other, 0), all_steps(lengths, 0));
  EXPECT_GT(other.n_start(), 0);
}

}  // namespace
}  // namespace nekbone_k
