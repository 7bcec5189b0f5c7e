// SPDX-License-Identifier: BSD-3-Clause
#include "core/lanes.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/entry_reduction.hpp"

namespace nekbone_k {
namespace {

constexpr int lanes = static_cast<int>(Lanes::size());

template <class T>
class LanesOfType : public testing::Test {};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(LanesOfType, ValueTypes);

TYPED_TEST(LanesOfType, ReadsAndWritesAnyAddress) {
  using T = TypeParam;
  std::vector<T> from(2 * lanes + 1), to(2 * lanes + 1);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = T(i) + T(0.25);
  for (int begin = 0; begin <= lanes; ++begin) {
    const auto value = read_lanes(from.data() + begin), same = read_lanes_once(from.data() + begin);
    store_entry(to.data() + begin, load_entry<LanesOf<T>>(from.data() + begin));
    for (int lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(value[lane], from[begin + lane]);
      EXPECT_EQ(same[lane], from[begin + lane]);
      EXPECT_EQ(to[begin + lane], from[begin + lane]);
    }
  }
  store_entry(to.data(), load_entry<T>(from.data() + 1));
  EXPECT_EQ(to[0], from[1]);
}

TYPED_TEST(LanesOfType, GathersByIndicesOfEitherSign) {
  using T = TypeParam;
  std::vector<T> from(6 * lanes);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = T(i) + T(0.25);
  std::vector<LocalIndex> index(lanes + 1);
  for (int i = 0; i <= lanes; ++i) index[i] = (i % 2 == 0 ? 1 : -1) * 2 * i;
  const T* const middle = from.data() + 3 * lanes;
  const auto value = gather_lanes(middle, index.data() + 1);
  for (int lane = 0; lane < lanes; ++lane) EXPECT_EQ(value[lane], middle[index[lane + 1]]);
}

TYPED_TEST(LanesOfType, GathersARunWithOtherLanes) {
  using T = TypeParam;
  std::vector<T> from(5 * lanes);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = T(i) + T(0.25);
  const T* const middle = from.data() + lanes;
  for (unsigned others = 0; others < (1u << lanes); ++others) {
    std::vector<LocalIndex> index(lanes);
    for (int lane = 0; lane < lanes; ++lane)
      index[lane] = (others >> lane & 1) ? (lane % 2 == 0 ? 3 * lanes : -lane) : lane;
    const auto value = gather_lanes(middle, index.data());
    for (int lane = 0; lane < lanes; ++lane) EXPECT_EQ(value[lane], middle[index[lane]]);
  }
}

// (1 + ε)² - (1 + 2ε) = ε², which is lost if the product is rounded.
TYPED_TEST(LanesOfType, FusesWithOneRounding) {
  using T = TypeParam;
  const T epsilon = std::numeric_limits<T>::epsilon(), x = 1 + epsilon, z = -1 - 2 * epsilon;
  EXPECT_EQ(fused_multiply_add(x, x, z), epsilon * epsilon);
  const auto value = fused_multiply_add(LanesOf<T>(x), LanesOf<T>(x), LanesOf<T>(z));
  for (int lane = 0; lane < lanes; ++lane) EXPECT_EQ(value[lane], epsilon * epsilon);
}

TYPED_TEST(LanesOfType, TakesTheLargerInEachLane) {
  using T = TypeParam;
  const LanesOf<T> a([](auto lane) { return T(lane % 2 == 0 ? 3 : -3); });
  const LanesOf<T> value = larger(a, LanesOf<T>(T(1)));
  for (int lane = 0; lane < lanes; ++lane) EXPECT_EQ(value[lane], lane % 2 == 0 ? T(3) : T(1));
  EXPECT_EQ(larger(T(2), T(-5)), T(2));
}

}  // namespace
}  // namespace nekbone_k
