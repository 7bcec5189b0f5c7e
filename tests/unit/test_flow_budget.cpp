// SPDX-License-Identifier: BSD-3-Clause
#include "flow_run/flow_budget.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/contains.hpp"
#include "support/report_records.hpp"

namespace nekbone_k {
namespace {

/// A flow on 4³ elements of order 5, with 69 steps unless changed.
Case flow_input(const std::vector<std::string>& overrides = {}) {
  return parse_case(
      "problem: flow\nmesh: {elements: [4, 4, 4], periodic: true}\nsolver: {order: 5}\n"
      "flow: {dt: 0.01, steps: 50}",
      "x.yaml", overrides, any_ranks);
}

constexpr double dofs = 64 * 125;

/// A machine on which a step of flow_input() should take `seconds`.
MachineRecord machine_with_step(double seconds) {
  MachineRecord machine;
  machine.bandwidth.copy = expected_step_seconds(dofs, 1, 0) / seconds;
  machine.bandwidth.triad = machine.bandwidth.copy / 2;
  return machine;
}

TEST(FlowBudget, CountsTheStepsThatAreLeft) {
  EXPECT_EQ(expected_steps(flow_input(), 0), 69);  // with 19 short ones
  EXPECT_EQ(expected_steps(flow_input(), 30), 39);
  EXPECT_EQ(expected_steps(flow_input(), 1000), 0);
  EXPECT_EQ(expected_steps(flow_input({"flow.steps=0", "flow.end_time=1"}), 0), 19 + 98);
  EXPECT_EQ(expected_steps(flow_input({"flow.time_order=1"}), 0), 50);
  // The earlier run may have taken more steps than this one takes in all.
  EXPECT_EQ(expected_steps(flow_input({"flow.steps=0", "flow.end_time=1"}), 5000, 0.5), 50);
  EXPECT_EQ(expected_steps(flow_input({"flow.steps=0", "flow.end_time=1"}), 5000, 1), 0);
}

TEST(FlowBudget, EstimatesTheStepsOfACflNumber) {
  const auto steps = [](const std::string& key) {
    return expected_steps(
        flow_input({"flow.steps=0", "flow.time_order=1", "flow.dt=1", "flow.end_time=100", key}),
        0);
  };
  const int usual = steps("flow.cfl=0.5");
  EXPECT_GT(usual, 100);  // dt is the longest step
  EXPECT_NEAR(steps("flow.cfl=0.25"), 2 * usual, 2);
  EXPECT_EQ(steps("flow.cfl=1000000"), 100);
  const auto with = [](const std::string& key) {
    return expected_steps(flow_input({"flow.steps=0", "flow.cfl=0.5", "flow.end_time=10", key}), 0);
  };
  EXPECT_GT(with("flow.translation=[3, 0, 0]"), with("flow.translation=0"));
  EXPECT_GT(with("mesh.elements=[8, 4, 4]"), with("mesh.elements=[4, 4, 4]"));
}

TEST(FlowBudget, ExpectsTheTimeOfBytesAndLaunches) {
  EXPECT_DOUBLE_EQ(expected_step_seconds(1e6, 4.8e9, 0), 1);
  EXPECT_DOUBLE_EQ(expected_step_seconds(2e6, 4.8e9, 0), 2);
  EXPECT_DOUBLE_EQ(expected_step_seconds(1e6, 9.6e9, 0), 0.5);
  EXPECT_DOUBLE_EQ(expected_step_seconds(0, 4.8e9, 1e-5), 4e-3);
}

TEST(FlowBudget, IsAPartOfTheCapWithinBounds) {
  EXPECT_DOUBLE_EQ(capped_budget(5, 2), 0.5);
  EXPECT_DOUBLE_EQ(capped_budget(500, 2), 2);
  EXPECT_DOUBLE_EQ(capped_budget(0, 2), least_tuning_budget);
  EXPECT_DOUBLE_EQ(capped_budget(0, 0.01), 0.01);  // never more than the input gives
  EXPECT_DOUBLE_EQ(capped_budget(500, 0), 0);
}

TEST(FlowBudget, IsAShareOfTheExpectedTime) {
  const FlowTuning tuning = plan_flow_tuning(flow_input(), machine_with_step(1), 0);
  EXPECT_EQ(tuning.expected_steps, 69);
  EXPECT_DOUBLE_EQ(tuning.step_seconds.value(), 1);
  EXPECT_DOUBLE_EQ(tuning.expected_seconds().value(), 69);
  EXPECT_DOUBLE_EQ(tuning.cap_seconds.value(), 6.9);
  EXPECT_DOUBLE_EQ(tuning.budget_seconds, 0.69);
  EXPECT_DOUBLE_EQ(tuning.grid_budget_seconds, 0.69);
  EXPECT_EQ(tuning.why_no_cap, "");

  const FlowTuning restarted = plan_flow_tuning(flow_input(), machine_with_step(1), 59);
  EXPECT_DOUBLE_EQ(restarted.cap_seconds.value(), 1);

  // A long flow has the budgets of the input, a short one the least.
  const FlowTuning long_flow = plan_flow_tuning(flow_input(), machine_with_step(100), 0);
  EXPECT_EQ(long_flow.budget_seconds, 2);
  EXPECT_EQ(long_flow.grid_budget_seconds, 1);
  const FlowTuning short_flow = plan_flow_tuning(flow_input(), machine_with_step(1e-3), 0);
  EXPECT_EQ(short_flow.budget_seconds, least_tuning_budget);
  const std::string grid = "gather_scatter.tuning.grid_budget_seconds=0.01";
  EXPECT_EQ(plan_flow_tuning(flow_input({grid}), machine_with_step(1), 0).grid_budget_seconds,
            0.01);
}

TEST(FlowBudget, HasNoCapWhereItWouldSurprise) {
  const auto check = [](const FlowTuning& tuning, double budget, const std::string& why) {
    EXPECT_FALSE(tuning.cap_seconds.has_value()) << why;
    EXPECT_EQ(tuning.budget_seconds, budget) << why;
    EXPECT_EQ(tuning.grid_budget_seconds, 1) << why;
    EXPECT_TRUE(contains(tuning.why_no_cap, why)) << tuning.why_no_cap;
  };
  const MachineRecord machine = machine_with_step(1e-3);
  const FlowTuning given =
      plan_flow_tuning(flow_input({"gather_scatter.tuning.budget_seconds=3"}), machine, 0);
  check(given, 3, "the input gives gather_scatter.tuning.budget_seconds");
  EXPECT_DOUBLE_EQ(given.expected_seconds().value(), 69e-3);
  check(plan_flow_tuning(flow_input({"gather_scatter.tuning.mode=cached"}), machine, 0), 2,
        "cached");
  const FlowTuning unknown = plan_flow_tuning(flow_input(), MachineRecord{}, 0);
  check(unknown, 2, "report.bandwidth");
  EXPECT_FALSE(unknown.expected_seconds().has_value());
}

TEST(FlowBudget, AddsUpAllTuning) {
  RunRecord run = flow_run();
  const double before = tuning_seconds(run);
  EXPECT_GT(before, 0);
  run.grid.tune_seconds += 1;
  run.grid.verify_seconds += 2;
  run.grid.plan_seconds += 4;
  run.all_reduce->verify_seconds += 8;
  run.all_reduce->tune_seconds += 16;
  run.orders[0].tuning.verify_seconds += 32;
  run.orders[1].tuning.tune_seconds += 64;
  run.flow->multigrid.emplace().tune_seconds = 128;
  EXPECT_DOUBLE_EQ(tuning_seconds(run), before + 255);
}

}  // namespace
}  // namespace nekbone_k
