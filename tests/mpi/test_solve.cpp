// SPDX-License-Identifier: BSD-3-Clause
// CG as in a run, with exchanges that are wrong when CG begins.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/order_run.hpp"
#include "core/errors.hpp"
#include "report/report.hpp"
#include "selection/cg_methods.hpp"
#include "support/made_up_strategies.hpp"

namespace nekbone_k {
namespace {

class Solve : public testing::Test {
 protected:
  SolveRecord solve_by(const Strategy& exchange, const std::vector<Strategy>& others,
                       const std::string& solver = "launch: host", double memory = 1e15,
                       double sum_seconds = 1e-6, bool audit = false) {
    const Case input = parse_case(
        "mesh: {elements: [4, 4, 4], periodic: true}\norders: [3]\nproblem: taylor-green\n"
        "operator: {lambda: 1}\nverification: {error_bound: 0.2}\n"
        "gather_scatter: {audit: " +
            std::string(audit ? "true" : "false") + m_strategies +
            ", tuning: {budget_seconds: " + m_budget +
            "}}\n"
            "solver: {order: 3, iterations: 200, tolerance: 1e-8, " +
            solver + "}",
        "x.yaml", {}, m_comm.size());
    MemoryBudget budget;
    budget.available = memory;
    budget.process.left = memory;
    Discretization discretization(m_comm, input.mesh, 3, input.summation);
    Progress progress(false);
    NoGuard guard;
    return solve(m_comm, input, discretization,
                 {exchange, others, all_reduce_strategies().front(), {}},
                 {m_machine, budget, sum_seconds}, guard, progress, [](const SolveRecord&) {});
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  MachineRecord m_machine = make_machine_record(m_comm);  // without paths: all are tried
  std::string m_budget = "0.1";                           // of tuning, in s
  std::string m_strategies;                               // allowed at the levels of a V-cycle
};

TEST_F(Solve, GoesByTheChosenExchange) {
  const SolveRecord record = solve_by(good("good"), {good("other")});
  EXPECT_TRUE(record.passed) << record.verdict;
  EXPECT_EQ(record.strategy, "good");
  EXPECT_TRUE(record.excluded.empty());
}

// Strategies that are wrong at the first sum of one double per DOF.
std::vector<Strategy> wrong_at_once() {
  std::vector<Strategy> wrong;
  for (const Wrong& one : wrong_strategies())
    for (const char* const fault : {"delivers_nothing", "skips_a_neighbour", "reverses_a_message"})
      if (one.strategy.name.starts_with(fault)) wrong.push_back(one.strategy);
  return wrong;
}

TEST_F(Solve, GoesByTheBestOtherWhereTheChosenExchangeIsWrong) {
  if (m_comm.size() == 1) GTEST_SKIP() << "nothing is exchanged";
  const std::vector<Strategy> wrong = wrong_at_once();
  EXPECT_EQ(wrong.size(), 6U);
  for (const Strategy& strategy : wrong) {
    SCOPED_TRACE(strategy.name);
    const SolveRecord record = solve_by(strategy, {wrong[0], good("good"), good("other")});
    EXPECT_TRUE(record.passed) << record.verdict;
    EXPECT_EQ(record.strategy, "good");
    ASSERT_EQ(record.excluded.size(), 2U);
    EXPECT_EQ(record.excluded[0].strategy, strategy.name);
    EXPECT_EQ(record.excluded[1].strategy, wrong[0].name);
    for (const auto& [name, failure] : record.excluded)
      EXPECT_EQ(failure.find("WRONG add of double: DOF "), 0U) << failure;
  }
}

TEST_F(Solve, IsNotBegunWhereNoExchangeIsRight) {
  if (m_comm.size() == 1) GTEST_SKIP() << "nothing is exchanged";
  const Strategy wrong = wrong_at_once().front();
  const SolveRecord record = solve_by(wrong, {wrong});
  EXPECT_FALSE(record.passed);
  EXPECT_EQ(record.excluded.size(), 2U);
  EXPECT_TRUE(record.history.empty());
  EXPECT_NE(record.verdict.find("CG did not start"), std::string::npos) << record.verdict;
}

TEST_F(Solve, EndsWhereMessagesMayStillCome) {
  if (m_comm.size() == 1) GTEST_SKIP() << "nothing is exchanged";
  for (const Thrower& thrower : throwers()) {
    if (thrower.name != "pairwise_in_post") continue;
    EXPECT_THROW(solve_by(named("throws", thrower.make), {good("good")}), InternalError);
  }
}

TEST_F(Solve, GoesByThePinnedMethod) {
  const SolveRecord expected = solve_by(good("good"), {});
  EXPECT_EQ(expected.method, CgMethod());
  EXPECT_GE(expected.host_work.waits, 2);  // for two scalars
  EXPECT_GE(expected.host_work.launches, 5);
  for (const CgVariant variant : all_cg_variants)
    for (const char* const preconditioner : {"none", "jacobi"}) {
      SCOPED_TRACE(std::string(name(variant)) + ", " + preconditioner);
      const SolveRecord record = solve_by(good("good"), {},
                                          std::string("launch: plain, variant: ") + name(variant) +
                                              ", preconditioner: " + preconditioner);
      EXPECT_TRUE(record.passed) << record.verdict;
      EXPECT_EQ(record.method, (CgMethod{variant, CgLaunch::plain}));
      if (is_host_device) {
        EXPECT_EQ(record.strategy, "good");  // a GPU takes one without the host, if there is one
      }
      // On one rank a scalar needs no host.
      if (m_comm.size() == 1) {
        EXPECT_EQ(record.host_work.waits, 0);
      }
      EXPECT_LE(record.host_work.launches, expected.host_work.launches);
      ASSERT_EQ(record.methods.candidates.size(), 1U);
      EXPECT_TRUE(record.methods.candidates[0].selected);
      EXPECT_FALSE(record.methods.candidates[0].timing);
      if (std::string(preconditioner) == "none") {
        EXPECT_NEAR(record.iterations, expected.iterations, 1);
      }
    }
}

TEST_F(Solve, SelectsOneOfTheVerifiedMethods) {
  const SolveRecord record = solve_by(good("good"), {}, "launch: auto");
  EXPECT_TRUE(record.passed) << record.verdict;
  EXPECT_GE(record.methods.candidates.size(), 4U);
  EXPECT_GE(record.methods.rounds, 3);
  int selected = 0;
  for (const CgMethodResult& candidate : record.methods.candidates) {
    SCOPED_TRACE(name(candidate.method));
    if (candidate.method.launch != CgLaunch::graph) {
      EXPECT_TRUE(candidate.verified) << candidate.failure;
    }
    EXPECT_EQ(candidate.verified, candidate.timing.has_value());
    if (!candidate.selected) continue;
    ++selected;
    EXPECT_TRUE(candidate.verified);
    EXPECT_EQ(candidate.method, record.method);
  }
  EXPECT_EQ(selected, 1);
}

TEST_F(Solve, TriesNoOtherMethodThatCannotGain) {
  m_machine.paths.emplace();
  m_machine.paths->launch = m_machine.paths->sync = 1e-12;
  const SolveRecord record = solve_by(good("good"), {}, "launch: auto", 1e15, 0);
  EXPECT_TRUE(record.passed) << record.verdict;
  EXPECT_EQ(record.method, CgMethod());
  EXPECT_NE(record.methods.why.find("other methods can save at most"), std::string::npos);
  EXPECT_EQ(record.methods.rounds, 0);
  m_machine.paths->launch = 1;
  EXPECT_GT(solve_by(good("good"), {}, "launch: auto").methods.rounds, 0);
}

TEST_F(Solve, ComparesTheExchangeInCg) {
  if (m_comm.size() == 1) GTEST_SKIP() << "nothing is exchanged";
  for (const char* const launch : {"launch: host", "launch: plain"}) {
    const SolveRecord record = solve_by(good("good"), {good("other")}, launch, 1e15, 1e-6, true);
    ASSERT_TRUE(record.audit) << launch;
    EXPECT_EQ(record.audit->strategies.front().name, "good");
  }
}

TEST_F(Solve, LeavesOutMethodsWhoseVectorsDoNotFit) {
  const SolveRecord record = solve_by(good("good"), {}, "launch: auto", 1);
  EXPECT_TRUE(record.passed) << record.verdict;
  EXPECT_EQ(record.method.variant, CgVariant::classic);
  for (const CgMethodResult& candidate : record.methods.candidates)
    if (candidate.method.variant != CgVariant::classic) {
      EXPECT_FALSE(candidate.available);
      EXPECT_EQ(candidate.failure, "its vectors do not fit in memory");
    }
}

TEST(SolveMethods, TakeTheFirstStrategyWithoutTheHost) {
  const auto is_even = [](int i) { return i % 2 == 0; };
  const std::vector<int> others{3, 4, 6};
  EXPECT_EQ(*first_queued(2, others, is_even), 2);
  EXPECT_EQ(*first_queued(1, others, is_even), 4);
  EXPECT_EQ(first_queued(1, {5, 7}, is_even), nullptr);
}

TEST_F(Solve, SelectsAVCycle) {
  const SolveRecord record = solve_by(good("good"), {}, "preconditioner: multigrid");
  EXPECT_TRUE(record.passed) << record.verdict;
  EXPECT_LE(record.iterations, 20);
  ASSERT_TRUE(record.multigrid);
  const MultigridRecord& multigrid = *record.multigrid;
  ASSERT_NE(multigrid.selected(), nullptr);
  EXPECT_EQ(multigrid.selected()->method.orders.front(), 3);
  EXPECT_EQ(multigrid.candidates.front().method.degree, 3);
  ASSERT_GE(multigrid.levels.size(), 2u);
  EXPECT_EQ(multigrid.levels.front().total_dofs, 12 * 12 * 12);
  EXPECT_TRUE(multigrid.levels.back().is_direct);
  for (std::size_t l = 1; l < multigrid.levels.size(); ++l)
    EXPECT_LT(multigrid.levels[l].total_dofs, multigrid.levels[l - 1].total_dofs);
  for (const MultigridLevel& level : multigrid.levels)
    EXPECT_EQ(level.strategy.empty(), level.is_direct || m_comm.size() == 1);
  EXPECT_GT(multigrid.cycle_seconds, 0);
  // Whichever is selected, it is the same on every rank.
  for (const std::string& other : m_comm.gather(name(multigrid.selected()->method)))
    EXPECT_EQ(other, name(multigrid.selected()->method));
}

// Enough to tune levels with. SelectsAVCycle tries the whole table.
constexpr const char* few_strategies = ", strategies: [host-pairwise, host-pairwise+overlap]";

TEST_F(Solve, TakesTheVCycleOfTheInput) {
  m_strategies = few_strategies;
  const SolveRecord record = solve_by(good("good"), {},
                                      "preconditioner: multigrid, multigrid: {orders: [3, 2], "
                                      "smoother: jacobi, polynomial: chebyshev-1, degree: 2, "
                                      "precision: double, coarse_dofs: 30}");
  EXPECT_TRUE(record.passed) << record.verdict;
  ASSERT_TRUE(record.multigrid);
  ASSERT_EQ(record.multigrid->candidates.size(), 1u);
  const MultigridMethod expected{
      {3, 2}, SmootherKind::jacobi, ChebyshevKind::first, 2, Precision::double_};
  EXPECT_EQ(record.multigrid->selected()->method, expected);
  EXPECT_EQ(record.multigrid->levels[1].order, 2);
  EXPECT_EQ(record.multigrid->levels[1].total_dofs, 8 * 8 * 8);
  EXPECT_LE(record.multigrid->levels.back().total_dofs, 30);
}

TEST_F(Solve, ComparesMultigridWithJacobi) {
  m_strategies = few_strategies;
  const SolveRecord record =
      solve_by(good("good"), {}, "preconditioner: multigrid", 1e15, 1e-6, true);
  EXPECT_TRUE(record.passed) << record.verdict;
  ASSERT_TRUE(record.multigrid && record.multigrid->jacobi);
  if (record.multigrid->jacobi->converged) {
    EXPECT_GT(record.multigrid->jacobi->iterations, record.iterations);
  }
}

TEST_F(Solve, DoesNotTryAVCycleThatDoesNotFit) {
  m_budget = "100";  // ends no trial
  m_strategies = ", strategies: [host-pairwise]";
  // Enough for the first hierarchy, which the estimate has counted.
  const SolveRecord record = solve_by(
      good("good"), {}, "preconditioner: multigrid, multigrid: {smoother: jacobi, degree: 3}", 1);
  EXPECT_TRUE(record.passed) << record.verdict;
  ASSERT_TRUE(record.multigrid);
  for (const MultigridCandidate& c : record.multigrid->candidates) {
    const bool same_levels =
        c.method.orders == std::vector{3, 1} && c.method.precision == Precision::single;
    EXPECT_EQ(c.available, same_levels) << name(c.method) << ": " << c.failure;
  }
}

}  // namespace
}  // namespace nekbone_k
