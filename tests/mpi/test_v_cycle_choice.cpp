// SPDX-License-Identifier: BSD-3-Clause
// How a run selects its V-cycle, and how later runs take it from a cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/order_run.hpp"
#include "core/errors.hpp"
#include "report/report.hpp"
#include "selection/replay.hpp"
#include "support/contains.hpp"
#include "support/made_up_strategies.hpp"
#include "support/report_records.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

class VCycleChoice : public testing::Test {
 protected:
  /// Solves the case of `text`, which begins with the mesh, with multigrid at order 3.
  SolveRecord solve_case(const std::string& text, TuningGuard& guard,
                         const std::vector<Strategy>& others = {}) {
    m_input = parse_case(text, "x.yaml", m_overrides, m_comm.size());
    MemoryBudget budget;
    budget.available = budget.process.left = 1e15;
    Discretization discretization(m_comm, m_input.mesh, m_input.solver_order, m_input.summation);
    Progress progress(false);
    return solve(m_comm, m_input, discretization,
                 {good("good"), others, all_reduce_strategies().front(), {}},
                 {m_machine, budget, 1e-6}, guard, progress, [](const SolveRecord&) {});
  }
  SolveRecord solve_case(const std::string& text) {
    NoGuard guard;
    return solve_case(text, guard);
  }

  static std::string usual_case(const std::string& lambda = "1", const std::string& multigrid = "",
                                const std::string& gather_scatter = "audit: false") {
    return "mesh: {elements: [4, 4, 4], periodic: true}\norders: [3]\nproblem: taylor-green\n"
           "operator: {lambda: " +
           lambda + "}\nverification: {error_bound: 0.2}\ngather_scatter: {" + gather_scatter +
           ", strategies: [host-pairwise, host-pairwise+overlap], tuning: {budget_seconds: "
           "0.1}}\nsolver: {order: 3, iterations: 200, "
           "tolerance: 1e-8, preconditioner: multigrid, multigrid: {" +
           multigrid + "}}";
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  const MachineRecord m_machine = make_machine_record(m_comm);
  std::vector<std::string> m_overrides;  // of the input
  Case m_input;                          // of the last solve
};

// ---- What cannot be selected -------------------------------------------------------------------

constexpr const char* too_large = "1e30";  // lambda of an operator on floats

TEST_F(VCycleChoice, SkipsSinglePrecisionIfLambdaIsBeyondIt) {
  // Only the precision is open, so that the budget does not end before it is looked at.
  const SolveRecord record = solve_case(usual_case(
      too_large, "orders: [3, 1], smoother: jacobi, polynomial: chebyshev-4, degree: 2"));
  EXPECT_TRUE(record.passed) << record.verdict;
  ASSERT_TRUE(record.multigrid);
  ASSERT_NE(record.multigrid->selected(), nullptr);
  EXPECT_EQ(record.multigrid->candidates.size(), 2U);
  EXPECT_EQ(record.multigrid->selected()->method.precision, Precision::double_);
  for (const MultigridCandidate& c : record.multigrid->candidates)
    if (c.method.precision == Precision::single) {
      EXPECT_FALSE(c.available);
      EXPECT_FALSE(c.tried());
      EXPECT_EQ(c.failure, "not tried: lambda 1e+30 is beyond single precision on this mesh");
    }
}

TEST_F(VCycleChoice, RefusesToPinSinglePrecisionIfLambdaIsBeyondIt) {
  try {
    solve_case(usual_case(too_large, "precision: single"));
    FAIL() << "no exception";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "x.yaml: operator.lambda 1e+30 is beyond single precision on this mesh; use "
              "solver.multigrid.precision: double");
  }
}

// ---- Guards ------------------------------------------------------------------------------------

/// Knows what is in use.
class RecordingGuard : public NoGuard {
 public:
  void enter(const std::string& strategy) override { m_in_use.push_back(strategy); }
  void leave() override { m_in_use.pop_back(); }
  bool has(const std::string& strategy) const {
    return std::find(m_in_use.begin(), m_in_use.end(), strategy) != m_in_use.end();
  }

 private:
  std::vector<std::string> m_in_use;
};

const RecordingGuard* watching = nullptr;
int watched_calls = 0, blamed_others = 0, blamed_none = 0;

/// Exchanges of a strategy "watched", which asks the guard.
class Watched : public RightExchange {
 public:
  using RightExchange::RightExchange;
  void post() override {
    ++watched_calls;
    if (watching->has("good")) ++blamed_others;
    if (!watching->has("watched")) ++blamed_none;
    RightExchange::post();
  }
};

TEST_F(VCycleChoice, AuditBlamesTheStrategyThatRuns) {
  if (m_comm.size() == 1) GTEST_SKIP() << "nothing is exchanged";
  for (const char* const precision : {"single", "double"}) {
    SCOPED_TRACE(precision);
    RecordingGuard guard;
    watching = &guard;
    watched_calls = blamed_others = blamed_none = 0;
    const SolveRecord record = solve_case(
        usual_case("1", std::string("degree: 2, smoother: jacobi, precision: ") + precision,
                   "audit: true"),
        guard, {named("watched", make<Watched>)});
    EXPECT_TRUE(record.passed) << record.verdict;
    ASSERT_TRUE(record.audit);
    EXPECT_GT(watched_calls, 0);
    EXPECT_EQ(blamed_others, 0);
    EXPECT_EQ(blamed_none, 0);
  }
}

// ---- Choices of earlier runs -------------------------------------------------------------------

class VCycleChoiceCached : public VCycleChoice {
 protected:
  VCycleChoiceCached() : m_cache(m_comm.broadcast(m_folder.path("cache.json"))) {
    m_overrides = {"gather_scatter.tuning.mode=cached", "gather_scatter.tuning.cache=" + m_cache};
  }

  /// Solves, and keeps the choices if `keeps`.
  MultigridRecord multigrid_of(bool keeps, const std::string& lambda = "1") {
    RunRecord run = usual_run();
    run.grid.made.reset();
    run.all_reduce.reset();
    run.orders.clear();
    run.solve = solve_case(usual_case(lambda));
    EXPECT_TRUE(run.solve->passed) << run.solve->verdict;
    run.input = std::make_shared<const Case>(m_input);
    if (keeps) keep_choices(m_comm, "", run);
    return run.solve->multigrid.value();
  }
  /// Changes all V-cycles in the cache.
  void tamper(const std::function<void(nlohmann::json&)>& change) {
    if (m_comm.is_root()) {
      nlohmann::json cache = nlohmann::json::parse(std::ifstream(m_cache));
      for (nlohmann::json& decision : cache["decisions"])
        if (decision["choice_of"] == "V-cycles") change(decision);
      std::ofstream(m_cache) << cache;
    }
    m_comm.barrier();
  }
  void expect_measured_anew(const std::string& why, const std::string& lambda = "1") {
    const MultigridRecord record = multigrid_of(false, lambda);
    EXPECT_FALSE(record.origin.replayed);
    EXPECT_GT(record.candidates.size(), 1u);
    EXPECT_TRUE(contains(record.origin.cache_note, "measured anew, as ")) << why;
    EXPECT_TRUE(contains(record.origin.cache_note, why)) << record.origin.cache_note;
    EXPECT_TRUE(record.origin.made);
  }

  const TemporaryFolder m_folder;
  const std::string m_cache;  // of rank 0
};

TEST_F(VCycleChoiceCached, IsTakenByTheNextRun) {
  const MultigridRecord first = multigrid_of(true);
  EXPECT_FALSE(first.origin.replayed);
  EXPECT_TRUE(contains(first.origin.cache_note, "; kept in ")) << first.origin.cache_note;
  ASSERT_TRUE(first.origin.made);
  EXPECT_EQ(first.origin.made->decision.strategy, name(first.selected()->method));
  EXPECT_GT(first.origin.made->decision.cost_seconds, 0);
  // As if this machine had been slow: it may now be slower than it was.
  tamper([](nlohmann::json& decision) { decision["cost_s"] = 1e3; });

  const MultigridRecord again = multigrid_of(false);
  EXPECT_TRUE(again.origin.replayed) << again.origin.cache_note;
  EXPECT_TRUE(contains(again.origin.cache_note, "the choice of ")) << again.origin.cache_note;
  EXPECT_FALSE(again.origin.made);
  ASSERT_EQ(again.candidates.size(), 1u);
  ASSERT_NE(again.selected(), nullptr);
  EXPECT_TRUE(again.selected()->verified);
  EXPECT_EQ(again.selected()->method, first.selected()->method);
  ASSERT_EQ(again.levels.size(), first.levels.size());
  for (std::size_t l = 0; l < again.levels.size(); ++l) {
    const ChoiceOrigin& origin = again.levels[l].origin;
    if (origin.replayed) {
      EXPECT_EQ(again.levels[l].strategy, first.levels[l].strategy);
    } else if (!again.levels[l].strategy.empty() && first.levels[l].origin.made) {
      EXPECT_TRUE(contains(origin.cache_note, "now costs")) << origin.cache_note;
    }
  }
}

TEST_F(VCycleChoiceCached, IsRefusedForAnotherProblem) {
  multigrid_of(true);
  expect_measured_anew("lambda was 1, now 2", "2");
}

TEST_F(VCycleChoiceCached, IsRefusedIfTheInputDoesNotAllowIt) {
  multigrid_of(true);
  tamper([](nlohmann::json& decision) { decision["strategy"] = "host-put"; });
  expect_measured_anew("names host-put, which the input does not allow");
}

TEST_F(VCycleChoiceCached, IsRefusedIfItBecameSlow) {
  multigrid_of(true);
  tamper([](nlohmann::json& decision) { decision["cost_s"] = 1e-9; });
  expect_measured_anew("per digit, and 1.000 ns when it was chosen");
}

TEST_F(VCycleChoiceCached, IsRefusedIfTheFileIsNone) {
  if (m_comm.is_root()) std::ofstream(m_cache) << "nonsense";
  m_comm.barrier();
  expect_measured_anew("it is not a cache of choices");
}

}  // namespace
}  // namespace nekbone_k
