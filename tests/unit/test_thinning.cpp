// SPDX-License-Identifier: BSD-3-Clause
// An even selection of a list of unknown length.
#include <gtest/gtest.h>

#include <vector>

#include "core/thinning.hpp"

namespace nekbone_k {
namespace {

TEST(Thinning, KeepsAllWhileThereIsRoom) {
  Thinning thinning;
  std::vector<int> kept;
  for (int i = 0; i < 6; ++i) thinning.add(kept, 6, i);
  EXPECT_EQ(kept, (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(Thinning, KeepsTheMultiplesOfADistance) {
  for (const std::size_t most : {2u, 6u, 10u})
    for (int n = 1; n < 200; ++n) {
      Thinning thinning;
      std::vector<int> kept;
      for (int i = 0; i < n; ++i) thinning.add(kept, most, i);
      // The smallest power of two that leaves few enough.
      int distance = 1;
      while ((n - 1) / distance + 1 > static_cast<int>(most)) distance *= 2;
      std::vector<int> expected;
      for (int i = 0; i < n; i += distance) expected.push_back(i);
      EXPECT_EQ(kept, expected) << n << " items, at most " << most;
    }
}

TEST(Thinning, GoesOnFromItsTwoNumbers) {
  std::vector<int> whole, parts;
  Thinning uncut, first;
  for (int i = 0; i < 50; ++i) uncut.add(whole, 8, i);
  for (int i = 0; i < 23; ++i) first.add(parts, 8, i);
  Thinning second{first.given, first.every};
  for (int i = 23; i < 50; ++i) second.add(parts, 8, i);
  EXPECT_EQ(parts, whole);
}

}  // namespace
}  // namespace nekbone_k
