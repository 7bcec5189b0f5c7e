// SPDX-License-Identifier: BSD-3-Clause
// Cores, NUMA nodes and network interfaces, as read from Linux.
#include "core/topology.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

TEST(TopologyCores, ReadsLists) {
  EXPECT_EQ(cores_in("0"), (std::vector{0}));
  EXPECT_EQ(cores_in("0-2,5,8-9"), (std::vector{0, 1, 2, 5, 8, 9}));
  EXPECT_EQ(cores_in("8,1"), (std::vector{1, 8}));
}

TEST(TopologyCores, ReadsNothingFromWhatIsNoList) {
  for (const char* const text : {"", "x", "1-", "-1", "1,,2", "1-2-3", "1 2"})
    EXPECT_TRUE(cores_in(text).empty()) << text;
}

TEST(TopologyCores, CountsThoseOfThisMachine) { EXPECT_GE(online_core_count(), 1); }

// A folder that looks like sysfs.
class TopologySys : public testing::Test {
 protected:
  TopologySys()
      : m_sys(fs::temp_directory_path() / ("nekbone-k-sys." + std::to_string(getpid()))) {}
  ~TopologySys() override { fs::remove_all(m_sys); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((m_sys / path).parent_path());
    std::ofstream(m_sys / path) << text << '\n';
  }
  const fs::path m_sys;
};

TEST_F(TopologySys, ListsInterfacesButTheLoopback) {
  write("class/net/lo/operstate", "unknown");
  write("class/net/eth1/operstate", "down");
  write("class/net/eth1/device/numa_node", "1");
  write("class/net/eth0/operstate", "up");
  write("class/net/eth0/device/numa_node", "-1");
  write("class/net/docker0/operstate", "unknown");
  write("class/net/bonding_masters", "");
  write("class/infiniband/mlx5_0/device/numa_node", "3");
  write("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  const std::vector<NetworkInterface> found = network_interfaces(m_sys);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].name, "mlx5_0");
  EXPECT_EQ(found[0].kind, "InfiniBand");
  EXPECT_EQ(found[0].state, "active");
  EXPECT_EQ(found[0].numa_node, 3);
  EXPECT_EQ(found[1].name, "docker0");
  EXPECT_EQ(found[1].kind, "virtual");
  EXPECT_EQ(found[1].state, "");
  EXPECT_EQ(found[1].numa_node, std::nullopt);
  EXPECT_EQ(found[2].name, "eth0");
  EXPECT_EQ(found[2].kind, "Ethernet");
  EXPECT_EQ(found[2].state, "up");
  EXPECT_EQ(found[2].numa_node, std::nullopt);
  EXPECT_EQ(found[3].name, "eth1");
  EXPECT_EQ(found[3].state, "down");
  EXPECT_EQ(found[3].numa_node, 1);
}

TEST(TopologyNetwork, IsNextToWhereItsAdaptersAre) {
  const NetworkInterface ethernet{"eth0", "Ethernet", "up", 1}, down{"eth1", "Ethernet", "down", 0},
      bridge{"br0", "virtual", "up", 0}, fast{"mlx5_0", "InfiniBand", "active", 3},
      slow{"mlx5_1", "InfiniBand", "down", 2};
  EXPECT_EQ(numa_nodes_of({ethernet, down, bridge}), (std::vector{1}));
  EXPECT_EQ(numa_nodes_of({ethernet, fast, slow}), (std::vector{3}));
  EXPECT_EQ(numa_nodes_of({ethernet, slow}), (std::vector{1}));
  EXPECT_EQ(numa_nodes_of({fast, {"mlx5_2", "InfiniBand", "active", 0}}), (std::vector{0, 3}));
  EXPECT_TRUE(numa_nodes_of({down, bridge, {"eth2", "Ethernet", "up", {}}}).empty());
}

TEST_F(TopologySys, FindsTheNumaNodesOfCores) {
  write("devices/system/node/node0/cpulist", "0-3,8-11");
  write("devices/system/node/node1/cpulist", "4-7");
  write("devices/system/node/node10/cpulist", "12");
  write("devices/system/node/online", "0-1,10");
  EXPECT_EQ(numa_nodes_of({9}, m_sys), (std::vector{0}));
  EXPECT_EQ(numa_nodes_of({3, 4, 12}, m_sys), (std::vector{0, 1, 10}));
  EXPECT_TRUE(numa_nodes_of({99}, m_sys).empty());
  EXPECT_TRUE(numa_nodes_of({}, m_sys).empty());
}

TEST_F(TopologySys, FindsTheNumaNodeOfADevice) {
  write("bus/pci/devices/0000:1b:00.0/numa_node", "1");
  write("bus/pci/devices/0000:2b:00.0/numa_node", "-1");
  EXPECT_EQ(numa_node_of_device("0000:1b:00", m_sys), 1);
  EXPECT_EQ(numa_node_of_device("0000:2b:00", m_sys), std::nullopt);
  EXPECT_EQ(numa_node_of_device("0000:3b:00", m_sys), std::nullopt);
  EXPECT_EQ(numa_node_of_device("", m_sys), std::nullopt);
}

TEST_F(TopologySys, FindsNothingWhereThereIsNothing) {
  EXPECT_TRUE(network_interfaces(m_sys).empty());
  EXPECT_TRUE(numa_nodes_of({0}, m_sys).empty());
  EXPECT_FALSE(has_gpu_files(m_sys));
}

TEST_F(TopologySys, SeesGpusByTheirFiles) {
  write("a/nvidia0", "");
  write("b/kfd", "");
  EXPECT_TRUE(has_gpu_files(m_sys / "a"));
  EXPECT_TRUE(has_gpu_files(m_sys / "b"));
}

class TopologyCaches : public TopologySys {
 protected:
  void add(int cpu, int index, const char* level, const char* type, const char* size,
           const std::string& sharers) const {
    const std::string cache = "devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" +
                              std::to_string(index) + "/";
    write(cache + "level", level);
    write(cache + "type", type);
    write(cache + "size", size);
    write(cache + "shared_cpu_list", sharers);
  }
};

TEST_F(TopologyCaches, OfTheLastLevelCountOnceEach) {
  write("devices/system/cpu/cpufreq/policy0", "is no processor");
  for (int cpu = 0; cpu < 4; ++cpu) {
    add(cpu, 0, "1", "Data", "32K", std::to_string(cpu));
    add(cpu, 1, "1", "Instruction", "64K", std::to_string(cpu));
    add(cpu, 2, "2", "Unified", "1024K", std::to_string(cpu));
    add(cpu, 3, "3", "Unified", "32768K", cpu < 2 ? "0-1" : "2-3");
  }
  EXPECT_EQ(last_level_cache_bytes(m_sys), 64.0 * 1024 * 1024);
}

TEST_F(TopologyCaches, OfTheSecondLevelCountWhereThereIsNoThird) {
  add(0, 0, "1", "Data", "32K", "0");
  add(0, 1, "2", "Unified", "2M", "0");
  add(1, 1, "2", "Unified", "2M", "1");
  EXPECT_EQ(last_level_cache_bytes(m_sys), 4.0 * 1024 * 1024);
}

TEST_F(TopologyCaches, AreUnknownWithoutTheFolder) {
  write("devices/system/cpu/cpufreq/policy0", "is no processor");
  EXPECT_EQ(last_level_cache_bytes(m_sys), 0);
  EXPECT_EQ(last_level_cache_bytes(m_sys / "none"), 0);
}

}  // namespace
}  // namespace nekbone_k
