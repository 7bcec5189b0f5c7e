// SPDX-License-Identifier: BSD-3-Clause
// The counters of energy that a node has.
#include "machine/energy.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/contains.hpp"
#include "support/energy_counters.hpp"

namespace nekbone_k {
namespace {

TEST(EnergyRapl, TakesPackagesAndMemoryAlone) {
  const Powercap cap;
  cap.add("0", "package-0", "1000000", "262143328850");
  cap.add("0:0", "core", "600000");
  cap.add("0:1", "uncore", "100000");
  cap.add("0:2", "dram", "250000", "65712999613");
  cap.add("1", "psys", "9000000");
  // The same package by another interface, and the folder of the interface.
  std::filesystem::create_directories(cap.sys() / "class/powercap/intel-rapl");
  std::filesystem::copy(cap.domain("0"), cap.sys() / "class/powercap/intel-rapl-mmio:0");
  const auto [counters, missing] = rapl_counters(cap.sys());
  EXPECT_EQ(missing, "");
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0].kind, EnergyKind::package);
  EXPECT_DOUBLE_EQ(counters[0].read().value(), 1);
  EXPECT_DOUBLE_EQ(counters[0].range, 262143.328850);
  EXPECT_EQ(counters[1].kind, EnergyKind::dram);
  EXPECT_DOUBLE_EQ(counters[1].read().value(), 0.25);
  EXPECT_DOUBLE_EQ(counters[1].range, 65712.999613);
}

TEST(EnergyRapl, OneUnreadableCounterLeavesNone) {
  const Powercap cap;
  cap.add("0", "package-0", "1000000");
  cap.add("1", "package-1", "1000000");
  cap.break_counter("1");
  const auto [counters, missing] = rapl_counters(cap.sys());
  EXPECT_TRUE(counters.empty());
  EXPECT_TRUE(contains(missing, (cap.domain("1") / "energy_uj").string() + " cannot be read: "))
      << missing;
}

TEST(EnergyRapl, ACounterNeedsANumberAndARange) {
  const Powercap cap;
  cap.add("0", "package-0", "none");
  EXPECT_TRUE(contains(rapl_counters(cap.sys()).missing, "energy_uj cannot be read: no number"));
  cap.set("0", "1");
  EXPECT_EQ(rapl_counters(cap.sys()).counters.size(), 1u);
  std::filesystem::remove(cap.domain("0") / "max_energy_range_uj");
  EXPECT_TRUE(contains(rapl_counters(cap.sys()).missing, "max_energy_range_uj cannot be read: "));
}

TEST(EnergyNvml, ReadsTheGpuAtItsPlace) {
  const auto [counters, missing] = nvml_counters("0000:1b:00", fake_nvml());
  EXPECT_EQ(missing, "");
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0].kind, EnergyKind::gpu);
  const double first = counters[0].read().value();
  EXPECT_DOUBLE_EQ(counters[0].read().value() - first, 2.5);
}

TEST(EnergyNvml, SaysWhyThereIsNone) {
  EXPECT_TRUE(contains(nvml_counters("0000:1b:00", "libno-such-nvml.so").missing,
                       "NVML cannot be loaded: libno-such-nvml.so"));
  EXPECT_EQ(nvml_counters("0000:3b:00", fake_nvml()).missing,
            "NVML has no GPU at 0000:3b:00: Not Found");
  EXPECT_EQ(nvml_counters("0000:2b:00", fake_nvml()).missing,
            "NVML does not tell the energy of a GPU: Not Supported");
}

}  // namespace
}  // namespace nekbone_k
