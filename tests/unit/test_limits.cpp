// SPDX-License-Identifier: BSD-3-Clause
// Limits of this process, read from the file trees of made-up machines.
#include "machine/limits.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/topology.hpp"
#include "support/temporary_folder.hpp"

namespace {
// Number of cores of a made-up kernel; 0: ask the real one.
int made_up_cores = 0;
std::vector<int> made_up_affinity;
}  // namespace

// Replaces the C library's function. A kernel with many cores rejects a smaller set.
extern "C" int sched_getaffinity(pid_t id, std::size_t bytes, cpu_set_t* set) noexcept {
  if (made_up_cores == 0) {
    const long written = syscall(SYS_sched_getaffinity, id, bytes, set);
    if (written < 0) return -1;
    std::memset(reinterpret_cast<char*>(set) + written, 0, bytes - written);
    return 0;
  }
  if (8 * bytes < static_cast<std::size_t>(made_up_cores)) {
    errno = EINVAL;
    return -1;
  }
  CPU_ZERO_S(bytes, set);
  for (const int core : made_up_affinity) CPU_SET_S(core, bytes, set);
  return 0;
}

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

class Limits : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    const fs::path path = root() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  fs::path root() const { return m_folder.path(); }
  // The quotas of this process, innermost group first.
  std::vector<double> quotas() const {
    std::vector<double> cores;
    for (const CpuQuota& quota : cpu_quotas(root())) cores.push_back(quota.cores);
    return cores;
  }

  TemporaryFolder m_folder;
};

using Cores = std::vector<double>;

// ---- Cores --------------------------------------------------------------------------------------

class LimitsOfCores : public testing::Test {
 protected:
  ~LimitsOfCores() override { made_up_cores = 0; }
};

TEST_F(LimitsOfCores, AreThoseOfTheThreads) {
  EXPECT_GE(allowed_core_count(), 1);
  EXPECT_EQ(static_cast<int>(cores_in(allowed_cores()).size()), allowed_core_count());
}

TEST_F(LimitsOfCores, AreFoundWhereACpuSetIsTooSmall) {
  for (const int cores : {1024, 1025, 2048, 5000, 8192}) {
    made_up_cores = cores;
    made_up_affinity = {0, 1, 2, 1000, cores - 2, cores - 1};
    EXPECT_EQ(allowed_cores(),
              "0-2,1000," + std::to_string(cores - 2) + "-" + std::to_string(cores - 1));
    EXPECT_EQ(allowed_core_count(), 6);
  }
}

TEST_F(LimitsOfCores, AreUnknownWhereTheSystemSaysNothing) {
  made_up_cores = 1 << 30;
  EXPECT_EQ(allowed_cores(), "");
  EXPECT_EQ(allowed_core_count(), 0);
}

// ---- Quotas -------------------------------------------------------------------------------------

TEST_F(Limits, AreNoneWithoutControlGroups) {
  EXPECT_EQ(quotas(), Cores{});
  EXPECT_EQ(throttled_seconds(root()), 0);
  EXPECT_EQ(available_memory(root()), unlimited);
}

TEST_F(Limits, AreQuotasOfVersion2) {
  put("proc/self/cgroup", "0::/slurm/job\n");
  put("sys/fs/cgroup/slurm/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quotas(), Cores{1.5});
  put("sys/fs/cgroup/slurm/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quotas(), Cores{});
  put("sys/fs/cgroup/slurm/cpu.max", "400000 100000\n");  // of a parent group
  put("sys/fs/cgroup/slurm/job/cpu.max", "100000 100000\n");
  EXPECT_EQ(quotas(), (Cores{1, 4}));
}

TEST_F(Limits, AreQuotasOfVersion1) {
  put("proc/self/cgroup", "4:memory:/other\n2:cpuacct:/job\n1:cpu:/job\n");
  put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quotas(), Cores{});
  put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "25000\n");
  EXPECT_EQ(quotas(), Cores{0.25});
}

TEST_F(Limits, AreQuotasOfControllersThatShareAHierarchy) {
  for (const std::string controllers : {"cpu,cpuacct", "cpuacct,cpu"}) {
    put("proc/self/cgroup", "3:" + controllers + ":/job\n");
    const std::string folder = "sys/fs/cgroup/" + controllers + "/job/";
    put(folder + "cpu.cfs_quota_us", "200000\n");
    put(folder + "cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quotas(), Cores{2}) << controllers;
  }
}

// Docker without a cgroup namespace shows the host's path, but mounts the container's group as the
// root.
TEST_F(Limits, AreThoseThatAContainerShows) {
  put("proc/self/cgroup", "0::/docker/ab12\n");
  put("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(quotas(), Cores{0.5});
  put("proc/self/cgroup", "0::/docker/ab12/inner\n");
  put("proc/self/mountinfo",
      "30 20 0:26 /docker/ab12 /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n");
  put("sys/fs/cgroup/inner/cpu.max", "25000 100000\n");
  EXPECT_EQ(quotas(), (Cores{0.25, 0.5}));
  put("proc/self/cgroup", "0::/../../elsewhere\n");
  EXPECT_EQ(quotas(), Cores{0.5}) << "a group outside of what is seen";
}

TEST_F(Limits, AreFoundWhereControlGroupsAreMountedElsewhere) {
  put("proc/self/cgroup", "1:cpu:/job\n0::/job\n");
  put("proc/self/mountinfo",
      "29 20 0:25 / /cgroups/one rw,relatime shared:9 - cgroup cgroup rw,cpuacct,cpu\n"
      "30 20 0:26 / /cgroups/two rw,relatime - cgroup2 cgroup2 rw\n");
  put("cgroups/one/job/cpu.cfs_quota_us", "300000\n");
  put("cgroups/one/job/cpu.cfs_period_us", "100000\n");
  put("cgroups/two/cpu.max", "800000 100000\n");
  EXPECT_EQ(quotas(), (Cores{3, 8}));
}

// Ranks may be in separate groups with a common parent group.
TEST_F(Limits, TellGroupsApart) {
  put("sys/fs/cgroup/job/cpu.max", "400000 100000\n");
  std::vector<std::vector<CpuQuota>> of_ranks;
  for (const std::string rank : {"a", "b"}) {
    put("proc/self/cgroup", "0::/job/" + rank + "\n");
    put("sys/fs/cgroup/job/" + rank + "/cpu.max", "100000 100000\n");
    of_ranks.push_back(cpu_quotas(root()));
    ASSERT_EQ(of_ranks.back().size(), 2u);
  }
  EXPECT_NE(of_ranks[0][0].group, of_ranks[1][0].group);
  EXPECT_EQ(of_ranks[0][1].group, of_ranks[1][1].group);
}

TEST_F(Limits, TellHowLongQuotasKeptThreadsWaiting) {
  put("proc/self/cgroup", "0::/job\n");
  put("sys/fs/cgroup/job/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec 2500000\n");
  EXPECT_DOUBLE_EQ(throttled_seconds(root()), 2.5);
  put("proc/self/cgroup", "1:cpu:/job\n");
  put("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 9\nthrottled_time 1500000000\n");
  EXPECT_DOUBLE_EQ(throttled_seconds(root()), 1.5);
}

// ---- Memory -------------------------------------------------------------------------------------

TEST_F(Limits, AreOfMemory) {
  put("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\nSwapFree: 5 kB\n");
  EXPECT_EQ(available_memory(root()), 8000.0 * 1024);
  put("proc/self/cgroup", "0::/job/step\n");
  put("sys/fs/cgroup/job/memory.max", "5000000\n");
  put("sys/fs/cgroup/job/memory.current", "1500000\n");
  put("sys/fs/cgroup/job/memory.stat", "anon 7\ninactive_file 500000\n");
  EXPECT_EQ(available_memory(root()), 4000000);
  put("sys/fs/cgroup/job/step/memory.max", "max\n");
  put("sys/fs/cgroup/job/step/memory.current", "1500000\n");
  EXPECT_EQ(available_memory(root()), 4000000);
  put("proc/self/cgroup", "4:memory:/job\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "3000000\n");
  put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2000000\n");
  EXPECT_EQ(available_memory(root()), 1000000);
}

TEST_F(Limits, AreOfASystemThatDoesNotOvercommitMemory) {
  put("proc/meminfo", "MemAvailable: 8000 kB\nCommitLimit:    5000 kB\nCommitted_AS:    2000 kB\n");
  for (const char* const how : {"0", "1"}) {
    put("proc/sys/vm/overcommit_memory", how);
    EXPECT_EQ(available_memory(root()), 8000.0 * 1024) << how;
  }
  put("proc/sys/vm/overcommit_memory", "2\n");
  EXPECT_EQ(available_memory(root()), 3000.0 * 1024);
  put("proc/meminfo", "MemAvailable: 8000 kB\nCommitLimit: 5000 kB\nCommitted_AS: 6000 kB\n");
  EXPECT_EQ(available_memory(root()), 0);
}

// Sets soft limits of this process and restores them at the end. Hard limits stay unchanged.
class LimitsOfTheProcess : public Limits {
 protected:
  using Resource = decltype(RLIMIT_AS);

  void limit(Resource resource, rlim_t bytes) {
    rlimit limit{};
    ASSERT_EQ(getrlimit(resource, &limit), 0);
    m_before.emplace_back(resource, limit);
    limit.rlim_cur = bytes;
    ASSERT_EQ(setrlimit(resource, &limit), 0);
  }
  ~LimitsOfTheProcess() override {
    for (auto before = m_before.rbegin(); before != m_before.rend(); ++before)
      setrlimit(before->first, &before->second);
  }

 private:
  std::vector<std::pair<Resource, rlimit>> m_before;
};

TEST_F(LimitsOfTheProcess, AreOfAddressesAndData) {
  constexpr rlim_t tib = rlim_t{1} << 40;  // far more than the tests use in any build
  put("proc/self/status", "Name:\tx\nVmPeak:\t  5 kB\nVmSize:\t 1048576 kB\nVmData:\t 524288 kB\n");
  rlimit now{};
  getrlimit(RLIMIT_AS, &now);
  if (now.rlim_max != RLIM_INFINITY) GTEST_SKIP() << "this shell has a hard limit (ulimit -Hv)";
  limit(RLIMIT_DATA, RLIM_INFINITY);
  limit(RLIMIT_AS, 100 * tib);
  const ProcessMemory by_addresses = process_memory(root());
  EXPECT_EQ(by_addresses.left, static_cast<double>(100 * tib) - 1024.0 * 1048576);
  EXPECT_EQ(by_addresses.limit, "ulimit -v");
  limit(RLIMIT_DATA, 50 * tib);
  const ProcessMemory by_data = process_memory(root());
  EXPECT_EQ(by_data.left, static_cast<double>(50 * tib) - 1024.0 * 524288);
  EXPECT_EQ(by_data.limit, "ulimit -d");
}

TEST_F(LimitsOfTheProcess, AreNoneByDefault) {
  rlimit addresses{}, data{};
  getrlimit(RLIMIT_AS, &addresses);
  getrlimit(RLIMIT_DATA, &data);
  if (addresses.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY)
    GTEST_SKIP() << "this shell has a limit (ulimit -v, ulimit -d)";
  EXPECT_EQ(process_memory().left, unlimited);
  EXPECT_EQ(process_memory().limit, "");
}

}  // namespace
}  // namespace nekbone_k
