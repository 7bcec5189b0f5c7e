// SPDX-License-Identifier: BSD-3-Clause
// CG as in a run, with exchanges that are wrong when CG begins.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/order_run.hpp"
#include "core/errors.hpp"
#include "support/made_up_strategies.hpp"

namespace nekbone_k {
namespace {

class Solve : public testing::Test {
 protected:
  SolveRecord solve_by(const Strategy& exchange, const std::vector<Strategy>& others) {
    const Case input = parse_case(
        "mesh: {elements: [4, 4, 4], periodic: true}\norders: [3]\nproblem: taylor-green\n"
        "operator: {lambda: 1}\nverification: {error_bound: 0.2}\ngather_scatter: {audit: false}\n"
        "solver: {order: 3, iterations: 200, tolerance: 1e-8}",
        "x.yaml", {}, m_comm.size());
    Discretization discretization(m_comm, input.mesh, 3, input.summation);
    Progress progress(false);
    NoGuard guard;
    return solve(m_comm, input, discretization,
                 {exchange, others, all_reduce_strategies().front(), {}}, guard, progress,
                 [](const SolveRecord&) {});
  }

  const Communicator m_comm{MPI_COMM_WORLD};
};

TEST_F(Solve, GoesByTheChosenExchange) {
  const SolveRecord record = solve_by(good("good"), {good("other")});
  EXPECT_TRUE(record.passed) << record.verdict;
  EXPECT_EQ(record.strategy, "good");
  EXPECT_TRUE(record.left_out.empty());
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
    ASSERT_EQ(record.left_out.size(), 2U);
    EXPECT_EQ(record.left_out[0].strategy, strategy.name);
    EXPECT_EQ(record.left_out[1].strategy, wrong[0].name);
    for (const auto& [name, failure] : record.left_out)
      EXPECT_EQ(failure.find("WRONG add of double: DOF "), 0U) << failure;
  }
}

TEST_F(Solve, IsNotBegunWhereNoExchangeIsRight) {
  if (m_comm.size() == 1) GTEST_SKIP() << "nothing is exchanged";
  const Strategy wrong = wrong_at_once().front();
  const SolveRecord record = solve_by(wrong, {wrong});
  EXPECT_FALSE(record.passed);
  EXPECT_EQ(record.left_out.size(), 2U);
  EXPECT_TRUE(record.history.empty());
  EXPECT_NE(record.verdict.find("CG was not begun"), std::string::npos) << record.verdict;
}

TEST_F(Solve, EndsWhereMessagesMayStillCome) {
  if (m_comm.size() == 1) GTEST_SKIP() << "nothing is exchanged";
  for (const Thrower& thrower : throwers()) {
    if (thrower.name != "pairwise_in_post") continue;
    EXPECT_THROW(solve_by(named("throws", thrower.make), {good("good")}), InternalError);
  }
}

}  // namespace
}  // namespace nekbone_k
