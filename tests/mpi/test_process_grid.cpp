// SPDX-License-Identifier: BSD-3-Clause
// The process grid: the model against halo plans, and the selection by measurements.
#include "selection/process_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "machine/machine_record.hpp"
#include "operators/assembled_space.hpp"
#include "selection/replay.hpp"
#include "support/callback_guard.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

constexpr double plenty = 1e15;

class ProcessGrid : public testing::Test {
 protected:
  ProcessGrid() { m_budget.available = plenty; }

  Case parse(const std::string& text) const {
    return parse_case(text, "x.yaml", {}, m_comm.size());
  }
  GridRecord tuned(const Case& input) {
    GridRecord grid = list_grids(m_comm, input);
    tune_grid(m_comm, input, input.grid_budget_seconds, m_machine, m_budget, m_guard, m_progress,
              grid);
    keep(input, grid);
    return grid;
  }
  // Caches the choice, like the end of a run.
  void keep(const Case& input, GridRecord& grid) {
    RunRecord record;
    record.input = std::make_shared<const Case>(input);
    record.grid = grid;
    keep_choices(m_comm, "", record);
    grid = record.grid;
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  const MachineRecord m_machine = make_machine_record(m_comm);
  MemoryBudget m_budget;
  CallbackGuard m_guard;
  Progress m_progress{false};
};

// Meshes for up to 7 ranks. 5 and 7 ranks need bisection or slabs.
const std::vector<std::string> meshes{
    "{elements: [4, 6, 8]}", "{elements: [7, 3, 2], periodic: [true, false, true]}",
    "{elements: [2, 2, 7], periodic: false}", "{elements: [1, 2, 4]}"};

TEST_F(ProcessGrid, ModelIsWhatTheHaloPlansHave) {
  for (const std::string& mesh : meshes) {
    const Case input = parse("problem: none\norders: [2]\nmesh: " + mesh);
    for (const PartitionModel& model : model_partitions(m_comm, input.mesh, 2)) {
      MeshSpec spec = input.mesh;
      spec.partition = model.partition;
      const BoxMesh part(spec, 2, m_comm.size(), m_comm.rank());
      const AssembledSpace space(m_comm, part);
      const HaloPlan& plan = space.gs().plan();
      EXPECT_EQ(m_comm.max(std::int64_t{part.n_elements()}), model.elements) << mesh;
      EXPECT_EQ(m_comm.max(static_cast<std::int64_t>(plan.neighbours.size())), model.messages)
          << mesh << ", " << model.partition.name();
      EXPECT_EQ(m_comm.max(8.0 * plan.n_slots()), model.sent_bytes)
          << mesh << ", " << model.partition.name();
      EXPECT_EQ(model_partition(m_comm, spec, 2).sent_bytes, model.sent_bytes);
    }
  }
}

TEST_F(ProcessGrid, IsModelledForTheFieldsThatAreExchanged) {
  const std::string text = "problem: none\norders: [2]\nmesh: {elements: [4, 6, 8]}\n";
  const GridRecord doubles = list_grids(m_comm, parse(text));
  const GridRecord vectors =
      list_grids(m_comm, parse(text + "gather_scatter: {components: 3, precision: single}"));
  ASSERT_EQ(vectors.candidates.size(), doubles.candidates.size());
  for (const GridCandidate& c : vectors.candidates)
    for (const GridCandidate& other : doubles.candidates)
      if (other.model.partition == c.model.partition) {
        EXPECT_EQ(c.model.sent_bytes, 1.5 * other.model.sent_bytes);
      }
}

TEST_F(ProcessGrid, IsRankedByElementsThenByWhatIsSent) {
  for (const std::string& mesh : meshes) {
    const auto models = model_partitions(m_comm, parse("problem: none\nmesh: " + mesh).mesh, 3);
    for (std::size_t p = 1; p < models.size(); ++p) {
      EXPECT_LE(models[p - 1].elements, models[p].elements) << mesh;
      if (models[p - 1].elements == models[p].elements) {
        EXPECT_LE(models[p - 1].cost_bytes(), models[p].cost_bytes()) << mesh;
      }
    }
  }
}

TEST_F(ProcessGrid, TriesTheBestBalancedOnesAndTheBestSlabs) {
  const GridRecord grid = list_grids(m_comm, parse("problem: none\nmesh: {elements: [14, 6, 7]}"));
  const bool one_rank = m_comm.size() == 1;
  EXPECT_EQ(grid.order, 11);  // the highest, because there is no problem to solve
  EXPECT_EQ(grid.candidates.size() == 1, one_rank);
  int balanced = 0, slabs = 0;
  for (const GridCandidate& c : grid.candidates) {
    EXPECT_EQ(c.balanced, c.model.elements == grid.candidates[0].model.elements);
    if (!c.tried) continue;
    balanced += c.balanced;
    slabs += c.model.partition.is_slabs();
    EXPECT_TRUE(c.balanced || c.model.partition.is_slabs());
  }
  EXPECT_EQ(grid.candidates[0].tried, !one_rank);
  EXPECT_LE(balanced, 7);
  if (!one_rank) {
    EXPECT_GE(slabs, 1);
  }
  for (const Partition& partition : selectable_partitions(grid))
    EXPECT_TRUE(partition.fits({14, 6, 7}, m_comm.size()));
}

// A cube allows many orientations of one shape, which must leave room for other shapes.
TEST_F(ProcessGrid, TriesSeveralShapes) {
  const GridRecord grid = list_grids(m_comm, parse("mesh: {elements: [8, 8, 8]}"));
  for (const GridCandidate& c : grid.candidates) {
    const auto alike =
        std::count_if(grid.candidates.begin(), grid.candidates.end(), [&](const auto& other) {
          return other.tried && other.model.elements == c.model.elements &&
                 other.model.cost_bytes() == c.model.cost_bytes();
        });
    EXPECT_LE(alike, 3);
    if (m_comm.size() == 4 && c.balanced) {
      EXPECT_GE(alike, 2) << c.model.partition.name() << " is like none that is tried";
    }
  }
}

TEST_F(ProcessGrid, ThatIsPinnedIsNotTuned) {
  const std::string ranks = std::to_string(m_comm.size());
  const std::vector<std::pair<std::string, std::string>> pinned{
      {"bisection", "bisection"},
      {"slabs", "1 × " + ranks + " × 1"},
      {"[1, 1, " + ranks + "]", "1 × 1 × " + ranks}};
  for (const auto& [given, name] : pinned) {
    const GridRecord grid = tuned(parse("mesh: {elements: [7, 8, 7], partition: " + given + "}"));
    ASSERT_EQ(grid.candidates.size(), 1u);
    EXPECT_EQ(grid.partition().name(), name);
    EXPECT_FALSE(grid.candidates[0].timing);
    EXPECT_EQ(grid.strategy, "");
  }
}

TEST_F(ProcessGrid, IsMeasuredAndChosenAlikeOnEveryRank) {
  for (const std::string& mesh : meshes) {
    const Case input = parse("problem: none\norders: [1, 3]\nmesh: " + mesh +
                             "\ngather_scatter: {tuning: {grid_budget_seconds: 0.02}}");
    const GridRecord grid = tuned(input);
    EXPECT_EQ(m_comm.first_text(grid.partition().name()), grid.partition().name());
    EXPECT_EQ(m_comm.broadcast(std::int64_t{grid.selected}), grid.selected);
    EXPECT_TRUE(grid.candidates[grid.selected].balanced);
    const auto tried = std::count_if(grid.candidates.begin(), grid.candidates.end(),
                                     [](const GridCandidate& c) { return c.tried; });
    EXPECT_EQ(grid.strategy, tried > 1 ? "device-pairwise" : "") << mesh << ": " << grid.why;
    for (const GridCandidate& c : grid.candidates) {
      EXPECT_EQ(c.timing.has_value(), c.tried && tried > 1);
      if (!c.timing) continue;
      EXPECT_GE(grid.rounds, 5);
      EXPECT_EQ(static_cast<int>(c.timing->samples.size()), grid.rounds);
      EXPECT_LE(c.timing->cost.low, c.timing->cost.median);
    }
  }
}

TEST_F(ProcessGrid, IsTheModelsWhereNothingIsMeasured) {
  const std::string text = "problem: none\norders: [2]\nmesh: {elements: [8, 8, 8]}\n";
  const GridRecord listed = list_grids(m_comm, parse(text));
  if (m_comm.size() == 1) GTEST_SKIP() << "one rank has one grid";
  const auto expect_unmeasured = [&](const GridRecord& grid, const std::string& why) {
    EXPECT_EQ(grid.partition(), listed.candidates[0].model.partition);
    EXPECT_NE(grid.why.find(why), std::string::npos) << grid.why;
    for (const GridCandidate& c : grid.candidates) EXPECT_FALSE(c.timing);
  };
  expect_unmeasured(tuned(parse(text + "gather_scatter: {tuning: {grid_budget_seconds: 0}}")),
                    "grid_budget_seconds");
  m_budget.available = 1;
  expect_unmeasured(tuned(parse(text)), "takes");
  m_budget.available = plenty;
  GridRecord grid = listed;
  m_guard.excluded = [](const std::string&) { return std::string("it crashed"); };
  tune_grid(m_comm, parse(text), 0.01, m_machine, m_budget, m_guard, m_progress, grid);
  expect_unmeasured(grid, "no strategy");
}

// If a strategy is excluded, the next one is used.
TEST_F(ProcessGrid, IsMeasuredByTheFirstStrategyThatIsRight) {
  if (m_comm.size() == 1) GTEST_SKIP() << "one rank has one grid";
  const Case input = parse(
      "problem: none\norders: [2]\ngather_scatter: {tuning: "
      "{grid_budget_seconds: 0.01}}");
  GridRecord grid = list_grids(m_comm, input);
  m_guard.excluded = [](const std::string& name) {
    return name.starts_with("device-pair") ? std::string("it crashed") : std::string();
  };
  tune_grid(m_comm, input, input.grid_budget_seconds, m_machine, m_budget, m_guard, m_progress,
            grid);
  EXPECT_EQ(grid.strategy, "host-pairwise");
}

TEST_F(ProcessGrid, OfAnEarlierRunIsTakenAgain) {
  if (m_comm.size() == 1) GTEST_SKIP() << "one rank has one grid";
  const TemporaryFolder folder;  // only rank 0 uses it
  Case input = parse(
      "problem: none\norders: [2]\ngather_scatter: {tuning: {mode: cached, "
      "grid_budget_seconds: 0.01}}");
  input.tuning_cache = folder.path("cache.json");
  const GridRecord first = tuned(input), second = tuned(input);
  EXPECT_FALSE(first.replayed);
  EXPECT_NE(first.why.find("measured anew, as there is no"), std::string::npos) << first.why;
  EXPECT_TRUE(second.replayed) << second.why;
  EXPECT_EQ(second.partition(), first.partition());
  Case other = input;
  other.field_kind = {3, Precision::single};
  const GridRecord third = tuned(other);
  EXPECT_FALSE(third.replayed) << "a choice for other fields";
  EXPECT_NE(third.why.find("components was 1, now 3; precision was double, now single"),
            std::string::npos)
      << third.why;
  input.strategies = {"host-pairwise"};
  EXPECT_FALSE(tuned(input).replayed) << "a choice for other strategies";
  input.mesh.elements = {8, 8, 16};
  EXPECT_FALSE(tuned(input).replayed) << "a choice for another mesh";
}

// An earlier choice that is not the best by the model may no longer be the fastest.
TEST_F(ProcessGrid, OfAnEarlierRunIsMeasuredBesideTheBestByTheModel) {
  const TemporaryFolder folder;  // only rank 0 uses it
  Case input = parse(
      "problem: none\norders: [2]\ngather_scatter: {tuning: {mode: cached, "
      "grid_budget_seconds: 0.01}}");
  input.tuning_cache = folder.path("cache.json");
  const GridRecord first = tuned(input);
  for (std::size_t c = 0; c < first.candidates.size(); ++c) {
    if (!first.candidates[c].timing || !first.candidates[c].balanced) continue;
    GridRecord kept = first;
    kept.selected = static_cast<int>(c);
    make_grid_choice(input, m_machine, {.name = "", .note = "a test", .agreed = true}, kept);
    keep(input, kept);
    const GridRecord again = tuned(input);
    SCOPED_TRACE(again.why);
    const auto timed =
        std::count_if(again.candidates.begin(), again.candidates.end(),
                      [](const GridCandidate& candidate) { return candidate.timing.has_value(); });
    if (again.replayed) {
      EXPECT_EQ(again.selected, kept.selected);
      EXPECT_EQ(timed, c == 0 ? 0 : 2);
    } else {
      EXPECT_NE(c, 0);
      EXPECT_NE(again.why.find("measured anew, as an exchange takes"), std::string::npos);
      EXPECT_GE(timed, 2);
    }
  }
}

// ---- Selection from given samples ---------------------------------------------------------------

std::vector<GridCandidate> candidates_with(
    const std::vector<std::pair<bool, std::vector<double>>>& balanced_and_samples) {
  std::vector<GridCandidate> candidates;
  for (const auto& [balanced, samples] : balanced_and_samples) {
    GridCandidate& c = candidates.emplace_back();
    c.balanced = balanced;
    c.tried = !samples.empty();
    if (c.tried) c.timing.emplace().samples = samples;
  }
  return candidates;
}

const std::vector<double> usual{1.00, 1.01, 0.99, 1.02, 1.00, 0.98, 1.01};
const std::vector<double> alike{0.99, 1.02, 0.98, 1.01, 1.01, 0.98, 1.00};
const std::vector<double> barely{0.95, 0.96, 0.94, 0.97, 0.95, 0.93, 0.96};
const std::vector<double> half{0.50, 0.51, 0.49, 0.51, 0.50, 0.49, 0.51};

TEST(ProcessGridChoice, IsTheFastest) {
  auto candidates = candidates_with({{true, usual}, {true, {}}, {true, half}});
  EXPECT_EQ(judge_grids(candidates), 2);
  EXPECT_FALSE(candidates[2].timing->tie);
  EXPECT_NEAR(candidates[0].timing->relative_to_best, 2, 0.02);
}

TEST(ProcessGridChoice, IsTheModelsFirstWhereNoiseWouldDecide) {
  auto candidates = candidates_with({{true, usual}, {true, alike}, {true, alike}});
  EXPECT_EQ(judge_grids(candidates), 0);
  EXPECT_TRUE(candidates[0].timing->tie);
  EXPECT_TRUE(candidates[1].timing->tie);
}

TEST(ProcessGridChoice, IsTheModelsFirstWhereLittleIsToBeGained) {
  auto candidates = candidates_with({{true, usual}, {true, barely}});
  EXPECT_EQ(judge_grids(candidates), 0);  // the other is faster by only 5 %, in every round
  EXPECT_TRUE(candidates[1].timing->tie);
  EXPECT_LT(candidates[1].timing->cost.median, candidates[0].timing->cost.median);
}

TEST(ProcessGridChoice, OfAnEarlierRunIsKeptUnlessAnotherIsClearlyFaster) {
  const auto objection = [](const std::vector<double>& first, const std::vector<double>& kept) {
    auto candidates = candidates_with({{true, first}, {true, {}}, {true, kept}});
    return objection_to_kept(candidates, 2);
  };
  EXPECT_EQ(objection(usual, half), "");
  EXPECT_EQ(objection(usual, alike), "");
  EXPECT_EQ(objection(barely, usual), "");
  EXPECT_EQ(objection(half, usual).find("an exchange takes 1.000 s where"), 0U)
      << objection(half, usual);
}

TEST(ProcessGridChoice, IsNeverUneven) {
  auto candidates = candidates_with({{true, usual}, {true, alike}, {false, half}});
  EXPECT_EQ(judge_grids(candidates), 0);
  EXPECT_FALSE(candidates[2].timing->tie);
  EXPECT_NEAR(candidates[2].timing->relative_to_best, 0.5, 0.02);
  EXPECT_NEAR(candidates[2].timing->cost.median, 0.5, 0.01);
}

}  // namespace
}  // namespace nekbone_k
