// SPDX-License-Identifier: BSD-3-Clause
#include "flow/step_lengths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace nekbone_k {
namespace {

/// Keeps numbers in memory.
class NumberArchive final : public FlowArchive {
 public:
  bool restores = false;

  void number(const std::string& name, double& value) override {
    if (restores)
      value = m_kept.at(name);
    else
      m_kept[name] = value;
  }
  void numbers(const std::string&, std::vector<double>&) override { FAIL() << "not expected"; }
  void field(const std::string&, const DeviceVector<double>&) override { FAIL() << "no field"; }

 private:
  std::map<std::string, double> m_kept;
};

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
      lengths.archive(archive);
      StepLengths other(flow);
      archive.restores = true;
      other.archive(archive);
      EXPECT_EQ(all_steps(other, 30, stop, time), all_steps(lengths, 30, stop, time)) << cfl;
    }
  }
}

// A fluid at rest has no CFL number.
TEST(StepLengths, GoOnFromAnArchiveOfAFluidAtRest) {
  const FlowCase flow = flow_case(0.1, 1, 0.5);
  StepLengths lengths(flow);
  lengths.begin(0);
  NumberArchive archive;
  lengths.archive(archive);
  StepLengths other(flow);
  archive.restores = true;
  other.archive(archive);
  EXPECT_EQ(all_steps(other, 0), all_steps(lengths, 0));
  EXPECT_GT(other.n_start(), 0);
}

}  // namespace
}  // namespace nekbone_k
