// SPDX-License-Identifier: BSD-3-Clause
// The terminal report and the JSON report of a flow.
#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "core/format.hpp"
#include "report/report.hpp"
#include "report/report_json.hpp"
#include "report/warnings.hpp"
#include "support/contains.hpp"
#include "support/report_records.hpp"

namespace nekbone_k {
namespace {

std::string text_of_flow(const RunRecord& run, ReportDetail detail = ReportDetail::usual) {
  return flow_text(*run.flow, run.machine.bandwidth, detail);
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The rows of the table of the flow over time, without its header.
std::vector<std::string> rows_in(const std::string& text) {
  const std::size_t header = text.find("max |div u|"), end = text.find("\n  series ");
  EXPECT_NE(header, std::string::npos) << text;
  EXPECT_NE(end, std::string::npos) << text;
  const std::size_t begin = text.find('\n', header) + 1;
  return split_lines(text.substr(begin, end + 1 - begin));
}

nlohmann::json json_of_flow(const RunRecord& run) {
  return nlohmann::json::parse(to_json(run).dump())["flow"];
}

TEST(ReportFlow, HasFiguresWithUnits) {
  const std::string text = text_of_flow(flow_run());
  EXPECT_TRUE(contains(text, "\n" + heading("Flow at order 7, viscosity 0.05"))) << text;
  EXPECT_TRUE(contains(text, "  size          64 elements, 21952 DOFs per component\n"));
  EXPECT_TRUE(contains_words(text,
                             "exchanges vectors by device-put, scalars by device-pairwise+overlap, "
                             "all-reduce host-mpi"));
  EXPECT_TRUE(contains(text, "\n  series        flow.csv\n"));
  EXPECT_TRUE(contains(
      text,
      "\n  steps         49, of which 19 short ones at the beginning; 5.500 s, set-up 125.0 ms\n"))
      << text;
  EXPECT_TRUE(
      contains_words(text,
                     "iterations pressure 7.2 from a residual of 8.0e-05, velocity 3.5 from "
                     "1.8e-02; means over the last 25 steps"))
      << text;
  EXPECT_TRUE(contains(text,
                       "\n  a step        100.0 ms\n"
                       "    pressure    60.00 ms, 63 %\n"
                       "    velocity    20.00 ms, 21 %\n"
                       "    advection   10.00 ms, 11 %\n"
                       "    rest        5.000 ms, 5 %\n"))
      << text;
  EXPECT_TRUE(contains(text, "\n  FOM           219520 points × steps/s\n")) << text;
  EXPECT_TRUE(contains(text, "3.000e-08 largest, 2.000e-08 in the L2 norm, relative to the exact"));
  EXPECT_TRUE(contains(text, "\n  checksum      0123456789abcdef, of the velocity's bits")) << text;
  EXPECT_TRUE(contains(text, "\n  PASS          all steps converged, near the exact solution\n"));
}

TEST(ReportFlow, ScalesItsFigureOfMerit) {
  RunRecord run = flow_run();
  run.flow->total_dofs = 89915392;
  run.flow->step_seconds = 0.02;
  EXPECT_TRUE(contains(text_of_flow(run), "\n  FOM           4.496 G points × steps/s\n"))
      << text_of_flow(run);
  EXPECT_EQ(run.flow->points_per_second(), 89915392 / 0.02);
}

TEST(ReportFlow, HasItsEnergyWhereItWasCounted) {
  RunRecord run = flow_run();
  EXPECT_FALSE(contains(text_of_flow(run), "\n  energy "));
  EXPECT_EQ(json_of_flow(run)["energy"]["j_per_step"], nullptr);
  EXPECT_EQ(json_of_flow(run)["energy"]["point_steps_per_j"], nullptr);
  run.flow->energy.packages = 1;
  run.flow->energy.package_joules = 98;
  EXPECT_TRUE(contains(text_of_flow(run),
                       "\n  energy        2.000 J per step, 1.098e-05 GDOF × steps/J; 1 CPU "
                       "package\n"))
      << text_of_flow(run);
  EXPECT_EQ(json_of_flow(run)["energy"]["cpu_packages_j"], 98);
  EXPECT_EQ(json_of_flow(run)["energy"]["gpus_j"], nullptr);
  EXPECT_EQ(json_of_flow(run)["energy"]["j_per_step"], 2);
  EXPECT_EQ(json_of_flow(run)["energy"]["point_steps_per_j"], 10976);
}

TEST(ReportFlow, HasTheBandwidthOfEachPart) {
  RunRecord run = flow_run();
  run.machine.bandwidth = {};
  run.flow->part_bytes = {.advection = 5e8, .pressure = 0.06 * 2e10, .velocity = 0, .other = 1e8};
  EXPECT_TRUE(contains(text_of_flow(run), "pressure    60.00 ms, 63 %; at least 20.00 GB/s\n"))
      << text_of_flow(run);
  run.machine.bandwidth.copy = 8e10;
  const std::string text = text_of_flow(run);
  EXPECT_TRUE(contains(text, "60.00 ms, 63 %; at least 20.00 GB/s, 25 % of the copy\n")) << text;
  EXPECT_TRUE(contains(text, "10.00 ms, 11 %; at least 50.00 GB/s, 62 % of the copy\n")) << text;
  EXPECT_TRUE(contains(text, "20.00 ms, 21 %\n")) << text;
  EXPECT_EQ(json_of_flow(run)["parts_bytes"]["advection"], 5e8);
  EXPECT_EQ(json_of_flow(run)["parts_bytes"]["velocity"], 0);
}

TEST(ReportFlow, HasWhatTuningTookAndItsCap) {
  RunRecord run = flow_run();
  FlowTuning& tuning = run.flow->tuning;
  EXPECT_TRUE(contains_words(
      text_of_flow(run),
      " tuning 1.125 s; cap 1.225 s, 10 % of 12.25 s expected for 49 steps steps 49, "))
      << text_of_flow(run);
  EXPECT_EQ(json_of_flow(run)["tuning"],
            nlohmann::json::parse(R"({"tune_s": 1.125, "expected_steps": 49,
                "expected_step_s": 0.25, "expected_s": 12.25, "cap_s": 1.225, "budget_s": 0.125,
                "no_cap": null})"));
  tuning.seconds = 1.5;
  EXPECT_TRUE(contains_words(text_of_flow(run),
                             "for 49 steps; verification and the minimum number of rounds took "
                             "longer"))
      << text_of_flow(run);

  tuning.cap_seconds.reset();
  tuning.why_no_cap = "the input gives a budget";
  EXPECT_TRUE(contains_words(text_of_flow(run),
                             "tuning 1.500 s; no cap, because the input gives a budget; 12.25 s "
                             "expected for 49 steps"))
      << text_of_flow(run);
  EXPECT_EQ(json_of_flow(run)["tuning"]["cap_s"], nullptr);
  EXPECT_EQ(json_of_flow(run)["tuning"]["no_cap"], "the input gives a budget");

  tuning.step_seconds.reset();
  EXPECT_TRUE(contains_words(text_of_flow(run), "because the input gives a budget steps 49"))
      << text_of_flow(run);
  EXPECT_EQ(json_of_flow(run)["tuning"]["expected_s"], nullptr);
}

TEST(ReportFlow, HasARowPerTime) {
  const std::vector<std::string> rows = rows_in(text_of_flow(flow_run()));
  ASSERT_EQ(rows.size(), 4u);
  std::istringstream first(rows[0]), last(rows[3]);
  const auto cells = [](std::istringstream& in) {
    std::vector<std::string> all;
    for (std::string cell; in >> cell;) all.push_back(cell);
    return all;
  };
  // Nothing was lost before the beginning.
  EXPECT_EQ(cells(first),
            (std::vector<std::string>{"0", "2.125", "1.5", "-", "1.5000e-01", "1.0e-06", "0.375"}));
  EXPECT_EQ(cells(last), (std::vector<std::string>{"0.75", "1.75", "1.3125", "5.0000e-01",
                                                   "1.3125e-01", "1.0e-06", "0.375"}));
}

TEST(ReportFlow, ShowsEveryFewRowsAndTheLast) {
  RunRecord run = flow_run();
  const FlowRow row = run.flow->rows.back();
  for (int i = 4; i <= 100; ++i) {
    run.flow->rows.push_back(row);
    run.flow->rows.back().time = 0.25 * i;
  }
  const std::vector<std::string> some = rows_in(text_of_flow(run));
  EXPECT_GE(some.size(), 6u);
  EXPECT_LE(some.size(), 12u);
  EXPECT_TRUE(contains(some.back(), " 25 ")) << some.back();
  EXPECT_EQ(rows_in(text_of_flow(run, ReportDetail::full)).size(), 101u);
}

TEST(ReportFlow, StandsBesideItsReference) {
  RunRecord run = flow_run();
  EXPECT_FALSE(contains(text_of_flow(run), "reference"));
  run.flow->rows[1].reference = 1.4375;
  run.flow->reference_difference = 0.0125;
  run.flow->reference_time = 0.25;
  run.flow->error_l2.reset();
  run.flow->error_max.reset();
  const std::string text = text_of_flow(run);
  EXPECT_TRUE(contains(text, " enstrophy  reference      -dE/dt")) << text;
  EXPECT_TRUE(contains(rows_in(text)[1], " 1.4375     1.4375  5.0000e-01 ")) << text;
  EXPECT_TRUE(contains(rows_in(text)[2], " 1.375          -  5.0000e-01 ")) << text;
  EXPECT_TRUE(
      contains(text, "\n  reference     enstrophy differs by at most 1.25 %, at time 0.25\n"))
      << text;
  EXPECT_FALSE(contains(text, "exact solution,"));
  EXPECT_FALSE(contains(text, "  error "));
  EXPECT_TRUE(contains(closing_text(run), "enstrophy differs by at most 1.25 %, at time 0.25"));
}

TEST(ReportFlow, OfFirstOrderHasNoShortSteps) {
  RunRecord run = flow_run();
  run.flow->start_steps = 0;
  EXPECT_TRUE(contains(text_of_flow(run), "\n  steps         49; 5.500 s")) << text_of_flow(run);
}

TEST(ReportFlow, ThatFailedSaysWhy) {
  RunRecord run = flow_run();
  run.passed = run.flow->passed = false;
  run.flow->verdict = "step 22 to time 0.04: the velocity is not finite";
  run.flow->error_l2.reset();
  run.flow->error_max.reset();
  EXPECT_TRUE(contains(text_of_flow(run),
                       "\n  FAIL          step 22 to time 0.04: the velocity is not finite\n"));
  EXPECT_FALSE(contains(text_of_flow(run), "PASS"));
  EXPECT_TRUE(contains_words(closing_text(run),
                             "FAIL flow: step 22 to time 0.04: the velocity is not finite; "));

  // Before the first step.
  run.flow->steps = run.flow->counted_steps = 0;
  run.flow->rows.resize(1);
  run.flow->verdict = "no V-cycle helps";
  const std::string text = text_of_flow(run);
  EXPECT_EQ(rows_in(text).size(), 1u);
  for (const char* const label : {"  steps ", "  a step ", "  FOM ", "  iterations "})
    EXPECT_FALSE(contains(text, label)) << text;
  EXPECT_TRUE(contains(text, "\n  FAIL          no V-cycle helps\n"));
  EXPECT_FALSE(contains(closing_text(run), "FOM"));
}

TEST(ReportFlow, IsInTheResult) {
  const std::string text = closing_text(flow_run());
  EXPECT_TRUE(contains(text, "  7, 3 values  device-pairwise+overlap")) << text;
  EXPECT_TRUE(contains(text, "  flow          order 7, 49 steps, 100.0 ms per step\n"));
  EXPECT_TRUE(contains(text, "  FOM           219520 points × steps/s\n"));
  EXPECT_TRUE(contains(text, "  error         3.000e-08 largest, 2.000e-08 in the L2 norm"));
  EXPECT_TRUE(contains_words(text, "PASS flow: all steps converged, near the exact solution; "));
}

TEST(ReportFlow, IsInTheHeader) {
  const std::string text = header_text(flow_run());
  EXPECT_TRUE(contains(text, "  problem       flow from abc, viscosity 0.05, geometry stored\n"))
      << text;
  EXPECT_FALSE(contains(text, "lambda"));
}

// A flow tunes exchanges of two fields at one order.
TEST(ReportFlow, TellsItsFieldsApart) {
  RunRecord run = flow_run();
  EXPECT_TRUE(contains(order_text(run.orders[0]), heading("Order 7, 3 values per DOF")));
  EXPECT_TRUE(contains(order_text(run.orders[1]), heading("Order 7")));
  EXPECT_EQ(slow_kernels(run.orders), "");
  for (OrderRecord& order : run.orders) order.compiled = false;
  EXPECT_TRUE(contains(slow_kernels(run.orders), "order 7 used the kernel"));

  run.flow.reset();
  run.passed = false;
  for (OrderRecord& order : run.orders)
    for (CandidateResult& c : order.tuning.candidates) {
      c.available = c.verified = false;
      c.failure = "no network";
    }
  EXPECT_TRUE(contains_words(closing_text(run), "no strategy is available at order 7: "))
      << closing_text(run);
}

TEST(ReportFlow, FitsATerminal) {
  RunRecord run = flow_run();
  FlowRecord& flow = *run.flow;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  flow.vector_strategy = std::string(60, 'v');
  flow.scalar_strategy = std::string(60, 's');
  flow.series = std::string(150, 'f');
  flow.verdict = "the error is large; " + std::string(120, 'w');
  flow.seconds = flow.step_seconds = 1e12;
  flow.total_dofs = std::int64_t{1} << 60;
  flow.rows[1].energy = -1.2345678e-300;
  flow.rows[1].enstrophy = 1.2345678e300;
  flow.rows[1].reference = 1.2345678e300;
  flow.rows[1].time = 1.2345e-10;
  flow.rows[2].energy = flow.rows[2].divergence = flow.rows[2].cfl = nan;
  flow.rows[3].energy_loss = -1e-300;
  flow.rows[3].cfl = 1e9;
  for (const std::string& text : {text_of_flow(run), closing_text(run), text_of_flow(flow_run())})
    for (const std::string& line : split_lines(text)) {
      EXPECT_LE(text_width(line), report_width) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
    }
}

TEST(ReportFlow, IsInTheJson) {
  EXPECT_TRUE(nlohmann::json::parse(to_json(usual_run()).dump())["flow"].is_null());
  RunRecord run = flow_run();
  EXPECT_TRUE(nlohmann::json::parse(to_json(run).dump())["solve"].is_null());
  auto json = json_of_flow(run);
  EXPECT_EQ(json["order"], 7);
  EXPECT_EQ(json["elements"], 64);
  EXPECT_EQ(json["total_dofs"], 21952);
  EXPECT_EQ(json["vector_strategy"], "device-put");
  EXPECT_EQ(json["scalar_strategy"], "device-pairwise+overlap");
  EXPECT_EQ(json["all_reduce"], "host-mpi");
  EXPECT_TRUE(json["multigrid"].is_null());
  EXPECT_EQ(json["setup_s"], 0.125);
  EXPECT_EQ(json["start_steps"], 19);
  EXPECT_EQ(json["steps"], 49);
  EXPECT_EQ(json["steps_s"], 5.5);
  EXPECT_EQ(json["counted_steps"], 25);
  EXPECT_EQ(json["step_s"], 0.1);
  EXPECT_EQ(json["parts_s"]["advection"], 0.01);
  EXPECT_EQ(json["parts_s"]["pressure"], 0.06);
  EXPECT_EQ(json["parts_s"]["velocity"], 0.02);
  EXPECT_EQ(json["parts_s"]["other"], 0.005);
  EXPECT_EQ(json["pressure_iterations"], 7.25);
  EXPECT_EQ(json["velocity_iterations"], 3.5);
  EXPECT_EQ(json["pressure_first_residual"], 8e-5);
  EXPECT_EQ(json["velocity_first_residual"], 1.75e-2);
  EXPECT_EQ(json["pressure_projected"], 0.96);
  EXPECT_EQ(json["velocity_projected"], 0);
  EXPECT_EQ(json["point_steps_per_s"], 219520);
  EXPECT_EQ(json["relative_max_error"], 3e-8);
  EXPECT_EQ(json["relative_l2_error"], 2e-8);
  EXPECT_TRUE(json["reference_difference"].is_null());
  EXPECT_EQ(json["checksum"], "0123456789abcdef");
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["verdict"], "all steps converged, near the exact solution");

  ASSERT_EQ(json["series"].size(), 4u);
  // Nothing precedes the beginning.
  EXPECT_EQ(json["series"][0]["step"], 0);
  EXPECT_TRUE(json["series"][0]["energy_loss"].is_null());
  EXPECT_TRUE(json["series"][0]["step_s"].is_null());
  const auto& row = json["series"][3];
  EXPECT_EQ(row["step"], 49);
  EXPECT_EQ(row["time"], 0.75);
  EXPECT_EQ(row["dt"], 0.025);
  EXPECT_EQ(row["energy"], 1.75);
  EXPECT_EQ(row["enstrophy"], 1.3125);
  EXPECT_TRUE(row["reference_enstrophy"].is_null());
  EXPECT_EQ(row["energy_loss"], 0.5);
  EXPECT_EQ(row["dissipation"], 0.1 * 1.3125);
  EXPECT_EQ(row["max_divergence"], 1e-6);
  EXPECT_EQ(row["cfl"], 0.375);
  EXPECT_EQ(row["mean_velocity"], (std::vector<double>{1, 0.5, 0.25}));
  EXPECT_EQ(row["pressure_iterations"], 7);
  EXPECT_EQ(row["velocity_iterations"], 3);
  EXPECT_EQ(row["step_s"], 0.1);

  run.flow->rows[3].reference = 1.25;
  run.flow->reference_difference = 0.05;
  run.flow->error_max.reset();
  run.flow->error_l2.reset();
  run.flow->checksum.reset();
  run.flow->multigrid.emplace();
  json = json_of_flow(run);
  EXPECT_EQ(json["series"][3]["reference_enstrophy"], 1.25);
  EXPECT_EQ(json["reference_difference"], 0.05);
  EXPECT_TRUE(json["relative_max_error"].is_null());
  EXPECT_TRUE(json["relative_l2_error"].is_null());
  EXPECT_TRUE(json["checksum"].is_null());
  EXPECT_TRUE(json["multigrid"].is_object());
}

TEST(ReportFlow, HasNullForWhatIsNoNumber) {
  RunRecord run = flow_run();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  run.flow->rows[2].energy = nan;
  run.flow->rows[2].cfl = std::numeric_limits<double>::infinity();
  run.flow->pressure_first_residual = nan;
  run.flow->error_l2 = nan;
  run.flow->step_seconds = 0;  // no step
  const auto json = json_of_flow(run);
  EXPECT_TRUE(json["series"][2]["energy"].is_null());
  EXPECT_TRUE(json["series"][2]["cfl"].is_null());
  EXPECT_TRUE(json["pressure_first_residual"].is_null());
  EXPECT_TRUE(json["relative_l2_error"].is_null());
  EXPECT_EQ(json["point_steps_per_s"], 0);
}

}  // namespace
}  // namespace nekbone_k
