// What casts doubt on the figures of a run is said, and only that.
#include "app/doubts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "core/machine.hpp"
#include "gs/statistics.hpp"
#include "support/contains.hpp"
#include "support/report_records.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

CoreGroup group_of(int n_cores) {
  CoreGroup group{.host = "node1", .ranks = {4, 5}, .cores = {}};
  for (int core = 0; core < n_cores; ++core) group.cores.insert(core);
  return group;
}

TEST(Doubts, AreOfOthersOnTheCoresOfTheRanks) {
  // Two ranks that had half of their two cores, and others the rest.
  const std::string half = load_warning(group_of(2), {10, 10, 20});
  EXPECT_TRUE(contains(half, "took 1.0 of the 2 cores that ranks 4-5 on node1 may use")) << half;
  EXPECT_TRUE(contains(half, "run again")) << half;
  EXPECT_TRUE(contains(load_warning(group_of(128), {10, 50, 1280}), "took 123 of the 128"));
  EXPECT_EQ(load_warning(group_of(2), {10, 19.5, 20}), "") << "next to nothing";
  EXPECT_EQ(load_warning(group_of(8), {10, 20, 40}), "") << "there are cores for all";
  EXPECT_EQ(load_warning(group_of(2), {10, 20, 18}), "") << "clocks may disagree";
  EXPECT_EQ(load_warning(group_of(2), {0.1, 0.1, 0.2}), "") << "too short to tell";
}

TEST(Doubts, AreOfRanksThatShareTheirCores) {
  NodeLayout layout;
  layout.ranks = {1, 2, 4, 5};  // rank 3 is on another node
  const std::vector<std::string> binding{"0-1", "0-1", "2", "0-1", "0-1", "0,2"};
  const CoreGroup group = core_group(4, layout, "node1", binding);
  EXPECT_EQ(group.ranks, (std::vector<int>{1, 4}));
  EXPECT_EQ(group.cores, (std::set<int>{0, 1}));
  EXPECT_EQ(group.host, "node1");
  EXPECT_EQ(core_group(2, layout, "node1", binding).ranks, std::vector<int>{2});
}

TEST(Doubts, CountWhatCoresSpentOnProcessesAndOtherMachines) {
  const TemporaryFolder folder;
  const std::string stat = folder.path("stat");
  // user nice system idle iowait irq softirq steal guest guest_nice
  std::ofstream(stat) << "cpu  1 2 3 4 5 6 7 8 9 10\n"
                         "cpu0 100 20 3 4000 50000 600000 7000000 80000000 9 10\n"
                         "cpu1 1 0 0 0 0 0 0 0 1 0\ncpu10 2 0 0 0 0 0 0 0 0 0\nintr 5 6 7\n";
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(busy_seconds({0}, stat), 80000123 * tick);
  EXPECT_DOUBLE_EQ(busy_seconds({1, 10}, stat), 3 * tick);
  EXPECT_EQ(busy_seconds({2}, stat), 0);
  EXPECT_EQ(busy_seconds({}, stat), 0);
  EXPECT_EQ(busy_seconds({0}, folder.path("none")), 0);
}

TEST(Doubts, CountTheTimeOfThisProcess) {
  const double own = own_processor_seconds();
  const std::clock_t begin = std::clock();
  volatile double sink = 0;
  while (own_processor_seconds() < own + 0.3) sink = sink + 1;
  EXPECT_NEAR(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 0.3, 0.1);
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

using Samples = std::vector<double>;

Audit audit_of(const Samples& choice, const Samples& other) {
  Audit audit;
  audit.rounds = static_cast<int>(choice.size());
  for (const Samples& samples : {choice, other}) {
    AuditedStrategy& audited = audit.strategies.emplace_back();
    audited.name = audit.strategies.size() == 1 ? "nccl" : "host-put";
    audited.timing.samples = samples;
    audited.timing.cost.median = median(samples);
    audited.timing.relative_to_best = median(samples) / std::min(median(choice), median(other));
  }
  return audit;
}

TEST(Doubts, AreOfOrdersThatWereNotCompiled) {
  std::vector<OrderRecord> orders(3);
  for (int i = 0; i < 3; ++i) orders[i].order = 8 + i;
  EXPECT_EQ(slow_kernels(orders), "");
  orders[1].compiled = false;
  EXPECT_EQ(slow_kernels(orders),
            "order 9 ran by the kernel for any order, which is several times slower; those that "
            "CMake's NEKBONE_K_ORDERS lists are compiled, on a GPU up to order 15");
  orders[2].compiled = false;
  EXPECT_TRUE(contains(slow_kernels(orders), "orders 9, 10 ran by the kernel"));
}

TEST(Doubts, AreOfChoicesThatAnotherWouldHaveBeaten) {
  SolveRecord solve = *usual_run().solve;
  const auto regrets_of = [&](const Samples& choice, const Samples& other) {
    solve.audit = audit_of(choice, other);
    return regrets(solve);
  };
  const Samples one(6, 1.0), beaten(6, 1.25);
  const std::string of_exchanges =
      "20.0 % less with exchanges by host-put than with nccl, the choice; name it in "
      "gather_scatter.strategies";
  ASSERT_EQ(regrets_of(beaten, one).size(), 1u);
  EXPECT_TRUE(contains(regrets(solve)[0], of_exchanges)) << regrets(solve)[0];
  EXPECT_TRUE(regrets_of(one, beaten).empty()) << "the best";
  EXPECT_TRUE(regrets_of(Samples(6, 1.02), one).empty()) << "next to nothing";
  EXPECT_TRUE(regrets_of({1.1, 0.9, 1.1, 0.9, 1.1, 1.1}, one).empty()) << "noise";
  EXPECT_TRUE(regrets_of(Samples(5, 1.25), Samples(5, 1.0)).empty()) << "too few to tell";
  EXPECT_TRUE(regrets_of(Samples(5, 1.25), one).empty()) << "too few rounds of both";
}

TEST(Doubts, AreOfSumsThatAnotherWouldHaveBeaten) {
  SolveRecord solve = *usual_run().solve;
  solve.audit.reset();
  EXPECT_TRUE(regrets(solve).empty());
  solve.sum_audit = audit_of(Samples(6, 1.25), Samples(6, 1.0));
  ASSERT_EQ(regrets(solve).size(), 1u);
  EXPECT_TRUE(contains(regrets(solve)[0], "sums by host-put")) << regrets(solve)[0];
  EXPECT_TRUE(contains(regrets(solve)[0], "name it in solver.all_reduce")) << regrets(solve)[0];
}

}  // namespace
}  // namespace nekbone_k
