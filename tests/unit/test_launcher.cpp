// SPDX-License-Identifier: BSD-3-Clause
// The number of launched processes, from the variables that launchers set.
#include "core/launcher.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

// launched_processes() for these variables in a job of `ranks` ranks.
int launched(int ranks, const std::vector<std::string>& variables) {
  const TemporaryFolder folder;
  const std::string path = folder.path("environ");
  std::ofstream file(path, std::ios::binary);
  for (const std::string& variable : variables) file << variable << '\0';
  file.close();
  return launched_processes(ranks, path);
}

TEST(Launcher, SaysNothingWithoutOne) {
  EXPECT_EQ(launched(1, {}), 0);
  EXPECT_EQ(launched(1, {"PATH=/bin", "HOME=/root", "SLURM_NTASKS=8"}), 0) << "of the allocation";
  EXPECT_EQ(launched_processes(1, "no/such/file"), 0);
}

TEST(Launcher, OfAnyMpiIsKnown) {
  for (const std::string name :
       {"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
        "FLUX_JOB_SIZE", "JSM_NAMESPACE_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"})
    EXPECT_EQ(launched(1, {"A=b", name + "=3"}), 3) << name;
  EXPECT_EQ(launched(1, {"PMIX_NAMESPACE=x", "PMIX_RANK=2"}), 3) << "the third of a number";
  EXPECT_EQ(launched(1, {"PMIX_RANK=0"}), 1);
}

// With one launcher in the job of another, the launcher that agrees with MPI counts.
TEST(Launcher, OfTheRanksCounts) {
  EXPECT_EQ(launched(8, {"SLURM_STEP_NUM_TASKS=2", "OMPI_COMM_WORLD_SIZE=8"}), 8);
  EXPECT_EQ(launched(1, {"SLURM_STEP_NUM_TASKS=2", "PMI_SIZE=1"}), 1);
  EXPECT_EQ(launched(1, {"SLURM_STEP_NUM_TASKS=2", "PMI_SIZE=4"}), 4);
  EXPECT_EQ(launched(1, {"PMI_SIZE=2", "MPI_LOCALNRANKS=1"}), 2) << "one of them on each node";
  EXPECT_EQ(launched(2, {"PMI_SIZE=4"}), 4);
}

// The shell of salloc or srun --pty is a task of a step.
TEST(Launcher, OfAShellIsNotThatOfTheProcess) {
  EXPECT_EQ(launched(1, {"SLURM_STEP_NUM_TASKS=4", "SLURM_PTY_PORT=4711"}), 0);
  EXPECT_EQ(launched(1, {"SLURM_STEP_NUM_TASKS=4", "SLURM_PTY_PORT=4711", "PMI_SIZE=2"}), 2);
}

TEST(Launcher, ThatWritesNoNumberIsPassedOver) {
  for (const std::string text : {"", "two", "2x", "-3", "99999999999999"})
    EXPECT_EQ(launched(1, {"PMI_SIZE=" + text}), 0) << text;
  EXPECT_EQ(launched(1, {"PMI_SIZE"}), 0);
}

}  // namespace
}  // namespace nekbone_k
