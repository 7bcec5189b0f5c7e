// SPDX-License-Identifier: BSD-3-Clause
#include "core/message_memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

namespace nekbone_k {
namespace {

TEST(MessageMemory, IsKeptForTheNextOfItsSizeOrLess) {
  if (!keeps_message_memory) GTEST_SKIP() << "the host's memory is freed";
  constexpr std::size_t bytes = 12'345'678;
  std::optional<DeviceMessageMemory> first(bytes);
  void* const address = first->data();
  ASSERT_NE(address, nullptr);
  // If the pool freed it, other memory could get its address.
  first.reset();
  const DeviceVector<std::byte> other("other", bytes);
  EXPECT_NE(static_cast<void*>(other.data()), address);
  const DeviceMessageMemory smaller(bytes - 100);
  EXPECT_EQ(smaller.data(), address);
}

TEST(MessageMemory, BelongsToOneAtATime) {
  const DeviceMessageMemory one(1000), same(1000);
  EXPECT_NE(one.data(), same.data());
  const std::optional<HostMessageMemory> staged(1000);
  EXPECT_NE(staged->data(), one.data());
}

TEST(MessageMemory, IsNotGivenBackBeforeItsLastOwnerGoes) {
  std::optional<DeviceMessageMemory> one(2000);
  const DeviceMessageMemory copy = *one;
  one.reset();
  const DeviceMessageMemory next(2000);
  EXPECT_NE(next.data(), copy.data());
}

TEST(MessageMemory, IsNothingWhereNothingIsSent) {
  const DeviceMessageMemory none(0);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.as_vector<double>(0).extent(0), 0U);
}

TEST(MessageMemory, HoldsWhatKernelsWrite) {
  const DeviceMessageMemory memory(100 * sizeof(double));
  const auto values = memory.as_vector<double>(100);
  Kokkos::deep_copy(values, 2.5);
  EXPECT_EQ(Kokkos::create_mirror_view_and_copy(HostMemory(), values)(99), 2.5);
}

}  // namespace
}  // namespace nekbone_k
