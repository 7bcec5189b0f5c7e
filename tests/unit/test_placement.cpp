// What is said of where ranks run.
#include "app/placement.hpp"

#include <gtest/gtest.h>

namespace nekbone_k {
namespace {

// Two ranks of four threads on a node of eight cores, each with four of them and a GPU of its own.
Placement good_placement() {
  return {.rank = 1,
          .host = "n01",
          .node_ranks = 2,
          .threads = 4,
          .online_cores = 8,
          .usable_cores = 8,
          .allowed_cores = 4,
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
            "n01 runs 12 threads on 8 cores; set OMP_NUM_THREADS or use fewer ranks, or timings "
            "mean little");
  placement.threads = 1;
  placement.node_ranks = 9;
  EXPECT_EQ(only_warning(placement),
            "n01 runs 9 threads on 8 cores; use fewer ranks, or timings mean little");
}

// As in a job that was given a part of a node, or where ranks are bound to the same cores.
TEST(Placement, WarnsOfMoreThreadsThanCoresThatMayBeUsed) {
  Placement placement = good_placement();
  placement.online_cores = 64;
  EXPECT_EQ(only_warning(placement), "");
  placement.usable_cores = 4;
  EXPECT_EQ(only_warning(placement),
            "n01 runs 8 threads on 4 cores, those of its 64 that they may use; see the launcher's "
            "--bind-to and what the job was given, set OMP_NUM_THREADS or use fewer ranks, or "
            "timings mean little");
  placement.threads = 1;
  placement.usable_cores = 1;
  EXPECT_EQ(only_warning(placement),
            "n01 runs 2 threads on 1 core, those of its 64 that they may use; see the launcher's "
            "--bind-to and what the job was given, use fewer ranks, or timings mean little");
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

TEST(Placement, WarnsOfRanksThatShareADevice) {
  Placement placement = good_placement();
  placement.ranks_on_device = 2;
  EXPECT_EQ(only_warning(placement),
            "2 ranks share Cuda 0, NVIDIA H200 at 0000:1b:00; run one rank a GPU, or show each "
            "rank its own (CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES), or timings mean little");
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
