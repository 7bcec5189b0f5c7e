// SPDX-License-Identifier: BSD-3-Clause
// Estimated memory of a run.
#include "selection/memory.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/errors.hpp"
#include "support/contains.hpp"

namespace nekbone_k {
namespace {

double tuning_bytes(const std::string& strategies) {
  const Case input = parse_case(
      "problem: none\nmesh: {elements: [16, 16, 16]}\n"
      "gather_scatter: {strategies: [" +
          strategies + "]}",
      "x.yaml", {}, 2);
  return tuning_memory(BoxMesh(input.mesh, 7, 2, 0), input).without_operator;
}

// Each strategy keeps its buffers while the tuner times any strategy.
TEST(Memory, OfTuningIsThatOfTheStrategiesThatAreTried) {
  const double one = tuning_bytes("device-pairwise"), other = tuning_bytes("host-pairwise");
  const double both = tuning_bytes("device-pairwise, host-pairwise");
  EXPECT_GT(other, one);  // copies of both messages on the host
  EXPECT_GT(both, other);
  EXPECT_GT(tuning_bytes("all"), both);
  // device-pairwise has two buffers, host-pairwise four.
  const double a_buffer = (both - other) / 2;
  EXPECT_NEAR(other - one, 2 * a_buffer, 1e-9 * both);
}

double solve_bytes(const std::string& solver) {
  const Communicator comm(MPI_COMM_SELF);
  const Case input = parse_case(
      "mesh: {elements: [16, 16, 16]}\nsolver: {order: 7, " + solver + "}", "x.yaml", {}, 1);
  return estimate_memory(comm, input, find_node_layout(comm), std::span(&input.mesh.partition, 1))
      .solve;
}

// Vectors of a pinned variant are counted. With auto, CG takes only variants that fit.
TEST(Memory, OfASolveHasTheVectorsOfAPinnedVariant) {
  const double usual = solve_bytes("variant: auto"), classic = solve_bytes("variant: classic");
  const double single = solve_bytes("variant: single-reduction"),
               pipelined = solve_bytes("variant: pipelined");
  EXPECT_EQ(usual, classic);
  const double vector = single - classic;
  EXPECT_NEAR(vector, 8.0 * 113 * 113 * 113, 0.1 * vector);
  EXPECT_NEAR(pipelined - classic, 3 * vector, 1e-9 * pipelined);
  EXPECT_NEAR(solve_bytes("variant: pipelined, preconditioner: jacobi") -
                  solve_bytes("preconditioner: jacobi"),
              4 * vector, 1e-9 * pipelined);
}

double flow_bytes(const std::string& flow, const std::string& mesh = "") {
  const Communicator comm(MPI_COMM_SELF);
  const Case input = parse_case("problem: flow\nmesh: {elements: [16, 16, 16]" + mesh +
                                    "}\nsolver: {order: 7}\nflow: {" + flow + "}",
                                "x.yaml", {}, 1);
  return estimate_memory(comm, input, find_node_layout(comm), std::span(&input.mesh.partition, 1))
      .solve;
}

// Velocity and pressure have as many earlier solutions each, without duplicates on element
// surfaces.
TEST(Memory, OfAFlowHasItsEarlierSolutions) {
  const double none = flow_bytes("projection: 0"), one = flow_bytes("projection: 1"),
               many = flow_bytes("projection: 20");
  const double fields = 4 * 8.0 * 112 * 112 * 112;
  EXPECT_GT(one - none, fields);
  EXPECT_LT(one - none, 2 * fields);
  EXPECT_NEAR(many - none, 20 * (one - none), 1e-9 * many);
  EXPECT_GT(flow_bytes("projection: 0, time_order: 3"), flow_bytes("projection: 0, time_order: 1"));
  EXPECT_GT(none, solve_bytes("preconditioner: multigrid"));
}

// On a deformed mesh, every Gauss point has nine factors; on equal bricks, all share them.
TEST(Memory, OfAFlowHasTheFactorsOfItsGaussPoints) {
  const double points = 12.0 * 12 * 12 * 16 * 16 * 16;
  const std::string deformed = ", deformation: sine, epsilon: 0.1";
  const double with = flow_bytes("dealiasing: true", deformed),
               without = flow_bytes("dealiasing: false", deformed);
  EXPECT_GE(with - without, 9 * 8 * points);
}

double flow_tuning_bytes(const std::string& problem) {
  const Case input = parse_case(problem +
                                    "\nmesh: {elements: [16, 16, 16]}\nsolver: {order: 7}\n"
                                    "gather_scatter: {strategies: [device-pairwise]}",
                                "x.yaml", {}, 2);
  return tuning_memory(BoxMesh(input.mesh, 7, 2, 0), input).without_operator;
}

TEST(Memory, OfTuningAFlowIsThatOfItsVectors) {
  const double scalars = flow_tuning_bytes("problem: taylor-green");
  EXPECT_GT(flow_tuning_bytes("problem: flow"), scalars + 1e6);
}

// Why a case on one rank is refused, or nothing.
std::string refusal(const MemoryBudget& budget, const std::string& problem = "") {
  const Case input = parse_case(
      problem + "mesh: {elements: [24, 24, 24]}\nsolver: {order: 7}\norders: [1]", "x.yaml", {}, 1);
  try {
    require_memory(input, budget, 1);
  } catch (const MemoryError& error) {
    return error.what();
  }
  return "";
}

TEST(Memory, OfARankIsLimitedToo) {
  constexpr double gib = 1024.0 * 1024 * 1024;
  MemoryBudget budget;
  budget.available = budget.machine = 8 * gib;
  budget.solve = 2 * gib;
  budget.rank_solve = 1.5 * gib;
  EXPECT_EQ(refusal(budget), "");
  budget.process = {0.5 * gib, "ulimit -v"};
  const std::string why = refusal(budget);
  EXPECT_TRUE(contains(why,
                       "the CG run at order 7 needs about 1.500 GiB more per rank, but its limit "
                       "(ulimit -v) leaves 512.0 MiB; raise the limit (ulimit -v unlimited"))
      << why;
  EXPECT_TRUE(contains(why, ", or use mesh.elements [")) << why;
  budget.process.left = 1.5 * gib;
  EXPECT_EQ(refusal(budget), "");
  EXPECT_TRUE(budget.fits());
  budget.available = gib;
  EXPECT_FALSE(budget.fits()) << "the node's";
  budget.process.left = 1e6;
  EXPECT_TRUE(contains(refusal(budget), "per node (1 rank on it)")) << "what is shared first";
}

TEST(Memory, OfAFlowThatIsRefusedNamesItsKeys) {
  constexpr double gib = 1024.0 * 1024 * 1024;
  MemoryBudget budget;
  budget.available = budget.machine = 2 * gib;
  budget.solve = 4 * gib;
  budget.process.left = 1e12;
  const std::string why = refusal(budget, "problem: flow\n");
  EXPECT_TRUE(contains(why, "x.yaml: the flow at order 7 needs about 4.000 GiB per node")) << why;
  EXPECT_TRUE(contains(why, "use mesh.elements [")) << why;
  EXPECT_TRUE(contains(why, ", more nodes, or a lower solver.order or flow.projection")) << why;
  EXPECT_TRUE(contains(refusal(budget, "flow: {projection: 0}\nproblem: flow\n"),
                       "or a lower solver.order"));
  EXPECT_FALSE(
      contains(refusal(budget, "flow: {projection: 0}\nproblem: flow\n"), "flow.projection"));
}

TEST(Memory, ThatTheInputLimitsIsRefusedWhereTheLimitIsGiven) {
  const auto refused = [](double available) {
    const Case input =
        parse_case("orders: [1]\nmemory: {limit_gib: 8}", "x.yaml", {"memory.limit_gib=1"}, 1);
    MemoryBudget budget;
    budget.machine = 4e9;
    budget.available = available;
    budget.solve = 1e10;
    budget.process.left = 1e12;
    try {
      require_memory(input, budget, 1);
    } catch (const MemoryError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(refused(1e9).find("--set memory.limit_gib=1: memory.limit_gib: the CG run at order 7"),
            0u)
      << refused(1e9);
  EXPECT_EQ(refused(4e9).find("x.yaml: the CG run at order 7"), 0u) << refused(4e9);
}

TEST(Memory, OfARankThatHasNextToNoneFitsNoCase) {
  MemoryBudget budget;
  budget.available = budget.machine = 1e12;
  budget.solve = budget.rank_solve = 2e9;
  budget.process = {1e6, "ulimit -d"};
  const std::string why = refusal(budget);
  EXPECT_TRUE(contains(why, "raise the limit (ulimit -d unlimited")) << why;
  EXPECT_FALSE(contains(why, "mesh.elements")) << why;
}

}  // namespace
}  // namespace nekbone_k
