// SPDX-License-Identifier: BSD-3-Clause
// Time limits of waits in kernels.
#include "core/lateness.hpp"

#include <gtest/gtest.h>

namespace nekbone_k {
namespace {

// As many polls as a kernel makes in some seconds.
constexpr int many = 200 * 65536;

TEST(Lateness, DoesNotEndAWaitWhileTheProcessIsStopped) {
  Late late{0, 7};
  int looks = 0;
  look_until([&] { return ++looks == many; }, &late);
  EXPECT_EQ(looks, many);
  EXPECT_EQ(late.is_late, 0U);
}

TEST(Lateness, EndsAWaitThatLasts) {
  Late late{0, 4'294'967'290};  // the counter wraps around
  int looks = 0;
  look_until(
      [&] {
        if (++looks % 65536 == 0) ++late.seconds;
        return looks == many;
      },
      &late);
  EXPECT_LT(looks, many);
  EXPECT_EQ(late.is_late, 1U);
}

TEST(Lateness, EndsTheWaitsOfOthers) {
  Late late{1, 0};
  int looks = 0;
  look_until([&] { return ++looks == many; }, &late);
  EXPECT_LT(looks, many);
}

TEST(Lateness, BeginsWithNoneThatIsLate) { EXPECT_FALSE(Lateness().is_late()); }

}  // namespace
}  // namespace nekbone_k
