// SPDX-License-Identifier: BSD-3-Clause
// The energy of a run, by counters that the tests set.
#include "machine/energy.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/waiting.hpp"
#include "support/contains.hpp"
#include "support/energy_counters.hpp"

namespace nekbone_k {
namespace {

// Rank 0 has the folder with the counters of the node.
class EnergyMpi : public testing::Test {
 protected:
  EnergyMpi() {
    if (m_comm.is_root()) m_powercap.emplace();
    m_options.sys = m_comm.broadcast(m_powercap ? m_powercap->sys().string() : "");
    m_options.nvml = fake_nvml();
    m_options.device = "";
    m_options.least_seconds = m_options.least_gpu_seconds = 0;
    m_options.read_after = for_ever;
  }
  // Changes counters between two steps of all ranks.
  template <class Set>
  void set(const Set& set) {
    m_comm.barrier();
    if (m_powercap) set(*m_powercap);
    m_comm.barrier();
  }
  // A node with two packages and the memory of one.
  void add_two_packages() {
    set([](const Powercap& cap) {
      cap.add("0", "package-0", "1000000");
      cap.add("0:0", "dram", "500000");
      cap.add("1", "package-1", "2000000");
    });
  }
  // All of them use some energy.
  void use_energy() {
    set([](const Powercap& cap) {
      cap.set("0", "4000000");
      cap.set("0:0", "750000");
      cap.set("1", "12000000");
    });
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  std::optional<Powercap> m_powercap;
  EnergyOptions m_options;
};

TEST_F(EnergyMpi, CountsTheCpusOfANodeOnce) {
  add_two_packages();
  EnergyMeter meter(m_comm, m_options);
  meter.begin();
  use_energy();
  const EnergyRecord energy = meter.end();
  EXPECT_TRUE(energy.is_known());
  EXPECT_EQ(energy.packages, 2);
  EXPECT_EQ(energy.dram, 1);
  EXPECT_EQ(energy.gpus, 0);
  EXPECT_DOUBLE_EQ(energy.package_joules, 13);
  EXPECT_DOUBLE_EQ(energy.dram_joules, 0.25);
  EXPECT_DOUBLE_EQ(energy.joules(), 13.25);
  EXPECT_EQ(energy.missing, "");
}

TEST_F(EnergyMpi, EveryMeasurementBeginsAnew) {
  add_two_packages();
  EnergyMeter meter(m_comm, m_options);
  meter.begin();
  use_energy();
  meter.begin();
  set([](const Powercap& cap) { cap.set("0", "5000000"); });
  EXPECT_DOUBLE_EQ(meter.end().joules(), 1);
}

TEST_F(EnergyMpi, CountersBeginAnewBetweenReadings) {
  set([](const Powercap& cap) { cap.add("0", "package-0", "900", "1000"); });
  m_options.read_after = 0;
  EnergyMeter meter(m_comm, m_options);
  meter.begin();
  set([](const Powercap& cap) { cap.set("0", "100"); });
  meter.go_on();
  set([](const Powercap& cap) { cap.set("0", "950"); });
  meter.go_on();
  set([](const Powercap& cap) { cap.set("0", "50"); });
  EXPECT_DOUBLE_EQ(meter.end().package_joules, (200 + 850 + 100) * 1e-6);
}

TEST_F(EnergyMpi, CountersAreReadNoMoreOftenThanNeeded) {
  set([](const Powercap& cap) { cap.add("0", "package-0", "900", "1000"); });
  EnergyMeter meter(m_comm, m_options);
  meter.begin();
  set([](const Powercap& cap) { cap.set("0", "100"); });
  meter.go_on();
  set([](const Powercap& cap) { cap.set("0", "950"); });
  EXPECT_DOUBLE_EQ(meter.end().package_joules, 50e-6);  // had it been read at 100: 1050e-6
}

TEST_F(EnergyMpi, AShortMeasurementIsNotCounted) {
  add_two_packages();
  m_options.least_seconds = for_ever;
  EnergyMeter meter(m_comm, m_options);
  meter.begin();
  use_energy();
  const EnergyRecord energy = meter.end();
  EXPECT_FALSE(energy.is_known());
  EXPECT_EQ(energy.joules(), 0);
  EXPECT_TRUE(contains(energy.missing, "too short for the counters")) << energy.missing;
}

TEST_F(EnergyMpi, CountersThatStandStillCountNothing) {
  add_two_packages();
  EnergyMeter meter(m_comm, m_options);
  meter.begin();
  const EnergyRecord energy = meter.end();
  EXPECT_FALSE(energy.is_known());
  EXPECT_EQ(energy.missing, "the counters stand still");
}

TEST_F(EnergyMpi, GpusNeedTheirOwnShortestMeasurement) {
  m_options.device = "0000:1b:00";
  for (const bool is_long_enough : {true, false}) {
    m_options.least_seconds = for_ever;
    m_options.least_gpu_seconds = is_long_enough ? 0 : for_ever;
    EnergyMeter meter(m_comm, m_options);
    meter.begin();
    EXPECT_EQ(meter.end().gpus, is_long_enough ? 1 : 0);
  }
}

TEST_F(EnergyMpi, WithoutCountersSaysWhy) {
  EnergyMeter meter(m_comm, m_options);
  meter.begin();
  meter.go_on();
  const EnergyRecord energy = meter.end();
  EXPECT_FALSE(energy.is_known());
  EXPECT_TRUE(contains(energy.missing, "class/powercap has no RAPL counters")) << energy.missing;
}

TEST_F(EnergyMpi, ACounterThatFailsMeanwhileLeavesNothing) {
  add_two_packages();
  EnergyMeter meter(m_comm, m_options);
  meter.begin();
  set([](const Powercap& cap) { cap.break_counter("1"); });
  const EnergyRecord energy = meter.end();
  EXPECT_FALSE(energy.is_known());
  EXPECT_EQ(energy.missing, "a counter could no longer be read");
}

TEST_F(EnergyMpi, AGpuOfSeveralRanksIsReadOnce) {
  m_options.device = "0000:1b:00";
  EnergyMeter meter(m_comm, m_options);
  meter.begin();
  const EnergyRecord energy = meter.end();
  EXPECT_EQ(energy.gpus, 1);
  EXPECT_DOUBLE_EQ(energy.gpu_joules, 2.5);
  EXPECT_EQ(energy.packages, 0);
  EXPECT_TRUE(contains(energy.missing, "no RAPL counters")) << energy.missing;
}

TEST_F(EnergyMpi, AllGpusOrNone) {
  add_two_packages();
  // The last rank's GPU does not tell. On one rank it is the only one.
  const bool is_last = m_comm.rank() == m_comm.size() - 1;
  m_options.device = is_last ? "0000:2b:00" : "0000:1b:00";
  EnergyMeter meter(m_comm, m_options);
  meter.begin();
  use_energy();
  const EnergyRecord energy = meter.end();
  EXPECT_EQ(energy.gpus, 0);
  EXPECT_EQ(energy.gpu_joules, 0);
  EXPECT_DOUBLE_EQ(energy.joules(), 13.25);
  EXPECT_EQ(energy.missing, "NVML does not tell the energy of a GPU: Not Supported");
}

}  // namespace
}  // namespace nekbone_k
