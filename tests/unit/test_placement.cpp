// SPDX-License-Identifier: BSD-3-Clause
// Warnings about the placement of ranks.
#include "machine/placement.hpp"

#include <gtest/gtest.h>

namespace nekbone_k {
namespace {

// Two ranks with four threads each on a node of eight cores. Each has four cores and its own GPU.
Placement good_placement() {
  return {.rank = 1,
          .host = "n01",
          .node_ranks = 2,
          .threads = 4,
          .online_cores = 8,
          .usable_cores = 8,
          .allowed_cores = 4,
          .quota = unlimited,
          .quota_ranks = 0,
          .device = "Cuda 0, NVIDIA H200 at 0000:1b:00",
          .ranks_on_device = 1,
          .pretended_ranks_per_node = 0};
}

// The only warning about `placement`.
std::string only_warning(const Placement& placement) {
  const std::vector<std::string> warnings = placement_warnings(placement);
  EXPECT_EQ(warnings.size(), placement_warnings(good_placement()).size());
  std::string only;
  for (const std::string& warning : warnings) {
    if (warning.empty()) continue;
    EXPECT_TRUE(only.empty()) << only << " and " << warning;
    only = warning;
  }
  return only;
}

TEST(Placement, OfRanksThatHaveWhatTheyNeedIsNotWarnedOf) {
  EXPECT_EQ(only_warning(good_placement()), "");
}

TEST(Placement, WarnsOfMoreThreadsThanCores) {
  Placement placement = good_placement();
  placement.node_ranks = 3;
  EXPECT_EQ(only_warning(placement),
            "n01 runs 12 threads on 8 cores; set OMP_NUM_THREADS or use fewer ranks, otherwise "
            "timings are unreliable");
  placement.threads = 1;
  placement.node_ranks = 9;
  EXPECT_EQ(only_warning(placement),
            "n01 runs 9 threads on 8 cores; use fewer ranks, otherwise timings are unreliable");
}

// The job has only part of the node, or ranks are bound to the same cores.
TEST(Placement, WarnsOfMoreThreadsThanCoresThatMayBeUsed) {
  Placement placement = good_placement();
  placement.online_cores = 64;
  EXPECT_EQ(only_warning(placement), "");
  placement.usable_cores = 4;
  EXPECT_EQ(only_warning(placement),
            "n01 runs 8 threads on 4 cores, those of its 64 that they may use; see the launcher's "
            "--bind-to and what the job was given, set OMP_NUM_THREADS or use fewer ranks, "
            "otherwise timings are unreliable");
  placement.threads = 1;
  placement.usable_cores = 1;
  EXPECT_EQ(
      only_warning(placement),
      "n01 runs 2 threads on 1 core, those of its 64 that they may use; see the launcher's "
      "--bind-to and what the job was given, use fewer ranks, otherwise timings are unreliable");
}

TEST(Placement, WarnsOfABindingToFewerCoresThanThreads) {
  Placement placement = good_placement();
  placement.allowed_cores = 1;
  EXPECT_EQ(only_warning(placement),
            "rank 1 is bound to 1 core, fewer than its 4 threads; see the launcher's --bind-to or "
            "--cpus-per-task");
  placement.usable_cores = 2;
  EXPECT_EQ(only_warning(placement).find("n01 runs 8 threads on 2 cores"), 0u) << "one cause";
}

// As in a container, whose ranks may run on all cores.
TEST(Placement, WarnsOfMoreThreadsThanAQuotaPaysFor) {
  Placement placement = good_placement();
  placement.quota = 8;
  placement.quota_ranks = 2;
  EXPECT_EQ(only_warning(placement), "");
  placement.quota = 7.5;
  EXPECT_EQ(only_warning(placement),
            "2 ranks on n01 share a quota of 7.5 CPUs' worth of time (control group), but run 8 "
            "threads; timings will be unreliable; set OMP_NUM_THREADS or use fewer ranks, or give "
            "the job or the container more CPUs");
  placement.quota_ranks = 1;
  EXPECT_EQ(only_warning(placement), "") << "each rank has its own";
  placement.threads = 1;
  placement.quota = 1;
  placement.quota_ranks = 2;
  EXPECT_EQ(only_warning(placement),
            "2 ranks on n01 share a quota of 1 CPU's worth of time (control group), but run 2 "
            "threads; timings will be unreliable; use fewer ranks, or give the job or the "
            "container more CPUs");
}

TEST(Placement, AdvisesARankAloneWithItsQuotaOnWhatItCanDo) {
  Placement placement = good_placement();
  placement.quota = 0.5;
  placement.quota_ranks = 1;
  placement.threads = 1;
  EXPECT_EQ(only_warning(placement),
            "1 rank on n01 has a quota of 0.5 CPUs' worth of time (control group), but runs 1 "
            "thread; timings will be unreliable; give the job or the container more CPUs");
}

TEST(Placement, KnowsTheVariablesOfTheProgram) {
  const char* const good[] = {"PATH=/bin", "NEKBONE_K_CACHE=/x", "NEKBONE_K_MPI_TRIAL=never",
                              "NEKBONE_K_TEST_FAULT=late", nullptr};
  EXPECT_EQ(unknown_variables(good), "");
  const char* const bad[] = {"NEKBONE_K_MPI_TRAIL=never", "NEKBONE_K_CACHE=/x",
                             "NEKBONE_K_RANKS_PER_NODES=2", nullptr};
  EXPECT_TRUE(unknown_variables(bad).starts_with(
      "the environment sets NEKBONE_K_MPI_TRAIL, NEKBONE_K_RANKS_PER_NODES, which nekbone-k does "
      "not read; it reads NEKBONE_K_CACHE, "))
      << unknown_variables(bad);
}

TEST(Placement, FindsTheQuotaThatIsShortestForItsRanks) {
  // Ranks 0 and 1 have their own groups, whose parent is the group of rank 3. Rank 2 is on another
  // node.
  const std::vector<std::vector<CpuQuota>> quotas{
      {{"a", 2}, {"job", 3}}, {{"b", 1}, {"job", 3}}, {{"job", 3}}, {{"job", 3}}};
  const std::vector<int> node{0, 1, 3};
  const auto shortest = [&](int rank) { return shortest_quota(rank, node, quotas); };
  EXPECT_EQ(shortest(0).cores, 3);
  EXPECT_EQ(shortest(0).ranks, 3) << "three threads for three, not two for one";
  EXPECT_EQ(shortest(1).cores, 1);
  EXPECT_EQ(shortest(1).ranks, 1);
  const SharedQuota none = shortest_quota(0, node, {{}, {}, {}, {}});
  EXPECT_EQ(none.cores, unlimited);
  EXPECT_EQ(none.ranks, 0);
}

TEST(Placement, WarnsOfRanksThatShareADevice) {
  Placement placement = good_placement();
  placement.ranks_on_device = 2;
  EXPECT_EQ(only_warning(placement),
            "2 ranks share Cuda 0, NVIDIA H200 at 0000:1b:00; start one rank per GPU, or show "
            "each rank its own (CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES), otherwise timings are "
            "unreliable");
}

TEST(Placement, WarnsOfPretendedNodes) {
  Placement placement = good_placement();
  placement.pretended_ranks_per_node = 2;
  EXPECT_EQ(only_warning(placement),
            "NEKBONE_K_RANKS_PER_NODE is 2: the ranks of a node exchange as if it were nodes of "
            "2 ranks; unset it for timings that count");
}

}  // namespace
}  // namespace nekbone_k
