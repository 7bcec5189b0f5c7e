// SPDX-License-Identifier: BSD-3-Clause
#include "core/large_vector.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace nekbone_k {
namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

TEST(LargeVector, HoldsZeros) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, megabyte + 3}) {
    Kokkos::deep_copy(uninitialized<double>("ones", n), 1.0);  // the next vector may reuse this
    const auto vector = large_vector("zeros", n);
    ASSERT_EQ(vector.extent(0), n);
    const auto on_host = Kokkos::create_mirror_view_and_copy(HostMemory(), vector);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(on_host(i), 0) << i << " of " << n;
  }
}

/// Linux's flags of the mapping that contains an address, from /proc/self/smaps.
std::optional<std::string> flags_of(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (std::istringstream(line) >> std::hex >> begin >> dash >> end && dash == '-')
      here = begin <= wanted && wanted < end;
    if (here && line.starts_with("VmFlags:")) return line + " ";
  }
  return {};
}

TEST(LargeVector, AsksForLargePages) {
  if (!is_host_device) GTEST_SKIP() << "not in host memory";
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "this system has no transparent huge pages";
  const auto vector = large_vector("large", 8 * megabyte);
  const auto flags = flags_of(vector.data() + 4 * megabyte);
  ASSERT_TRUE(flags);
  EXPECT_NE(flags->find(" hg "), std::string::npos) << *flags;
}

}  // namespace
}  // namespace nekbone_k
