// SPDX-License-Identifier: BSD-3-Clause
#include "core/streams.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nekbone_k {
namespace {

TEST(StreamsClock, GivesTheTimeFromMarkToMark) {
  StreamClock clock;
  EXPECT_TRUE(clock.intervals().empty());
  clock.mark();
  EXPECT_TRUE(clock.intervals().empty());
  const auto vector = uninitialized<double>("entries", 1000);
  for (const int kernels : {1, 3}) {
    clock.mark();
    for (int kernel = 0; kernel < kernels; ++kernel) {
      Kokkos::deep_copy(ExecutionSpace(), vector, 1.0);
      clock.mark();
    }
    const std::vector<double> seconds = clock.intervals();
    ASSERT_EQ(seconds.size(), static_cast<std::size_t>(kernels));
    for (const double interval : seconds) EXPECT_GE(interval, 0);
  }
}

}  // namespace
}  // namespace nekbone_k
