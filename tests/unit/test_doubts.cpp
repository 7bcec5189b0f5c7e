// What casts doubt on the figures of a run is said, and only that.
#include "app/doubts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/machine.hpp"
#include "core/topology.hpp"
#include "support/contains.hpp"
#include "support/report_records.hpp"

namespace nekbone_k {
namespace {

TEST(Doubts, AreOfOthersOnTheCoresOfTheRanks) {
  // Two ranks that had half of their two cores, and others the rest.
  const std::string half = load_warning("node1", 2, {10, 10, 20});
  EXPECT_TRUE(contains(half, "other processes took 1 of the 2 cores")) << half;
  EXPECT_TRUE(contains(half, "node1") && contains(half, "run again")) << half;
  EXPECT_EQ(load_warning("node1", 2, {10, 19.5, 20}), "") << "next to nothing";
  EXPECT_EQ(load_warning("node1", 8, {10, 20, 40}), "") << "there are cores for all";
  EXPECT_EQ(load_warning("node1", 2, {10, 20, 18}), "") << "clocks may disagree";
  EXPECT_EQ(load_warning("node1", 2, {0, 0, 0}), "");
}

TEST(Doubts, CountTheTimeOfCores) {
  const std::vector<int> list = cores_in(allowed_cores());
  const std::set<int> cores(list.begin(), list.end());
  const double own = own_processor_seconds(), busy = busy_seconds(cores);
  if (busy == 0) GTEST_SKIP() << "this system does not say what its cores do";
  volatile double sink = 0;
  while (own_processor_seconds() < own + 0.3) sink = sink + 1;
  const double spent = busy_seconds(cores) - busy;
  EXPECT_GE(spent, 0.2) << "of the 0.3 s that this process had, in ticks of a hundredth";
  EXPECT_EQ(busy_seconds({}), 0);
}

TEST(Doubts, AreOfWaysThatEarlierRunsFailedBy) {
  Case input = usual_run().input;
  input.strategies = {"host-pairwise", "host-put", "host-put+overlap", "nccl"};
  TuningGuard journal;
  journal.why_excluded = [](const std::string& name) -> std::string {
    if (name.starts_with("host-put")) return "host-put crashed; delete j to try it again";
    return name == "sum host-shared" ? "sum host-shared crashed; delete j to try it again" : "";
  };
  input.all_reduces = {"host-mpi", "host-shared"};
  EXPECT_EQ(earlier_failures(input, journal),
            (std::vector<std::string>{"host-put crashed; delete j to try it again",
                                      "sum host-shared crashed; delete j to try it again"}));
  input.problem = ProblemKind::none;  // which sums nothing
  EXPECT_EQ(earlier_failures(input, journal).size(), 1u);
}

TEST(Doubts, AreOfChoicesThatAnotherWouldHaveBeaten) {
  SolveRecord solve = *usual_run().solve;
  solve.audit.emplace();
  const auto add = [&](const char* name, double seconds, double relative) {
    AuditedStrategy& audited = solve.audit->strategies.emplace_back();
    audited.name = name;
    audited.timing.cost.median = seconds;
    audited.timing.relative_to_best = relative;
  };
  add("nccl", 1.25e-3, 1.25);
  add("host-put", 1e-3, 1);
  ASSERT_EQ(regrets(solve).size(), 1u);
  EXPECT_TRUE(contains(regrets(solve)[0], "20.0 % less with host-put than with nccl, the choice"));
  solve.audit->strategies[0].timing.tie = true;
  EXPECT_TRUE(regrets(solve).empty()) << "noise may be why";
  solve.audit->strategies[0].timing = {};
  solve.audit->strategies[0].timing.relative_to_best = 1;
  EXPECT_TRUE(regrets(solve).empty()) << "the best";
  solve.audit.reset();
  EXPECT_TRUE(regrets(solve).empty());
}

}  // namespace
}  // namespace nekbone_k
