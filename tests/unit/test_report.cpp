// SPDX-License-Identifier: BSD-3-Clause
// The terminal report, and the JSON report in memory.
#include "report/report.hpp"
#include "report/report_json.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "machine/limits.hpp"
#include "support/contains.hpp"
#include "support/report_records.hpp"

namespace nekbone_k {
namespace {

std::string whole_text(const RunRecord& r) {
  std::string text = header_text(r);
  if (r.machine.transfers) text += transfers_text(*r.machine.transfers);
  if (r.machine.paths) text += paths_text(*r.machine.paths);
  text += grid_text(r.grid, r.machine.ranks) + would_divide_text(r.grid, 1, r.machine.ranks);
  for (const OrderRecord& order : r.orders) text += order_text(order);
  if (r.solve)
    text += solve_text(*r.solve, r.machine, ReportDetail::full) + comparisons_text(*r.solve);
  return text + means_text(r.orders) + closing_text(r);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The first line that contains `part`.
std::string line_with(const std::string& text, const std::string& part) {
  for (const std::string& line : lines_of(text))
    if (line.find(part) != std::string::npos) return line;
  ADD_FAILURE() << "no line with '" << part << "' in\n" << text;
  return "";
}

// The text without line breaks.
std::string unbroken(const std::string& text) {
  std::istringstream in(text);
  std::string all;
  for (std::string word; in >> word;) all += ' ' + word;
  return all;
}

struct NamedRun {
  const char* name;
  RunRecord (*make)();
};

class ReportWidth : public testing::TestWithParam<NamedRun> {};

TEST_P(ReportWidth, NoLineIsWiderThanATerminal) {
  const std::string text = whole_text(GetParam().make());
  EXPECT_EQ(text.back(), '\n');
  for (const std::string& line : lines_of(text)) {
    EXPECT_LE(text_width(line), 100u) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Records, ReportWidth,
                         testing::Values(NamedRun{"usual", usual_run},
                                         NamedRun{"one_rank", one_rank_run},
                                         NamedRun{"wrong_candidate", wrong_candidate_run},
                                         NamedRun{"nothing_right", nothing_right_run},
                                         NamedRun{"broken_down", broken_down_run},
                                         NamedRun{"extreme", extreme_run}),
                         [](const auto& run) { return run.param.name; });

TEST(ReportHeader, GroupsEqualRanks) {
  const std::string text = header_text(usual_run());
  EXPECT_TRUE(contains(text, "commit 0123abc"));
  EXPECT_TRUE(contains(text, "  ranks         4 on 2 nodes, 2 per node\n"));
  EXPECT_TRUE(contains(text,
                       "  hosts         ranks 0-1: node1\n"
                       "                ranks 2-3: node2\n"));
  EXPECT_TRUE(contains(text, "  devices       ranks 0-3: host\n"));
  EXPECT_TRUE(contains(text,
                       "  cores         ranks 0, 2: 0-1\n"
                       "                ranks 1, 3: 2-3\n"));
  EXPECT_TRUE(
      contains(text, "  memory        copy 100.0 GB/s, triad 80.00 GB/s, read plus written"));
  EXPECT_FALSE(contains(text, "WARNING"));
}

TEST(ReportSolve, SaysWhatDeterminismCosts) {
  RunRecord run = usual_run();
  EXPECT_FALSE(contains(header_text(run), "deterministic"));
  EXPECT_FALSE(contains(solve_text(*run.solve, run.machine, ReportDetail::usual), "checksum"));
  EXPECT_TRUE(to_json(run)["solve"]["checksum"].is_null());
  EXPECT_TRUE(to_json(run)["solve"]["determinism"].is_null());

  changed_input(run).summation = Summation::deterministic;
  run.solve->checksum = 0x0123456789abcdef;
  run.solve->summation_cost = {
      .deterministic_seconds = 3e-3, .ordinary_seconds = 2e-3, .rounds = 7, .iterations = 5};
  EXPECT_TRUE(contains(header_text(run), "  sums          deterministic"));
  const std::string text =
      solve_text(*run.solve, run.machine, ReportDetail::usual) + comparisons_text(*run.solve);
  EXPECT_TRUE(contains(line_with(text, "checksum"), "0123456789abcdef"));
  EXPECT_TRUE(contains(line_with(text, "determinism"), "3.000 ms per iteration")) << text;
  EXPECT_TRUE(contains(text, "1.50 times")) << text;
  const auto solve = to_json(run)["solve"];
  EXPECT_EQ(solve["checksum"], "0123456789abcdef");
  EXPECT_EQ(solve["determinism"]["ratio"], 1.5);
  EXPECT_EQ(to_json(run)["input"]["deterministic"], true);
}

TEST(ReportHeader, HasTheCpuQuotasWhereThereAreAny) {
  RunRecord run = usual_run();
  run.machine.cpu_quota.assign(4, unlimited);
  EXPECT_FALSE(contains(header_text(run), "quota"));
  EXPECT_TRUE(to_json(run)["machine"]["cpu_quota"][0].is_null());
  run.machine.cpu_quota = {1, 1.5, 1, unlimited};
  EXPECT_TRUE(contains(header_text(run),
                       "  CPU quota     ranks 0, 2: 1 CPU's worth of time, by its control group\n"
                       "                rank 1: 1.5 CPUs' worth of time, by its control group\n"
                       "                rank 3: none\n"))
      << header_text(run);
  EXPECT_EQ(to_json(run)["machine"]["cpu_quota"].dump(), "[1.0,1.5,1.0,null]");
}

TEST(ReportHeader, KeepsTheFirstLineOfTheMpiVersionAndSaysHowManyHostsItLeavesOut) {
  const std::string text = header_text(extreme_run());
  EXPECT_TRUE(contains(text, "  MPI           MPICH Version: 4.0.2\n"));
  EXPECT_FALSE(contains(text, "ch4"));
  EXPECT_TRUE(contains(text, "and 1488 more: machine.hosts of the JSON report"));
  EXPECT_TRUE(contains(text, "WARNING"));
}

TEST(ReportHeader, HasTheVersionsOfTheLibrariesThatTheBuildHas) {
  RunRecord run = usual_run();
  EXPECT_FALSE(contains(header_text(run), "libraries"));
  run.machine.libraries = {"CUDA 13.0", "CUDA 13.1", "2.28.9", ""};
  EXPECT_TRUE(contains(header_text(run),
                       "  libraries     CUDA 13.0, driver for up to CUDA 13.1, NCCL 2.28.9\n"));
  const auto json = nlohmann::json::parse(to_json(run).dump())["machine"]["libraries"];
  EXPECT_EQ(json["device_runtime"], "CUDA 13.0");
  EXPECT_EQ(json["device_driver"], "CUDA 13.1");
  EXPECT_EQ(json["nccl"], "2.28.9");
  EXPECT_EQ(json["nvshmem"], nullptr);
}

// ---- MPI transfers -----------------------------------------------------------------------------

TEST(ReportTransfers, StandBesideWhatMpiClaims) {
  TransferRecord transfers = usual_transfers();
  EXPECT_EQ(transfers_text(transfers),
            "  MPI transfers host memory, 18 of 18 right; MPIX_Query_cuda_support says: not "
            "GPU-aware\n");
  transfers.on_host = false;
  transfers.probe.claim.device = true;
  EXPECT_EQ(transfers_text(transfers),
            "  MPI transfers device memory, 18 of 18 right; MPIX_Query_cuda_support says: "
            "GPU-aware\n");
  transfers.probe.claim = {};
  EXPECT_TRUE(contains(transfers_text(transfers), "right; no query in this MPI says whether"));
}

TEST(ReportTransfers, NameTheFirstThatWasWrongAndWhatFollows) {
  TransferRecord transfers = usual_transfers();
  transfers.on_host = false;
  transfers.probe.entries[4].failure = "rank 1: bad";
  transfers.probe.entries[9].failure = "rank 2: worse";
  const std::string text = transfers_text(transfers);
  EXPECT_TRUE(contains(text, "device memory, 2 of 18 WRONG; MPIX_Query_cuda_support says")) << text;
  EXPECT_TRUE(contains(text, "  within a node, 4.000 KiB at 8 B: rank 1: bad\n")) << text;
  EXPECT_TRUE(contains(text, "strategies that pass it to MPI are unavailable")) << text;
  EXPECT_FALSE(contains(text, "were not tried"));
  transfers.on_host = transfers.probe.stuck = true;
  EXPECT_FALSE(contains(transfers_text(transfers), "unavailable"));
  EXPECT_TRUE(contains(transfers_text(transfers), "the remaining transfers were not tried"));
}

TEST(ReportTransfers, SayWhyNothingWasTried) {
  TransferRecord transfers = usual_transfers();
  transfers.probe.entries.clear();
  EXPECT_TRUE(
      contains(transfers_text(transfers), "host memory not tried, as there is only one rank;"));
  transfers.on_host = false;
  transfers.why_not = "no strategy of this run hands it to MPI";
  EXPECT_TRUE(contains(transfers_text(transfers),
                       "device memory not tried, as no strategy of this run hands it to MPI;"));
}

TEST(ReportTransfers, SayWhatATrialProcessFound) {
  TransferRecord transfers = usual_transfers();
  transfers.on_host = false;
  EXPECT_FALSE(contains(transfers_text(transfers), "trial"));
  transfers.trial = crashed_trial();
  transfers.trial.outcome = TrialOutcome::right;
  std::string text = unbroken(transfers_text(transfers));
  EXPECT_TRUE(contains(text, "18 of 18 right;")) << text;
  EXPECT_TRUE(contains(text,
                       "a trial process sent it to itself correctly; it took 750.0 ms; saved in "
                       "/cache/mpi-trials.json"))
      << text;
  EXPECT_FALSE(contains(text, "unavailable")) << text;
  transfers.trial = crashed_trial();
  transfers.why_not = why_excluded(transfers.trial);
  transfers.probe.entries.clear();
  text = unbroken(transfers_text(transfers));
  EXPECT_TRUE(contains(text, "device memory not tried, as MPI cannot send "));
  EXPECT_TRUE(contains(text,
                       "on node2: crashed by SIGSEGV, at a message of 8 B at offset 0 B); "
                       "MPIX_Query_cuda_support says"))
      << text;
  EXPECT_TRUE(contains(text, "found by a trial process before the run; it took 750.0 ms")) << text;
  EXPECT_TRUE(contains(text, "strategies that pass it to MPI are unavailable")) << text;
}

TEST(ReportTransfers, HaveTheTrialInTheJson) {
  const auto json_of = [](const MpiTrial& trial) {
    RunRecord run = usual_run();
    run.machine.transfers = usual_transfers();
    run.machine.transfers->trial = trial;
    return nlohmann::json::parse(to_json(run).dump())["machine"]["mpi_transfers"]["trial"];
  };
  const auto crashed = json_of(crashed_trial());
  EXPECT_EQ(crashed["outcome"], "crashed");
  EXPECT_EQ(crashed["what"], "crashed by SIGSEGV, at a message of 8 B at offset 0 B");
  EXPECT_EQ(crashed["host"], "node2");
  EXPECT_EQ(crashed["found"], "2026-11-21T21:21:40Z");
  EXPECT_EQ(crashed["of_an_earlier_run"], false);
  EXPECT_EQ(crashed["file"], "/cache/mpi-trials.json");
  EXPECT_EQ(crashed["trial_s"], 0.75);
  const auto none = json_of({});
  EXPECT_EQ(none["outcome"], "not_tried");
  for (const char* const key : {"what", "host", "found", "file"}) EXPECT_EQ(none[key], nullptr);
}

TEST(ReportTransfers, AreInTheJson) {
  RunRecord run = usual_run();
  EXPECT_EQ(nlohmann::json::parse(to_json(run).dump())["machine"]["mpi_transfers"], nullptr);
  run.machine.transfers = usual_transfers();
  run.machine.transfers->probe.entries[17].failure = "rank 3: bad";
  const auto json = nlohmann::json::parse(to_json(run).dump())["machine"]["mpi_transfers"];
  EXPECT_EQ(json["memory"], "host");
  EXPECT_EQ(json["query"], "MPIX_Query_cuda_support");
  EXPECT_EQ(json["claims_device_memory"], false);
  EXPECT_EQ(json["not_tried"], nullptr);
  EXPECT_EQ(json["stuck"], false);
  EXPECT_EQ(json["probe_s"], 0.0625);
  ASSERT_EQ(json["tried"].size(), 18u);
  EXPECT_EQ(json["tried"][0]["failure"], nullptr);
  EXPECT_EQ(json["tried"][17]["between_nodes"], true);
  EXPECT_EQ(json["tried"][17]["message_bytes"], 262144);
  EXPECT_EQ(json["tried"][17]["offset_bytes"], 3);
  EXPECT_EQ(json["tried"][17]["failure"], "rank 3: bad");
}

TEST(ReportGrid, HasALineForEachAndMarksTheChoice) {
  const RunRecord run = usual_run();
  const std::string text = grid_text(run.grid, 4);
  EXPECT_TRUE(
      contains(text, "[ms] the exchange at order 7 by device-pairwise; 3 rounds, 1 in each"));
  const std::string winner = line_with(text, "SELECTED");
  EXPECT_TRUE(winner.starts_with("  1 × 2 × 2 ")) << winner;
  for (const char* cell : {" 1 ", " 65536 ", " 3 ", " 6.125 MiB ", " 2.10 ", "2.00..2.20", " tie "})
    EXPECT_TRUE(contains(winner, cell)) << cell << " in " << winner;
  EXPECT_TRUE(contains(line_with(text, "1 × 1 × 4, slabs"), " 3.10 "));
  EXPECT_FALSE(contains(line_with(text, "1 × 1 × 4, slabs"), "tie"));
  EXPECT_TRUE(contains(line_with(text, "4 × 1 × 1, slabs"), " - "));
  EXPECT_TRUE(contains(line_with(text, "4 × 1 × 1, slabs"), "uneven"));
  EXPECT_TRUE(contains(text, "Selected: 1 × 2 × 2, the best by the model of those that tie"));
  EXPECT_TRUE(contains(text, "Planned in 500.0 ms, verified in 250.0 ms, timed in 1.000 s"));
}

TEST(ReportGrid, IsOneLineWhereNothingIsChosen) {
  EXPECT_EQ(grid_text(one_rank_run().grid, 1),
            "\n" + heading("Process grid") + "  One rank has all elements.\n");
  GridRecord pinned = usual_run().grid;
  pinned.candidates.resize(1);
  pinned.why = "as mesh.partition says";
  EXPECT_TRUE(contains(grid_text(pinned, 4),
                       "\n  1 × 2 × 2, as mesh.partition says: per rank at most 65536 "));
}

TEST(ReportGrid, LeavesMostOfManyToTheJson) {
  GridRecord grid = usual_run().grid;
  for (int i = 0; i < 20; ++i) grid.candidates.push_back(grid.candidates.back());
  EXPECT_EQ(lines_of(grid_text(grid, 4, ReportDetail::full)).size(),
            lines_of(grid_text(grid, 4)).size() + 18 - 1);
  EXPECT_TRUE(
      contains(grid_text(grid, 4), "18 divisions not measured and not shown: --full, or the JSON"));
}

TEST(ReportGrid, SaysWhatADryRunWouldMeasure) {
  const std::string text = would_divide_text(usual_run().grid, 1, 4);
  EXPECT_TRUE(
      contains(text, "Would measure 3 of 4 divisions of the elements among the ranks for 1 s"));
  EXPECT_TRUE(
      contains(text,
               "  1 × 1 × 4: per rank at most 65536 elements, 2 messages and 9.000 MiB sent, "
               "at order 7"));
}

TEST(ReportOrder, ColumnsAreAligned) {
  const std::string text = order_text(usual_order());
  const std::string header = line_with(text, "95 % interval");
  const std::size_t verified = header.find("verified");
  const std::size_t median_end = header.find("median") + 6;
  const std::size_t interval_end = header.find("95 % interval") + 13;
  int rows = 0;
  for (const std::string& line : lines_of(text)) {
    if (!contains(line, "yes") || contains(line, "≈ 0")) continue;
    ++rows;
    EXPECT_EQ(line.find("yes"), verified) << line;
    EXPECT_NE(line[median_end - 1], ' ') << line;
    EXPECT_EQ(line[median_end], ' ') << line;
    EXPECT_NE(line[interval_end - 1], ' ') << line;
    EXPECT_EQ(line[interval_end], ' ') << line;
  }
  EXPECT_EQ(rows, 4);  // device-pairwise is in both stages, and one row has no interval
}

TEST(ReportOrder, MarksTheWinnerAndKeepsTheStagesApart) {
  const std::string text = order_text(usual_order());
  const std::string winner = line_with(text, "SELECTED");
  EXPECT_TRUE(contains(winner, "device-pairwise+overlap"));
  EXPECT_TRUE(contains(winner, " -2.00 ")) << winner;
  EXPECT_EQ(text.find("SELECTED"), text.rfind("SELECTED"));
  EXPECT_TRUE(contains(text, "  Selected: device-pairwise+overlap\n"));

  const std::size_t alone = text.find("[µs] the exchange alone; 3 rounds, 11 exchanges in each\n");
  const std::size_t with_work = text.find(
      "[µs] with Ax, boundary elements before and interior ones meanwhile: cost beyond the work");
  ASSERT_NE(alone, std::string::npos) << text;
  ASSERT_NE(with_work, std::string::npos) << text;
  const std::string first = text.substr(alone, with_work - alone);
  const std::string second = text.substr(with_work);
  EXPECT_TRUE(contains(line_with(first, "device-pairwise"), " 18.4 "));
  // The fastest plain strategy with work: 1.25 ms minus 1 ms of work, 1.25 times the best.
  EXPECT_TRUE(contains(line_with(second, "device-pairwise "), " 250.00 "));
  EXPECT_TRUE(contains(line_with(second, "device-pairwise "), "1.25x"));
}

TEST(ReportOrder, HasNoIntervalOfADifferenceThatContainsZero) {
  const std::string explanation = "≈ 0: the 95 % interval contains 0";
  OrderRecord order = usual_order();
  std::string text = order_text(order);
  EXPECT_TRUE(contains(line_with(text, "device-pairwise+overlap"), " -2.00 "));
  EXPECT_TRUE(contains(line_with(text, "device-pairwise+overlap"), " ≈ 0 "));
  EXPECT_TRUE(contains(text, explanation)) << text;
  order.tuning.candidates[2].with_work->cost = {2e-6, 1e-6, 3e-6};
  order.tuning.candidates[0].alone->cost.low = 0;  // a time, not a difference
  text = order_text(order);
  EXPECT_FALSE(contains(text, "≈")) << text;
}

// usual_order() with `slower` more plain strategies, each 1 ms slower than the one before.
OrderRecord order_with_slower(int slower) {
  OrderRecord order = usual_order();
  CandidateResult c = order.tuning.candidates[1];
  for (int i = 0; i < slower; ++i) {
    c.strategy.name = "slower-" + std::to_string(i);
    c.alone->cost = {2e-3 + i * 1e-3, 2e-3 + i * 1e-3, 2e-3 + i * 1e-3};
    order.tuning.candidates.push_back(c);
  }
  return order;
}

TEST(ReportOrder, HidesMostSlowerCandidates) {
  const std::string three = order_text(order_with_slower(3));  // five in all
  EXPECT_TRUE(contains(three, "\n  slower-2 "));
  EXPECT_FALSE(contains(three, "not shown"));

  const OrderRecord order = order_with_slower(9);
  const std::string text = order_text(order);
  EXPECT_TRUE(contains(text, "\n  slower-2 "));
  EXPECT_FALSE(contains(text, "\n  slower-3 ")) << text;
  EXPECT_TRUE(contains(text, "\n  6 slower candidates not shown: --full, or the JSON report\n"));
  const std::string full = order_text(order, ReportDetail::full);
  EXPECT_TRUE(contains(full, "\n  slower-8 "));
  EXPECT_FALSE(contains(full, "not shown"));
  EXPECT_EQ(lines_of(full).size(), lines_of(text).size() + 6 - 1);
}

TEST(ReportOrder, HidesNothingThatIsWrongUnavailableSelectedOrTies) {
  OrderRecord order = order_with_slower(9);
  std::vector<CandidateResult>& candidates = order.tuning.candidates;
  candidates[8].verified = false;  // slower-4, wrong when verified again
  candidates[8].failure = "WRONG at last";
  candidates[9].available = candidates[9].verified = false;
  candidates[9].failure = "no network";
  candidates[9].alone.reset();
  candidates[10].alone->tie = true;
  candidates[11].selected = true;
  candidates[12].alone->stopped = true;  // slower-8
  const std::string text = order_text(order);
  EXPECT_TRUE(contains(line_with(text, "slower-4 "), "WRONG")) << text;
  EXPECT_TRUE(contains(text, "    excluded: WRONG at last\n")) << text;
  EXPECT_TRUE(contains(text, "  not here: slower-5: no network\n")) << text;
  EXPECT_TRUE(contains(line_with(text, "slower-6 "), "tie")) << text;
  EXPECT_TRUE(contains(line_with(text, "slower-7 "), "SELECTED")) << text;
  EXPECT_FALSE(contains(text, "slower-3 ")) << text;
  EXPECT_TRUE(contains(text, "\n  2 slower candidates not shown")) << text;
}

TEST(ReportOrder, SaysWhyOneOfThoseThatTieWasTaken) {
  OrderRecord order = usual_order();
  EXPECT_FALSE(contains(order_text(order), "ties with"));
  std::vector<CandidateResult>& candidates = order.tuning.candidates;
  for (CandidateResult& c : candidates)
    if (c.with_work) c.with_work->tie = true;
  // The ties include the plain strategy, which is in both stages and simpler.
  EXPECT_TRUE(
      contains(order_text(order),
               "    ties with 2 others; selected because it is the simplest that overlaps\n"));
  const int overlapped = std::exchange(order.tuning.selected, 0);
  EXPECT_TRUE(
      contains(order_text(order), "    ties with 2 others; selected because it is the simplest\n"));
  order.tuning.selected = overlapped;
  candidates[3].with_work->tie = false;
  EXPECT_TRUE(contains(order_text(order), "    ties with 1 other; selected because it overlaps\n"));
  candidates[3].with_work->tie = true;
  CandidateResult later = candidates[order.tuning.selected];
  later.strategy.name = "peer-memory+overlap";
  candidates[order.tuning.selected].selected = false;
  candidates.push_back(later);
  order.tuning.selected = static_cast<int>(candidates.size()) - 1;
  EXPECT_TRUE(contains(order_text(order),
                       "    ties with 3 others; selected because its exchange alone is faster\n"));

  candidates.back().with_work->tie = false;
  candidates.back().with_work->relative_to_best = 1.004;
  EXPECT_TRUE(
      contains(order_text(order),
               "    within 1 % of the best; selected because its exchange alone is faster\n"));

  // Now only the first stage has timings.
  for (CandidateResult& c : candidates) {
    c.with_work.reset();
    if (c.alone) c.alone->tie = true;
  }
  order.tuning.selected = 0;
  EXPECT_TRUE(
      contains(order_text(order), "    ties with 1 other; selected because it is the simplest\n"));
}

TEST(ReportOrder, ShowsWhyAStrategyIsExcluded) {
  const std::string text = order_text(wrong_candidate_run().orders[0]);
  const std::string row = line_with(text, "host-alltoall ");
  EXPECT_TRUE(contains(row, "WRONG"));
  EXPECT_FALSE(contains(row, ".."));
  EXPECT_TRUE(contains(text, "    excluded: add on double: shared DOF 17 (global id 123456789)"));
  EXPECT_TRUE(contains(order_text(nothing_right_run().orders[0]), "Selected: none"));
}

TEST(ReportOrder, SaysOfWhichFieldsTheMessagesAre) {
  OrderRecord order = usual_order();
  EXPECT_TRUE(contains(line_with(order_text(order), "one message"), "one message (doubles) "));
  order.tuning.kind = {3, Precision::single};
  EXPECT_TRUE(
      contains(line_with(order_text(order), "one message"), "one message (3 floats per DOF) "));
}

TEST(ReportHeader, SaysWhichFieldsAreExchangedWhereNothingIsSolved) {
  RunRecord run = usual_run();
  EXPECT_FALSE(contains(header_text(run), "exchanges of"));
  changed_input(run).problem = ProblemKind::none;
  EXPECT_TRUE(contains(header_text(run), "none, exchanges of doubles are measured, lambda 1"));
  changed_input(run).field_kind = {1, Precision::single};
  EXPECT_TRUE(contains(header_text(run), "none, exchanges of floats are measured"));
  changed_input(run).field_kind = {64, Precision::double_};
  EXPECT_TRUE(contains(header_text(run), "none, exchanges of 64 doubles per DOF are measured"));
}

TEST(ReportOrder, SaysHowMessagesLieInTheField) {
  EXPECT_TRUE(contains(order_text(usual_order()),
                       "3 of 6 messages are contiguous in the field, 1 evenly strided, 2 indexed"));
}

TEST(ReportOrder, SaysWhenThereIsNothingToExchange) {
  const std::string text = order_text(one_rank_run().orders[0]);
  EXPECT_TRUE(contains(text, "no shared DOFs: nothing to exchange"));
  EXPECT_FALSE(contains(text, "neighbours"));
  EXPECT_FALSE(contains(text, "contiguous"));
  EXPECT_TRUE(contains(
      text, "  3 strategies available, with nothing to verify, 1 not here: see the JSON report\n"));
  EXPECT_FALSE(contains(text, "95 % interval"));

  // The report still names a wrong one.
  OrderRecord wrong = one_rank_run().orders[0];
  wrong.tuning.candidates.back().available = true;
  EXPECT_TRUE(contains(line_with(order_text(wrong), "host-alltoall+overlap"), "WRONG"));
}

TEST(ReportOrder, SaysWhyNothingIsToBeHadOnOneRank) {
  OrderRecord missing = one_rank_run().orders[0];
  for (CandidateResult& c : missing.tuning.candidates) {
    c.available = c.verified = false;
    c.failure = "no such network";
  }
  EXPECT_TRUE(
      contains(order_text(missing), "  not here: device-pairwise, host-alltoall: no such network"))
      << order_text(missing);
}

TEST(ReportOrder, SaysWhenTheSlowerKernelRan) {
  OrderRecord order = usual_order();
  EXPECT_FALSE(contains(order_text(order), "slower kernel"));
  order.compiled = false;
  EXPECT_TRUE(contains(order_text(order), "slower kernel with a run-time order ran"));
}

// ---- Costs of paths, and predictions -----------------------------------------------------------

TEST(ReportPaths, HaveLatencyBandwidthAndWhatAMessageMoreTakes) {
  const std::string text = paths_text(usual_paths());
  EXPECT_TRUE(contains(line_with(text, "launch of a kernel"), "3.250 µs"));
  EXPECT_TRUE(contains(line_with(text, "wait for a kernel"), "5.000 µs"));
  EXPECT_TRUE(contains(line_with(text, "copy of messages to the device"), "55.00 GB/s"));
  const std::string within = line_with(text, "host messages, within a node");
  EXPECT_TRUE(contains(within, "1.500 µs") && contains(within, "10.00 GB/s") &&
              contains(within, "500.0 ns"))
      << within;
  EXPECT_TRUE(contains(line_with(text, "host messages, between nodes"), "2.500 µs"));
  const std::string unknown = line_with(text, "device messages, within a node");
  EXPECT_FALSE(contains(unknown, "GB/s")) << unknown;
  EXPECT_TRUE(contains(text, "not known: path by device messages crashed"));
  EXPECT_TRUE(contains(text, "Measured in 250.0 ms"));
  for (const std::string& line : lines_of(text)) EXPECT_LE(text_width(line), report_width) << line;
}

// usual_order() with predictions for all candidates except the second.
OrderRecord predicted_order() {
  OrderRecord order = usual_order();
  std::vector<CandidateResult>& candidates = order.tuning.candidates;
  candidates[0].alone->predicted = 4e-6;  // measured: 18.4e-6
  candidates[0].with_work->predicted = 4e-6;
  candidates[2].with_work->predicted = 2e-6;
  candidates[3].with_work->predicted = 9.5e-3;  // measured: 0.5e-3 beyond the work of 1e-3
  return order;
}

TEST(ReportPaths, StandAsPredictionsBesideWhatWasMeasured) {
  EXPECT_FALSE(contains(order_text(usual_order()), "model"));
  const std::string text = order_text(predicted_order());
  const std::size_t with_work = text.find("with Ax, boundary elements");
  const std::string first = text.substr(0, with_work), second = text.substr(with_work);
  const std::size_t end = line_with(text, "95 % interval").find("model") + 5;
  const std::string row = line_with(first, "device-pairwise");
  // Columns count code points; this row is ASCII.
  EXPECT_EQ(row.substr(end - 4, 4), " 4.0") << text;
  EXPECT_EQ(line_with(first, "host-alltoall").substr(end - 2, 2), " -") << text;
  EXPECT_TRUE(contains(line_with(second, "device-pairwise+overlap"), " 2.00 "));
  for (const std::string& line : lines_of(text)) EXPECT_LE(text_width(line), report_width) << line;
}

TEST(ReportPaths, NameWhatIsOffItsModel) {
  const std::string off = line_with(order_text(predicted_order()), "Off the model");
  EXPECT_EQ(off,
            "  Off the model: device-pairwise 4.6x; with the work: host-alltoall+overlap 0.14x the "
            "prediction");
  OrderRecord order = predicted_order();
  order.tuning.candidates[0].alone->predicted = 5e-6;  // measured: less than four times that
  order.tuning.candidates[3].with_work->predicted = 1e-3;
  EXPECT_FALSE(contains(order_text(order), "Off the model"));
}

TEST(ReportAllReduce, HasATableOnlyWhereSumsWereTimedOrAreWrong) {
  AllReduceRecord tuning;
  for (const char* const name : {"host-mpi", "host-shared", "nccl"}) {
    AllReduceResult& c = tuning.candidates.emplace_back();
    c.strategy.name = name;
    c.verified = c.available = c.strategy.name != "nccl";
  }
  tuning.candidates[0].selected = true;
  tuning.selected = 0;
  const std::string one_rank = all_reduce_text(tuning);
  EXPECT_TRUE(contains(one_rank, "  2 all-reduces verified, 1 not here: see the JSON report\n"));
  EXPECT_TRUE(contains(one_rank, "Selected: host-mpi"));
  EXPECT_FALSE(contains(one_rank, "95 % interval"));

  AllReduceRecord wrong = tuning;
  wrong.candidates[1].verified = false;
  EXPECT_TRUE(contains(line_with(all_reduce_text(wrong), "host-shared"), "WRONG"));

  tuning.candidates[0].timing.emplace();
  tuning.rounds = 5;
  EXPECT_TRUE(contains(all_reduce_text(tuning), "5 rounds"));
  EXPECT_TRUE(contains(line_with(all_reduce_text(tuning), "nccl"), "not here"));

  EXPECT_FALSE(contains(all_reduce_text(tuning), "model"));

  tuning.candidates[0].timing->cost.median = 9e-6;
  tuning.candidates[0].timing->predicted = 2e-6;
  EXPECT_TRUE(contains(line_with(all_reduce_text(tuning), "95 % interval"), "model"));
  EXPECT_TRUE(
      contains(all_reduce_text(tuning), "\n  Off the model: host-mpi 4.5x the prediction\n"));
  tuning.candidates[0].timing->predicted = 3e-6;
  EXPECT_FALSE(contains(all_reduce_text(tuning), "Off the model"));

  tuning.cache_note = "the choice of x.json";
  EXPECT_TRUE(contains(all_reduce_text(tuning), "    cache: the choice of x.json\n"));
}

TEST(ReportSolve, HasFiguresWithUnits) {
  const RunRecord run = usual_run();
  const std::string text = solve_text(*run.solve, run.machine, ReportDetail::usual);
  EXPECT_TRUE(contains(text, "5.000e-07 |b| recursive, 5.000e-07 |b| recomputed"));
  EXPECT_TRUE(contains(text, "3.000e-08 largest, 2.000e-08 in the L2 norm"));
  EXPECT_TRUE(contains(text, "20.00 s, 200.0 ms per iteration; set-up 1.500 s"));
  EXPECT_TRUE(contains(text, "17.50 GiB"));
  EXPECT_TRUE(contains(text, "87.25 GFLOP/s by Nekbone's count, 0.4496 GDOF/s"));
  EXPECT_TRUE(contains(
      text, "171.0 B per DOF and iteration: 76.88 GB/s, 76.9 % of the copy and 96.1 % of"));
  EXPECT_TRUE(contains(text, "  PASS          the recomputed residual agrees"));
}

TEST(ReportSolve, HasItsEnergyWhereItWasCounted) {
  RunRecord run = usual_run();
  run.solve->energy.missing = "the counters stand still";
  const auto text = [&] { return solve_text(*run.solve, run.machine, ReportDetail::usual); };
  const auto json = [&] { return nlohmann::json::parse(to_json(run).dump())["solve"]["energy"]; };
  EXPECT_FALSE(contains(text(), "energy"));
  EXPECT_FALSE(contains(text(), "stand still"));
  EXPECT_EQ(json(), nlohmann::json::parse(R"({"missing": "the counters stand still",
      "cpu_packages": 0, "dram_domains": 0, "gpus": 0, "cpu_packages_j": null, "dram_j": null,
      "gpus_j": null, "j_per_iteration": null, "dofs_per_j": null})"));

  EnergyRecord& energy = run.solve->energy;
  energy.missing = "";
  energy.packages = 2;
  energy.package_joules = 1500;
  EXPECT_EQ(line_with(text(), "  energy "),
            "  energy        15.00 J per iteration, 0.005994 GDOF/J; 2 CPU packages");
  energy.dram = 1;
  energy.dram_joules = 100;
  energy.gpus = 4;
  energy.gpu_joules = 400;
  EXPECT_EQ(line_with(text(), "  energy "),
            "  energy        20.00 J per iteration, 0.004496 GDOF/J; 2 CPU packages, 1 memory "
            "domain, 4 GPUs");
  EXPECT_EQ(json(), nlohmann::json::parse(R"({"missing": null, "cpu_packages": 2,
      "dram_domains": 1, "gpus": 4, "cpu_packages_j": 1500.0, "dram_j": 100.0, "gpus_j": 400.0,
      "j_per_iteration": 20.0, "dofs_per_j": 4495769.6})"));
  run.solve->iterations = 0;
  EXPECT_FALSE(contains(text(), "energy"));
  EXPECT_EQ(json()["j_per_iteration"], nullptr);
}

TEST(ReportSolve, HasTheLimitsOfAnIteration) {
  RunRecord run = usual_run();
  run.machine.bandwidth.copy = 171e9;  // B/s; 171 B per DOF
  run.solve->total_dofs = 1'000'000;
  run.solve->host_work = {7, 2};
  run.machine.paths.emplace();
  run.machine.paths->launch = 3e-6;
  run.machine.paths->sync = 8e-6;
  const auto text = [&] { return solve_text(*run.solve, run.machine, ReportDetail::usual); };
  EXPECT_TRUE(contains_words(text(),
                             "limits 1.000 ms for its bytes at the bandwidth of the copy; "
                             "7 launches of 3.000 µs and 2 waits of 8.000 µs, per iteration"));
  run.solve->host_work = {0.05, 0};
  EXPECT_TRUE(contains_words(text(), "; 0.05 launches of 3.000 µs and 0 waits, per"));
  EXPECT_EQ(to_json(run)["solve"]["host_launches"], 0.05);
  EXPECT_EQ(to_json(run)["solve"]["host_waits"], 0);
}

CgMethodResult method_result(CgVariant variant, CgLaunch launch) {
  CgMethodResult result;
  result.method = {variant, launch};
  result.exchange = "peer-memory";
  result.all_reduce = "host-mpi";
  return result;
}

TEST(ReportSolve, HasATableOfMethods) {
  RunRecord run = usual_run();
  const auto text = [&] { return solve_text(*run.solve, run.machine, ReportDetail::usual); };
  EXPECT_FALSE(contains(text(), "Methods of CG"));
  EXPECT_TRUE(contains(
      text(), "  method        classic CG, launch host: the host waits for every scalar\n"));

  CgTuning& tuning = run.solve->methods;
  CgMethodResult host = method_result(CgVariant::classic, CgLaunch::host);
  host.verified = true;
  host.timing.emplace();
  host.timing->cost.median = 52e-6;
  host.timing->relative_to_best = 5.2;
  CgMethodResult single = host;
  single.method = {CgVariant::single_reduction, CgLaunch::plain};
  single.timing->cost.median = 10e-6;
  single.timing->relative_to_best = 1;
  single.selected = true;
  CgMethodResult pipelined = method_result(CgVariant::pipelined, CgLaunch::graph);
  pipelined.available = false;
  pipelined.failure = "kernels run on the host";
  tuning.candidates = {host, single, pipelined};
  tuning.rounds = 7;
  tuning.iterations = 20;
  run.solve->method = single.method;
  EXPECT_TRUE(contains(text(), "per iteration; 7 rounds of 20 iterations"));
  EXPECT_TRUE(contains(line_with(text(), "single-reduction, plain"), "1.00x"));
  EXPECT_TRUE(contains(line_with(text(), "single-reduction, plain"), "SELECTED"));
  EXPECT_TRUE(contains(line_with(text(), "classic, host"), "5.20x"));
  EXPECT_TRUE(contains(text(), "kernels run on the host"));
  EXPECT_TRUE(contains(text(), "\n  Selected: single-reduction, plain\n"));
  EXPECT_TRUE(contains(
      text(), "  method        single-reduction CG, launch plain: scalars on the device\n"));
  const auto json = to_json(run)["solve"];
  EXPECT_EQ(json["variant"], "single-reduction");
  EXPECT_EQ(json["launch"], "plain");
  EXPECT_EQ(json["methods"]["candidates"][2]["failure"], "kernels run on the host");
  EXPECT_TRUE(json["methods"]["candidates"][2]["timing"].is_null());
  EXPECT_EQ(json["methods"]["candidates"][1]["timing"]["cost"]["median_s"], 10e-6);

  tuning.why = "an iteration takes 1 s";
  EXPECT_TRUE(
      contains(text(), "\n  Selected: single-reduction, plain\n  an iteration takes 1 s\n"));
}

MultigridCandidate candidate(int degree, double seconds) {
  MultigridCandidate made;
  made.method = {
      {7, 3, 1}, SmootherKind::jacobi, ChebyshevKind::optimized_fourth, degree, Precision::single};
  made.trial = TrialEnd::measured;
  made.verified = true;
  made.digits = 0.5;
  made.once = seconds;
  made.timing.emplace();
  made.timing->cost = {seconds, 0.9 * seconds, 1.1 * seconds};
  return made;
}

TEST(ReportSolve, HasATableOfVCyclesAndOneOfLevels) {
  RunRecord run = usual_run();
  const auto text = [&](ReportDetail detail = ReportDetail::usual) {
    return solve_text(*run.solve, run.machine, detail) + comparisons_text(*run.solve);
  };
  EXPECT_FALSE(contains(text(), "Multigrid"));
  EXPECT_TRUE(to_json(run)["solve"]["multigrid"].is_null());

  MultigridRecord& multigrid = run.solve->multigrid.emplace();
  for (int degree = 1; degree <= 5; ++degree)
    multigrid.candidates.push_back(candidate(degree, 1e-3 * (10 - degree)));
  multigrid.candidates.back().selected = true;
  MultigridCandidate once = candidate(6, 20e-3), bad = candidate(7, 0), late = candidate(8, 0);
  once.timing.reset();
  bad.timing.reset();
  bad.verified = false;
  bad.trial = TrialEnd::failed;
  bad.failure = "CG broke down with it";
  late.timing.reset();
  late.verified = false;
  late.trial = TrialEnd::not_tried;
  late.failure = "not tried: the time for tuning was used up";
  MultigridCandidate slower = candidate(9, 0), unfinished = candidate(10, 0);
  slower.timing.reset();
  slower.trial = TrialEnd::slower;
  unfinished.timing.reset();
  unfinished.trial = TrialEnd::unfinished;
  multigrid.candidates.insert(multigrid.candidates.end(), {once, bad, late, slower, unfinished});
  multigrid.rounds = 4;
  multigrid.iterations = 8;
  multigrid.levels = {{7, {8, 8, 8}, 166375, false, 2.64, "host-put", 7e-6, 3e-3},
                      {1, {8, 8, 8}, 343, true, 0, "", {}, 1e-3}};
  multigrid.cycle_seconds = 4e-3;
  multigrid.operator_seconds = 1e-3;
  multigrid.setup_seconds = 0.1;
  multigrid.uniform = UniformStrategy{"host-alltoall", 5e-3, 4e-3};
  run.solve->solve_seconds = 0.05;
  multigrid.jacobi = JacobiComparison{90, 0.1, true};

  EXPECT_TRUE(contains(text(), "4 rounds, at most 8 iterations each"));
  EXPECT_TRUE(
      contains(text(), "  Selected: jacobi, chebyshev-4-opt of degree 5, single, orders 7 3 1\n"));
  const std::string full = text(ReportDetail::full);
  EXPECT_LT(full.find(" 5 single"), full.find(" 4 single")) << full;  // the fastest first
  EXPECT_TRUE(contains(line_with(full, " 6 single"), "once"));
  EXPECT_LT(full.find(" 6 single"), full.find(" 7 single"));
  EXPECT_TRUE(contains(line_with(full, " 7 single"), "excluded"));
  EXPECT_TRUE(contains(line_with(full, " 9 single"), "slower"));
  EXPECT_TRUE(contains(line_with(full, "10 single"), "unfinished"));
  EXPECT_FALSE(contains(full, "the tuning budget ended"));
  multigrid.budget_ended = true;
  EXPECT_TRUE(contains(text(), "the tuning budget ended before all V-cycles were measured"));
  EXPECT_TRUE(contains(full, "    CG broke down with it"));
  EXPECT_TRUE(contains(full, "1 other not tried: the time for tuning was used up"));
  EXPECT_TRUE(contains(line_with(full, "166375"), "75 %"));
  EXPECT_TRUE(contains(line_with(full, "166375"), "host-put"));
  EXPECT_TRUE(contains(line_with(full, " 343 "), "direct"));
  EXPECT_TRUE(contains_words(full, "4.000 ms, 4.0 times an application of A in double"));
  EXPECT_FALSE(contains(full, "replays"));
  multigrid.launched_cycle_seconds = 7e-3;
  EXPECT_TRUE(contains_words(text(), "if the host launched them, it would take 7.000 ms"));
  EXPECT_TRUE(contains_words(
      full, "host-alltoall at every level takes 5.000 ms per V-cycle, 1.25 times the selected"));
  EXPECT_TRUE(contains_words(full,
                             "CG with Jacobi takes 100.0 ms in 90 iterations, 2.0 times as long; "
                             "multigrid's set-up pays after 2 solves"));
  EXPECT_TRUE(contains(full, "  method        flexible CG, one V-cycle per iteration\n"));

  multigrid.jacobi = JacobiComparison{900, 0.2, false};
  EXPECT_TRUE(contains_words(text(),
                             "given up after 900 iterations in 200.0 ms, more than 4.0 times as "
                             "long; multigrid's set-up pays after at most 1 solve"));
  multigrid.jacobi = JacobiComparison{9, 0.01, true};
  EXPECT_TRUE(contains_words(text(), "10.00 ms in 9 iterations; multigrid does not pay"));

  EXPECT_FALSE(contains(text(), "cache: "));
  multigrid.origin = {true, "the choice of cache.json, chosen today", {}};
  multigrid.levels.front().origin = {true, "the choice of cache.json, chosen now", {}};
  EXPECT_TRUE(contains(text(), "    cache: the choice of cache.json, chosen today\n"));
  EXPECT_TRUE(contains(text(), "    cache: level 1: the choice of cache.json, chosen now\n"));

  const auto json = to_json(run)["solve"]["multigrid"];
  EXPECT_EQ(json["candidates"].size(), 10u);
  EXPECT_EQ(json["candidates"][4]["trial"], "measured");
  EXPECT_EQ(json["candidates"][6]["trial"], "failed");
  EXPECT_TRUE(json["candidates"][7]["trial"].is_null());
  EXPECT_EQ(json["candidates"][7]["tried"], false);
  EXPECT_EQ(json["candidates"][8]["trial"], "slower");
  EXPECT_TRUE(json["candidates"][8]["once_s"].is_null());
  EXPECT_EQ(json["candidates"][9]["trial"], "unfinished");
  EXPECT_EQ(json["budget_ended"], true);
  EXPECT_EQ(json["replayed"], true);
  EXPECT_EQ(json["cache_note"], "the choice of cache.json, chosen today");
  EXPECT_EQ(json["levels"][0]["cache_note"], "the choice of cache.json, chosen now");
  EXPECT_TRUE(json["levels"][1]["cache_note"].is_null());
  EXPECT_EQ(json["candidates"][4]["selected"], true);
  EXPECT_EQ(json["candidates"][6]["failure"], "CG broke down with it");
  EXPECT_EQ(json["levels"][0]["strategy"], "host-put");
  EXPECT_TRUE(json["levels"][1]["strategy"].is_null());
  EXPECT_EQ(json["jacobi"]["iterations"], 9);
}

TEST(ReportSolve, SaysWhenTheCaseStaysInCaches) {
  RunRecord run = usual_run();
  EXPECT_FALSE(contains(solve_text(*run.solve, run.machine, ReportDetail::usual), "caches"));
  run.solve->bandwidth = 1.5 * run.machine.bandwidth.copy;
  EXPECT_TRUE(contains(solve_text(*run.solve, run.machine, ReportDetail::usual), "150.0 %"));
  EXPECT_TRUE(contains(solve_text(*run.solve, run.machine, ReportDetail::usual), "caches"));
  // A kernel may exceed the triad's bandwidth if it does not read the cache lines that it writes.
  run.solve->bandwidth = 0.9 * run.machine.bandwidth.copy;
  EXPECT_TRUE(contains(solve_text(*run.solve, run.machine, ReportDetail::usual), "112.5 %"));
  EXPECT_FALSE(contains(solve_text(*run.solve, run.machine, ReportDetail::usual), "caches"));
}

TEST(ReportSolve, LeavesOutBandwidthsThatWereNotMeasured) {
  RunRecord run = usual_run();
  run.machine.bandwidth = {};
  EXPECT_FALSE(contains(header_text(run), "  memory "));
  EXPECT_FALSE(contains(solve_text(*run.solve, run.machine, ReportDetail::usual), "triad"));
  const auto json = to_json(run);
  EXPECT_TRUE(json["machine"]["copy_bandwidth_bytes_per_s"].is_null());
  EXPECT_TRUE(json["machine"]["triad_bandwidth_bytes_per_s"].is_null());
  EXPECT_TRUE(json["solve"]["triad_share"].is_null());
}

TEST(ReportSolve, ShowsABreakdown) {
  const RunRecord run = broken_down_run();
  const std::string text = solve_text(*run.solve, run.machine, ReportDetail::usual);
  EXPECT_TRUE(contains(text, "100, then CG broke down"));
  EXPECT_TRUE(contains(text, "not finite recursive"));
  EXPECT_TRUE(contains(text, "  error         not finite\n"));
  EXPECT_TRUE(contains(text, "  FAIL          a NaN appeared in iteration 2"));
}

TEST(ReportClosing, HasNoCostWhereNothingWasTimed) {
  RunRecord run = usual_run();
  for (CandidateResult& c : run.orders[0].tuning.candidates) {
    c.alone.reset();
    c.with_work.reset();
  }
  run.orders[0].tuning.breakdown.reset();
  EXPECT_TRUE(contains(line_with(closing_text(run), "device-pairwise"), "nothing to exchange"));
  EXPECT_FALSE(contains(order_text(run.orders[0]), "its exchange:"));
  const auto json = nlohmann::json::parse(to_json(run).dump());
  EXPECT_EQ(json["orders"][0]["tuning"]["breakdown"], nullptr);
}

TEST(ReportClosing, SumsUp) {
  const std::string pass = closing_text(usual_run());
  EXPECT_TRUE(contains(line_with(pass, "PASS"), "CG: the recomputed residual agrees"));
  EXPECT_TRUE(contains(unbroken(pass), "; 123.5 s in all; all samples in nekbone-k.json"));
  EXPECT_TRUE(contains(pass, "device-pairwise+overlap"));
  EXPECT_EQ(line_with(pass, "  CG "),
            "  CG            order 7, 100 iterations, 200.0 ms per iteration");
  EXPECT_EQ(line_with(pass, "  FOM "),
            "  FOM           87.25 GFLOP/s by Nekbone's count, 0.4496 GDOF/s");
  const std::string fail = closing_text(nothing_right_run());
  EXPECT_TRUE(contains(fail,
                       "  excluded      order 7: 4 of 4 strategies WRONG and excluded, so none is "
                       "left; the first,"));
  EXPECT_TRUE(contains(unbroken(fail), "the first, device-pairwise: threw"));
  EXPECT_TRUE(contains(fail, "  FAIL "));
  EXPECT_FALSE(contains(fail, "is available"));
  EXPECT_FALSE(contains(fail, "FOM"));
}

TEST(ReportClosing, SaysWhereADifferenceIsNotDistinguishableFromZero) {
  // The interval is -3 to 1 µs beyond the work.
  RunRecord run = usual_run();
  const std::string row = line_with(closing_text(run), "device-pairwise+overlap");
  EXPECT_TRUE(contains(row, " -  not distinguishable from the work alone")) << row;
  EXPECT_FALSE(contains(row, "..")) << row;
  Summary& cost = run.orders[0].tuning.candidates[2].with_work->cost;
  EXPECT_EQ(to_json(run)["orders"][0]["tuning"]["candidates"][2]["with_work"]["cost"]["low_s"],
            -3e-6);
  cost = {2e-6, 1e-6, 3e-6};
  EXPECT_TRUE(contains(closing_text(run), "2.000 µs  1.000 µs .. 3.000 µs, beyond the work alone"));
  cost = {-2e-6, -3e-6, -1e-6};
  EXPECT_TRUE(contains(closing_text(run), "-3.000 µs .. -1.000 µs, beyond the work alone"));
}

TEST(ReportClosing, HasTheAllReduceAndEveryFaultForThoseWhoReadNothingElse) {
  RunRecord run = usual_run();
  EXPECT_FALSE(contains(closing_text(run), "all-reduce"));
  run.all_reduce.emplace();
  for (const char* const name : {"host-mpi", "host-shared"}) {
    AllReduceResult& c = run.all_reduce->candidates.emplace_back();
    c.strategy.name = name;
    c.available = c.verified = true;
  }
  run.all_reduce->selected = 1;
  EXPECT_EQ(line_with(closing_text(run), "all-reduce"), "  all-reduce    host-shared");
  run.all_reduce->candidates[1].timing.emplace().cost = {3e-6, 2e-6, 4e-6};
  EXPECT_EQ(line_with(closing_text(run), "all-reduce"),
            "  all-reduce    host-shared, 3.000 µs (2.000 µs .. 4.000 µs)");
  EXPECT_FALSE(contains(closing_text(run), "WRONG"));

  run.all_reduce->candidates[0].verified = false;
  run.all_reduce->candidates[0].failure = "the sum is 3, not 4";
  run.machine.transfers = usual_transfers();
  run.machine.transfers->probe.entries[4].failure = "rank 1: bad";
  run.orders[0].on_rank_failure = "on-rank QQ^T is WRONG";
  run.machine.warnings = {"two ranks share a GPU"};
  run.warnings = {"two ranks share a GPU", "the machine was loaded"};
  const std::string text = closing_text(run);
  EXPECT_TRUE(contains(unbroken(text),
                       "1 of 2 all-reduces WRONG and excluded; the first, host-mpi: the sum is 3"))
      << text;
  EXPECT_TRUE(contains(unbroken(text), "MPI transfers 1 of 18 WRONG; the first: within a node"))
      << text;
  EXPECT_TRUE(contains(text, "order 7: on-rank QQ^T is WRONG")) << text;
  EXPECT_TRUE(contains(text, "  WARNING       two ranks share a GPU\n")) << text;
  EXPECT_TRUE(contains(text, "  WARNING       the machine was loaded\n")) << text;
  EXPECT_EQ(text.find("two ranks share a GPU"), text.rfind("two ranks share a GPU"));
}

TEST(ReportClosing, IsNoPassWithoutItsFile) {
  const std::string text = closing_text(usual_run(), false);
  EXPECT_TRUE(contains(line_with(text, "FAIL"), "all else passed, but nekbone-k.json cannot be"));
  EXPECT_FALSE(contains(text, "PASS"));
  EXPECT_FALSE(contains(text, "all samples in"));
  EXPECT_FALSE(contains(closing_text(nothing_right_run(), false), "passed"));
}

TEST(ReportClosing, SaysOnceWhyNoOrderCouldExchange) {
  RunRecord run = nothing_right_run();
  run.orders[0].tuning.candidates.resize(1);
  run.orders[0].tuning.candidates[0].available = false;
  run.orders[0].tuning.candidates[0].failure = "built without it";
  run.orders.push_back(run.orders[0]);
  run.orders[1].order = 9;
  EXPECT_TRUE(contains(closing_text(run), "no strategy is available at orders 7, 9:"))
      << closing_text(run);
}

TEST(ReportSolve, SaysWhoSumsTheProductsOfKokkosKernels) {
  RunRecord run = usual_run();
  run.solve->all_reduce = "host-shared";
  EXPECT_FALSE(contains(solve_text(*run.solve, run.machine, ReportDetail::usual), "MPI_Allreduce"));
  run.solve->kernels_sum = true;
  EXPECT_TRUE(contains(solve_text(*run.solve, run.machine, ReportDetail::usual),
                       "all-reduce host-shared and MPI_Allreduce"));
}

TEST(ReportSolve, SaysWhereARegretMayBeNoise) {
  RunRecord run = usual_run();
  Audit audit;
  audit.others = 1;
  for (const double seconds : {1.25, 1.0}) {
    AuditedStrategy& audited = audit.strategies.emplace_back();
    audited.name = audit.strategies.size() == 1 ? "nccl" : "host-put";
    audited.timing.cost.median = audited.timing.relative_to_best = seconds;
    audited.timing.samples.assign(6, seconds);
  }
  audit.rounds = 6;
  run.solve->audit = audit;
  EXPECT_TRUE(contains(comparisons_text(*run.solve), "host-put would have taken 20.0 % less"));
  EXPECT_EQ(to_json(run)["solve"]["audit"]["beaten"], true);
  for (AuditedStrategy& audited : run.solve->audit->strategies) audited.timing.samples.resize(3);
  EXPECT_TRUE(
      contains(comparisons_text(*run.solve), "host-put took 20.0 % less, which may be noise"));
  EXPECT_EQ(to_json(run)["solve"]["audit"]["beaten"], false);
  run.solve->audit->strategies[0].timing.tie = true;
  EXPECT_TRUE(contains(comparisons_text(*run.solve), "ties with host-put, which took 20.0 % less"));
  StageResult& choice = run.solve->audit->strategies[0].timing;
  choice.cost.median = choice.relative_to_best = 1.0001;
  EXPECT_TRUE(contains(comparisons_text(*run.solve), "ties with host-put"));
  EXPECT_FALSE(contains(comparisons_text(*run.solve), "0.0 %"));
}

TEST(ReportSolve, NamesTheRegretOfSumsAlsoAlone) {
  RunRecord run = usual_run();
  Audit audit;
  audit.strategies.resize(1);
  run.solve->audit = run.solve->sum_audit = audit;
  EXPECT_TRUE(contains(comparisons_text(*run.solve), "\n    all-reduce  "));
  run.solve->audit.reset();
  EXPECT_TRUE(comparisons_text(*run.solve).starts_with("  regret        all-reduce: "));
}

TEST(ReportOrder, HasNoIntervalOfOneSample) {
  OrderRecord order = usual_order();
  EXPECT_TRUE(contains(line_with(order_text(order), "on-rank QQ^T"), " .. "));
  Summary& on_rank = order.tuning.on_rank;
  on_rank.low = on_rank.high = on_rank.median;
  EXPECT_FALSE(contains(line_with(order_text(order), "on-rank QQ^T"), " .. "));
}

TEST(ReportClosing, SaysWhichChoicesWereKept) {
  RunRecord run = usual_run();
  EXPECT_FALSE(contains(closing_text(run), "choices"));
  run.choices_kept = "4 choices: kept in x.json";
  EXPECT_TRUE(contains(closing_text(run), "\n  choices       4 choices: kept in x.json\n"));
}

TEST(ReportClosing, WarnsOfWhatCastsDoubt) {
  RunRecord run = usual_run();
  EXPECT_FALSE(contains(closing_text(run), "WARNING"));
  EXPECT_EQ(to_json(run)["warnings"].size(), 0u);
  run.warnings = {"others were there; run again"};
  EXPECT_TRUE(contains(closing_text(run), "\n  WARNING       others were there; run again\n"));
  EXPECT_EQ(to_json(run)["warnings"][0], "others were there; run again");
}

TEST(ReportSolve, SaysWhenAnEarlierRunChose) {
  RunRecord run = usual_run();
  run.solve->audit.reset();
  EXPECT_EQ(comparisons_text(*run.solve), "");
  run.solve->why_no_audit = "an earlier run chose";
  EXPECT_TRUE(
      contains(comparisons_text(*run.solve), "regret        not known: an earlier run chose"));
}

TEST(ReportOrder, SaysOnceWhyStrategiesAreNotHere) {
  OrderRecord order = usual_order();
  for (const char* const name : {"nccl", "mesh", "node-aware"}) {
    CandidateResult& c = order.tuning.candidates.emplace_back();
    c.strategy.name = name;
    c.available = c.verified = false;
    c.failure = c.strategy.name == "mesh" ? "all on one node" : "built without it";
  }
  const std::string text = order_text(order);
  EXPECT_TRUE(contains(text, "\n  not here: nccl, node-aware: built without it\n")) << text;
  EXPECT_TRUE(contains(text, "\n  not here: mesh: all on one node\n")) << text;
}

TEST(ReportClosing, SaysWhatWasNotToBeHad) {
  RunRecord run = nothing_right_run();
  run.orders[0].tuning.candidates.resize(1);
  CandidateResult& only = run.orders[0].tuning.candidates[0];
  only.available = false;
  only.failure = "built without it";
  const std::string text = closing_text(run);
  EXPECT_TRUE(contains(text, "no strategy is available at order 7:")) << text;
  EXPECT_TRUE(contains(text, only.strategy.name + ": built without it")) << text;
  EXPECT_TRUE(contains(text, "doctor")) << text;
  // Reasons from the journal begin with the name.
  only.failure = only.strategy.name + " hung";
  const std::string again = closing_text(run);
  EXPECT_TRUE(contains(again, only.strategy.name + " hung")) << again;
  EXPECT_FALSE(contains(again, only.strategy.name + ": ")) << again;
}

TEST(ReportMeans, StandBesideEachOtherByOrder) {
  RunRecord run = usual_run();
  OrderRecord second = run.orders[0];  // one strategy is unavailable here
  second.order = 9;
  second.tuning.candidates[1].alone.reset();
  second.tuning.candidates[0].alone->cost.mean = 2e-3;
  second.tuning.candidates[0].alone->cost.deviation = 1e-3;
  run.orders[0].tuning.candidates[0].alone->cost.mean = 20e-6;
  run.orders[0].tuning.candidates[0].alone->cost.deviation = 1.5e-6;
  run.orders[0].tuning.candidates[1].alone->cost.mean = 1e-3;
  run.orders[0].tuning.candidates[1].alone->cost.deviation = 0;  // one sample: unknown
  run.orders.push_back(second);
  const std::string text = means_text(run.orders);
  EXPECT_TRUE(contains(line_with(text, "mean ± standard deviation"), "N = 7 [µs]"));
  EXPECT_TRUE(contains(line_with(text, "mean ± standard deviation"), "N = 9 [ms]"));
  const std::string means = text.substr(text.find("mean ±"));
  EXPECT_TRUE(contains(line_with(means, "device-pairwise "), "20.0 ± 1.5"));
  EXPECT_TRUE(contains(line_with(means, "device-pairwise "), "2.00 ± 1.00"));
  EXPECT_TRUE(contains(line_with(means, "host-alltoall "), "1000.0"));
  EXPECT_FALSE(contains(line_with(means, "host-alltoall "), "±"));
  EXPECT_TRUE(contains(line_with(means, "host-alltoall "), " -"));
  EXPECT_TRUE(contains(means, "host-alltoall+overlap"));
  EXPECT_FALSE(contains(closing_text(usual_run()), "mean ±"));
}

TEST(ReportMeans, OfManyOrdersStayWithinTheLine) {
  RunRecord run = usual_run();
  run.orders.resize(9, run.orders[0]);
  for (const std::string& line : lines_of(means_text(run.orders)))
    EXPECT_LE(text_width(line), report_width) << line;
}

// ---- JSON --------------------------------------------------------------------------------------

TEST(ReportJson, OfARunThatDidNotEndHasNotPassed) {
  RunRecord run = usual_run();
  EXPECT_EQ(to_json(run)["passed"], true);
  run.complete = false;
  EXPECT_EQ(to_json(run)["passed"], false);
  EXPECT_EQ(to_json(run)["solve"]["passed"], true);
}

TEST(ReportJson, CarriesWhatItWasGiven) {
  const auto json = nlohmann::json::parse(to_json(usual_run()).dump());
  EXPECT_EQ(json["report_version"], 1);
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["total_s"], 123.5);
  EXPECT_EQ(json["input_file"], "inputs/tgv64.yaml");
  EXPECT_EQ(json["input"]["mesh"]["elements"], (std::vector<int>{64, 64, 64}));
  EXPECT_EQ(json["input"]["problem"], "taylor-green");
  EXPECT_EQ(json["input"]["gather_scatter"]["tuning"]["minimum_rounds"], 5);
  EXPECT_EQ(json["machine"]["hosts"][2], "node2");
  EXPECT_EQ(json["machine"]["copy_bandwidth_bytes_per_s"], 100e9);
  EXPECT_EQ(json["machine"]["triad_bandwidth_bytes_per_s"], 80e9);

  const auto& grid = json["process_grid"];
  EXPECT_EQ(grid["selected"], "1 × 2 × 2");
  EXPECT_EQ(grid["candidates"][0]["blocks"], (std::vector<int>{1, 2, 2}));
  EXPECT_EQ(grid["candidates"][1]["blocks"], nullptr);
  EXPECT_EQ(grid["candidates"][2]["slabs"], true);
  EXPECT_EQ(grid["candidates"][2]["sent_bytes"], 9437184);
  EXPECT_EQ(grid["candidates"][2]["timing"]["cost"]["median_s"], 3.1e-3);
  EXPECT_EQ(grid["candidates"][3]["timing"], nullptr);
  EXPECT_EQ(json["input"]["mesh"]["partition"], "auto");

  const auto& order = json["orders"][0];
  EXPECT_EQ(order["total_dofs"], 89915392);
  EXPECT_TRUE(order["per_rank"]["elements"]["max"].is_number_integer());
  EXPECT_EQ(order["per_rank"]["neighbours"]["avg"], 1.5);
  EXPECT_EQ(order["messages"]["contiguous"], 3);
  EXPECT_EQ(order["messages"]["strided"], 1);
  EXPECT_EQ(order["messages"]["indexed"], 2);
  EXPECT_EQ(order["tuning"]["selected"], "device-pairwise+overlap");
  EXPECT_EQ(order["tuning"]["components"], 1);
  EXPECT_EQ(order["tuning"]["precision"], "double");
  EXPECT_EQ(order["tuning"]["breakdown"]["exchange_s"], 12e-6);
  const auto& plain = order["tuning"]["candidates"][0];
  EXPECT_EQ(plain["alone"]["samples_s"], (std::vector<double>{18e-6, 18.4e-6, 19e-6}));
  EXPECT_EQ(plain["alone"]["cost"]["median_s"], 18.4e-6);
  EXPECT_EQ(plain["with_work"]["samples_s"], (std::vector<double>{1.25e-3, 1.25e-3, 1.25e-3}));
  EXPECT_EQ(plain["with_work"]["relative_to_best"], 1.25);
  EXPECT_EQ(order["tuning"]["candidates"][1]["with_work"], nullptr);
  EXPECT_EQ(plain["failure"], nullptr);
  EXPECT_EQ(order["tuning"]["candidates"][2]["selected"], true);

  EXPECT_EQ(json["solve"]["relative_residual"], 5e-7);
  EXPECT_EQ(json["solve"]["history"], (std::vector<double>{4, 1, 2e-6}));
  EXPECT_DOUBLE_EQ(json["solve"]["bandwidth_share"].get<double>(), 0.7688);
  EXPECT_DOUBLE_EQ(json["solve"]["triad_share"].get<double>(), 0.961);
}

TEST(ReportJson, HasPathsAndPredictions) {
  RunRecord run = usual_run();
  EXPECT_EQ(nlohmann::json::parse(to_json(run).dump())["machine"]["paths"], nullptr);
  run.machine.paths = usual_paths();
  run.orders = {predicted_order()};
  const auto json = nlohmann::json::parse(to_json(run).dump());
  const auto& paths = json["machine"]["paths"];
  EXPECT_EQ(paths["launch_s"], 3.25e-6);
  EXPECT_EQ(paths["copy_to_host"]["latency_s"], 10e-6);
  EXPECT_EQ(paths["pack"]["sizes_bytes"], (std::vector<int>{8, 65536}));
  ASSERT_EQ(paths["messages"].size(), 3u);
  EXPECT_EQ(paths["messages"][1]["carrier"], "host messages");
  EXPECT_EQ(paths["messages"][1]["between_nodes"], true);
  EXPECT_EQ(paths["messages"][1]["path"]["bandwidth_bytes_per_s"], 20e9);
  EXPECT_EQ(paths["messages"][1]["path"]["further_message_s"], 0.25e-6);
  EXPECT_EQ(paths["messages"][1]["path"]["failure"], nullptr);
  EXPECT_EQ(paths["messages"][2]["path"]["latency_s"], nullptr);
  EXPECT_TRUE(paths["messages"][2]["path"]["failure"].is_string());
  const auto& candidates = json["orders"][0]["tuning"]["candidates"];
  EXPECT_EQ(candidates[0]["alone"]["predicted_s"], 4e-6);
  EXPECT_EQ(candidates[1]["alone"]["predicted_s"], nullptr);
  EXPECT_EQ(candidates[3]["with_work"]["predicted_s"], 9.5e-3);
}

TEST(ReportJson, HasNullForWhatIsNoNumberOrNotThere) {
  const auto broken = nlohmann::json::parse(to_json(broken_down_run()).dump());
  EXPECT_EQ(broken["solve"]["residual"], nullptr);
  EXPECT_EQ(broken["solve"]["error"], nullptr);
  EXPECT_EQ(broken["solve"]["history"], nlohmann::json::parse("[4.0, null, null]"));
  const auto wrong = nlohmann::json::parse(to_json(wrong_candidate_run()).dump());
  EXPECT_EQ(wrong["orders"][0]["tuning"]["candidates"][1]["alone"], nullptr);
  EXPECT_EQ(wrong["orders"][0]["tuning"]["candidates"][1]["verified"], false);
  EXPECT_EQ(broken["all_reduce"], nullptr);
  const auto nothing = nlohmann::json::parse(to_json(nothing_right_run()).dump());
  EXPECT_EQ(nothing["solve"], nullptr);
  EXPECT_EQ(nothing["orders"][0]["tuning"]["selected"], nullptr);
}

}  // namespace
}  // namespace nekbone_k
