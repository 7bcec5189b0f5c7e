// SPDX-License-Identifier: BSD-3-Clause
#include "operators/axhelm/axhelm_lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace nekbone_k {
namespace {

constexpr int lanes = ElementLayout::lanes;
constexpr LocalIndex n_rows = 40 + lanes;

template <class T>
class AxhelmLanesOf : public testing::Test {};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(AxhelmLanesOf, ValueTypes);

/// Compares writing to rows with a plain loop.
template <bool adds, class T>
void expect_equals_plain_loop(const std::vector<LocalIndex>& index, LocalIndex end) {
  std::vector<T> rows(n_rows), expected;
  std::iota(rows.begin(), rows.end(), T(1));
  expected = rows;
  const LanesOf<T> value([](auto lane) { return T(100) + T(3) * static_cast<T>(lane); });
  for (int lane = 0; lane < lanes; ++lane)
    if (index[lane] < end)
      expected[index[lane]] = (adds ? expected[index[lane]] : T(0)) + value[lane];
  lanes_to_rows<adds, T>(rows.data(), index.data(), end, value);
  EXPECT_EQ(rows, expected) << testing::PrintToString(index) << ", end " << end;
}
template <class T>
void expect_both_equal_plain_loops(const std::vector<LocalIndex>& index, LocalIndex end) {
  expect_equals_plain_loop<true, T>(index, end);
  expect_equals_plain_loop<false, T>(index, end);
}

TYPED_TEST(AxhelmLanesOf, WritesARunToRows) {
  for (LocalIndex first = 0; first + lanes <= n_rows; ++first) {
    std::vector<LocalIndex> index(lanes);
    std::iota(index.begin(), index.end(), first);
    // All rows, a part of them, and none.
    for (const LocalIndex end :
         {n_rows, first + lanes / 2, first + lanes - 1, first, LocalIndex{0}})
      expect_both_equal_plain_loops<TypeParam>(index, end);
  }
}

// Lanes at Dirichlet faces and without an element have an index beyond the end.
TYPED_TEST(AxhelmLanesOf, WritesARunWithOtherLanesToRows) {
  constexpr LocalIndex end = n_rows - 1;
  for (unsigned others = 0; others < (1u << lanes); ++others)
    for (const bool have_rows : {true, false}) {
      std::vector<LocalIndex> index(lanes);
      std::iota(index.begin(), index.end(), 3);
      for (int lane = 0; lane < lanes; ++lane)
        if (others >> lane & 1) index[lane] = have_rows ? end - 1 - 2 * lane : end;
      expect_both_equal_plain_loops<TypeParam>(index, end);
    }
}

TYPED_TEST(AxhelmLanesOf, WritesDistinctRowsInAnyOrder) {
  std::mt19937 random(1);
  std::vector<LocalIndex> rows(n_rows);
  std::iota(rows.begin(), rows.end(), 0);
  for (int trial = 0; trial < 200; ++trial) {
    std::shuffle(rows.begin(), rows.end(), random);
    expect_both_equal_plain_loops<TypeParam>({rows.begin(), rows.begin() + lanes},
                                             n_rows - trial % 20);
  }
}

template <class T>
void expect_joins_blocks() {
  constexpr int n = blocks_of_register<T>;
  if constexpr (n == 1) {
    GTEST_SKIP() << "a register has one block";
  } else {
    using Joined = AxhelmLanes<T, n>;
    static_assert(Joined::Type::size() == 2 * lanes);
    const LanesOf<T> first([](auto lane) { return T(1) + static_cast<T>(lane); }),
        second([](auto lane) { return T(50) + static_cast<T>(lane); });
    const auto both = Joined::joined(first, second);
    for (int lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(both[lane], first[lane]);
      EXPECT_EQ(both[lanes + lane], second[lane]);
      EXPECT_EQ(Joined::template of<0>(both)[lane], first[lane]);
      EXPECT_EQ(Joined::template of<1>(both)[lane], second[lane]);
    }
  }
}

TEST(AxhelmLanes, JoinsTwoBlocksOfFloats) { expect_joins_blocks<float>(); }

}  // namespace
}  // namespace nekbone_k
