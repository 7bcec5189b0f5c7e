// SPDX-License-Identifier: BSD-3-Clause
// Warnings about unreliable timings.
#include "report/warnings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "core/statistics.hpp"
#include "core/system.hpp"
#include "support/callback_guard.hpp"
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

TEST(Warnings, AreOfOthersOnTheCoresOfTheRanks) {
  // Two ranks used half of their two cores, and other processes used the rest.
  const std::string half = load_warning(group_of(2), {10, 10, 20});
  EXPECT_TRUE(contains(half, "used 1.0 of the 2 cores available to ranks 4-5 on node1")) << half;
  EXPECT_TRUE(contains(half, "run again")) << half;
  EXPECT_TRUE(contains(load_warning(group_of(128), {10, 50, 1280}), "used 123 of the 128"));
  EXPECT_EQ(load_warning(group_of(2), {10, 19.5, 20}), "") << "next to nothing";
  EXPECT_EQ(load_warning(group_of(8), {10, 20, 40}), "") << "there are cores for all";
  EXPECT_EQ(load_warning(group_of(2), {10, 20, 18}), "") << "clocks may disagree";
  EXPECT_EQ(load_warning(group_of(2), {0.1, 0.1, 0.2}), "") << "too short to tell";
}

TEST(Warnings, AreOfThreadsThatAQuotaKeptWaiting) {
  const std::string throttled = throttle_warning("node1", 4, 10);
  EXPECT_TRUE(contains(throttled, "CPU quota on node1 paused threads for 4.000 s of 10.00 s"))
      << throttled;
  EXPECT_TRUE(contains(throttled, "; give the job or the container more CPUs")) << throttled;
  EXPECT_EQ(throttle_warning("node1", 0.1, 10), "") << "next to nothing";
  EXPECT_EQ(throttle_warning("node1", 0.3, 0.5), "") << "too short to tell";
  EXPECT_EQ(throttle_warning("node1", 0, 10), "");
}

TEST(Warnings, AreOfJobsThatWereToBeOne) {
  EXPECT_EQ(separate_jobs(2, 1, "Open MPI v4.1.4"),
            "the launcher started 2 processes, but each is a job of its own with one rank; use "
            "the launcher of the MPI that nekbone-k was built with (Open MPI v4.1.4)");
  EXPECT_TRUE(contains(separate_jobs(8, 4, "x"), "started 8 processes, but this job has 4 ranks"));
  EXPECT_EQ(separate_jobs(4, 4, "x"), "");
  EXPECT_EQ(separate_jobs(1, 4, "x"), "") << "a launcher that started other launchers";
  EXPECT_EQ(separate_jobs(0, 1, "x"), "") << "none";
}

TEST(Warnings, AreOfOneRankThatComparesNothing) {
  Case input = *usual_run().input;
  input.problem = ProblemKind::none;
  EXPECT_TRUE(contains(nothing_exchanged(input, 1), "start it with mpirun -np P"));
  EXPECT_EQ(nothing_exchanged(input, 2), "");
  input.problem = ProblemKind::nekbone;
  EXPECT_EQ(nothing_exchanged(input, 1), "") << "CG has a figure of merit";
}

TEST(Warnings, AreOfRanksThatShareTheirCores) {
  NodeLayout layout;
  layout.ranks = {1, 2, 4, 5};  // rank 3 is on another node
  const std::vector<std::string> binding{"0-1", "0-1", "2", "0-1", "0-1", "0,2"};
  const CoreGroup group = core_group(4, layout, "node1", binding);
  EXPECT_EQ(group.ranks, (std::vector<int>{1, 4}));
  EXPECT_EQ(group.cores, (std::set<int>{0, 1}));
  EXPECT_EQ(group.host, "node1");
  EXPECT_EQ(core_group(2, layout, "node1", binding).ranks, std::vector<int>{2});
}

TEST(Warnings, CountWhatCoresSpentOnProcessesAndOtherMachines) {
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

TEST(Warnings, CountTheTimeOfThisProcess) {
  const double own = own_processor_seconds();
  const std::clock_t begin = std::clock();
  volatile double sink = 0;
  while (own_processor_seconds() < own + 0.3) sink = sink + 1;
  EXPECT_NEAR(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 0.3, 0.1);
}

TEST(Warnings, AreOfWaysThatEarlierRunsFailedBy) {
  Case input = *usual_run().input;
  input.strategies = {"host-pairwise", "host-put", "host-put+overlap", "nccl"};
  CallbackGuard journal;
  journal.excluded = [](const std::string& name) -> std::string {
    if (name.starts_with("host-put")) return "host-put crashed; delete j to try it again";
    return name == "sum host-shared" ? "sum host-shared crashed; delete j to try it again" : "";
  };
  input.all_reduces = {"host-mpi", "host-shared"};
  EXPECT_EQ(earlier_failures(input, journal),
            (std::vector<std::string>{"host-put crashed; delete j to try it again",
                                      "sum host-shared crashed; delete j to try it again"}));
  input.problem = ProblemKind::none;  // uses no all-reduce
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

TEST(Warnings, AreOfOrdersThatWereNotCompiled) {
  std::vector<OrderRecord> orders(3);
  for (int i = 0; i < 3; ++i) orders[i].order = 8 + i;
  EXPECT_EQ(slow_kernels(orders), "");
  orders[1].compiled = false;
  EXPECT_EQ(
      slow_kernels(orders),
      "order 9 used the kernel with a run-time order, which is several times slower; add it to "
      "NEKBONE_K_ORDERS in CMake (on a GPU: orders up to 15)");
  orders[2].compiled = false;
  EXPECT_TRUE(contains(slow_kernels(orders), "orders 9, 10 used the kernel"));
}

TEST(Warnings, AreOfChoicesThatAnotherWouldHaveBeaten) {
  SolveRecord solve = *usual_run().solve;
  const auto regrets_of = [&](const Samples& choice, const Samples& other) {
    solve.audit = audit_of(choice, other);
    return regrets(solve);
  };
  const Samples one(6, 1.0), beaten(6, 1.25);
  const std::string of_exchanges =
      "20.0 % less time with strategy host-put than with the selected nccl; name it in "
      "gather_scatter.strategies";
  ASSERT_EQ(regrets_of(beaten, one).size(), 1u);
  EXPECT_TRUE(contains(regrets(solve)[0], of_exchanges)) << regrets(solve)[0];
  EXPECT_TRUE(regrets_of(one, beaten).empty()) << "the best";
  EXPECT_TRUE(regrets_of(Samples(6, 1.02), one).empty()) << "next to nothing";
  EXPECT_TRUE(regrets_of({1.1, 0.9, 1.1, 0.9, 1.1, 1.1}, one).empty()) << "noise";
  EXPECT_TRUE(regrets_of(Samples(5, 1.25), Samples(5, 1.0)).empty()) << "too few to tell";
  EXPECT_TRUE(regrets_of(Samples(5, 1.25), one).empty()) << "too few rounds of both";
}

TEST(Warnings, AreOfSumsThatAnotherWouldHaveBeaten) {
  SolveRecord solve = *usual_run().solve;
  solve.audit.reset();
  EXPECT_TRUE(regrets(solve).empty());
  solve.sum_audit = audit_of(Samples(6, 1.25), Samples(6, 1.0));
  ASSERT_EQ(regrets(solve).size(), 1u);
  EXPECT_TRUE(contains(regrets(solve)[0], "all-reduce host-put")) << regrets(solve)[0];
  EXPECT_TRUE(contains(regrets(solve)[0], "name it in solver.all_reduce")) << regrets(solve)[0];
}

}  // namespace
}  // namespace nekbone_k
