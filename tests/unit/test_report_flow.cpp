// SPDX-License-Identifier: BSD-3-Clause
// Flows in the reports and in the verdict.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "report/report.hpp"
#include "report/report_json.hpp"
#include "report/verdict.hpp"
#include "support/contains.hpp"
#include "support/report_records.hpp"

namespace nekbone_k {
namespace {

FlowRow row(int step, double time) {
  FlowRow made;
  made.step = step;
  made.time = time;
  made.dt = 0.01;
  made.energy = 0.125 - 0.001 * step;
  made.enstrophy = 0.375;
  made.energy_loss = 0.1;
  made.dissipation = 0.2;
  made.divergence = 1e-3;
  made.cfl = 0.25;
  return made;
}

/// A flow that passed.
RunRecord flow_run() {
  RunRecord run = usual_run();
  run.input.problem = ProblemKind::flow;
  run.input.solver_order = 7;
  run.solve.reset();
  OrderRecord vectors = run.orders.front();
  vectors.tuning.kind = {3, Precision::double_};
  run.orders.insert(run.orders.begin(), vectors);
  AllReduceResult sum;
  sum.strategy = all_reduce_strategies().front();
  sum.available = sum.verified = sum.selected = true;
  AllReduceRecord& sums = run.all_reduce.emplace();
  sums.candidates = {sum};
  sums.selected = 0;
  FlowRecord& flow = run.flow.emplace();
  flow.order = 7;
  flow.elements = 512;
  flow.total_dofs = 175616;
  flow.viscosity = 0.000625;
  flow.vector_strategy = "host-put";
  flow.scalar_strategy = "host-pairwise";
  flow.all_reduce = "host-mpi";
  flow.start_steps = 19;
  flow.steps = 60;
  flow.counted_steps = 30;
  flow.seconds = 6;
  flow.step_seconds = 0.1;
  flow.parts = {0.01, 0.06, 0.02, 0.01};
  flow.pressure_iterations = 2.5;
  for (int r = 0; r <= 30; ++r) flow.rows.push_back(row(2 * r, 0.02 * r));
  flow.passed = true;
  flow.verdict = "all steps converged";
  return run;
}

TEST(ReportFlow, HasTheSeriesAndThePartsOfAStep) {
  const RunRecord run = flow_run();
  const std::string text = flow_text(*run.flow, ReportDetail::usual);
  EXPECT_TRUE(contains_words(text, "vectors by host-put, scalars by host-pairwise")) << text;
  EXPECT_TRUE(contains_words(text,
                             "100.0 ms: pressure 60.00 ms (60 %), velocity 20.00 ms (20 %), "
                             "advection 10.00 ms (10 %), rest 10.00 ms (10 %)"))
      << text;
  EXPECT_TRUE(contains_words(text, "60, of which 19 short ones at the beginning")) << text;
  EXPECT_TRUE(contains(text, "1.756 million points x steps per second")) << text;
  EXPECT_TRUE(contains_words(text, "PASS all steps converged")) << text;
  EXPECT_FALSE(contains(text, "reference")) << text;
  // The last row always, and not all of them.
  EXPECT_TRUE(contains(text, "\n   0.6 ")) << text;
  EXPECT_FALSE(contains(text, "\n  0.58 ")) << text;
  EXPECT_TRUE(contains(flow_text(*run.flow, ReportDetail::full), "\n  0.58 "));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(ReportFlow, ShowsWhatIsKnownOfTheError) {
  RunRecord run = flow_run();
  run.flow->error_max = 1e-4;
  run.flow->error_l2 = 2e-5;
  run.flow->reference_difference = 0.015;
  run.flow->reference_time = 8;
  run.flow->rows.back().reference = 0.376;
  const std::string text = flow_text(*run.flow, ReportDetail::usual);
  EXPECT_TRUE(contains_words(text, "1.000e-04 largest, 2.000e-05 in the L2 norm")) << text;
  EXPECT_TRUE(contains_words(text, "enstrophy differs by at most 1.5 %, at time 8")) << text;
  EXPECT_TRUE(contains(text, "0.376")) << text;
  const std::string closing = closing_text(run);
  EXPECT_TRUE(contains_words(closing, "order 7, 60 steps, 100.0 ms per step")) << closing;
  EXPECT_TRUE(contains_words(closing, "7, 3 values")) << closing;
}

TEST(ReportFlow, IsInTheJsonReport) {
  const RunRecord run = flow_run();
  const auto json = to_json(run);
  EXPECT_TRUE(json["solve"].is_null());
  const auto& flow = json["flow"];
  EXPECT_EQ(flow["steps"], 60);
  EXPECT_EQ(flow["parts_s"]["pressure"], 0.06);
  EXPECT_EQ(flow["series"].size(), 31u);
  EXPECT_TRUE(flow["series"][0]["energy_loss"].is_null());
  EXPECT_EQ(flow["series"][30]["step"], 60);
  EXPECT_TRUE(flow["relative_l2_error"].is_null());
  EXPECT_NEAR(flow["point_steps_per_s"].get<double>(), 1756160, 1);
  EXPECT_TRUE(to_json(usual_run())["flow"].is_null());
}

TEST(ReportFlow, AFailedStepFailsTheRun) {
  RunRecord run = flow_run();
  EXPECT_TRUE(has_passed(run));
  run.flow->passed = false;
  run.flow->verdict = "step 3 to time 0.1: the velocity is not finite";
  EXPECT_FALSE(has_passed(run));
  EXPECT_TRUE(contains_words(closing_text(run), "step 3 to time 0.1")) << closing_text(run);
  run.flow.reset();
  EXPECT_FALSE(has_passed(run)) << "the flow did not run";
}

TEST(ReportFlow, EveryTunedFieldMustBeRight) {
  RunRecord run = flow_run();
  run.orders.pop_back();
  EXPECT_FALSE(has_passed(run));
}

}  // namespace
}  // namespace nekbone_k
