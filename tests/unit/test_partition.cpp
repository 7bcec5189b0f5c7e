// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

std::vector<ElementBox> all_boxes(const ElementBox& whole, int ranks,
                                  const Partition& partition = {}) {
  std::vector<ElementBox> boxes;
  for (int rank = 0; rank < ranks; ++rank)
    boxes.push_back(partition_box(whole, ranks, rank, partition));
  return boxes;
}

// Expects that every element belongs to exactly one rank, and that every rank has an element.
void expect_tiling(const ElementBox& whole, int ranks, const Partition& partition = {}) {
  SCOPED_TRACE(testing::Message() << whole.length(0) << " x " << whole.length(1) << " x "
                                  << whole.length(2) << " on " << ranks << ", "
                                  << partition.name());
  std::vector<int> painted(whole.volume(), 0);
  for (const ElementBox& box : all_boxes(whole, ranks, partition)) {
    for (int d = 0; d < 3; ++d) {
      ASSERT_LT(box.begin[d], box.end[d]);
      ASSERT_LE(whole.begin[d], box.begin[d]);
      ASSERT_LE(box.end[d], whole.end[d]);
    }
    for (int z = box.begin[2]; z < box.end[2]; ++z)
      for (int y = box.begin[1]; y < box.end[1]; ++y)
        for (int x = box.begin[0]; x < box.end[0]; ++x) {
          const std::int64_t layer = z - whole.begin[2];
          const std::int64_t line = layer * whole.length(1) + y - whole.begin[1];
          ++painted[line * whole.length(0) + x - whole.begin[0]];
        }
  }
  EXPECT_EQ(std::count(painted.begin(), painted.end(), 1), whole.volume());
}

struct Load {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
};

Load load(const ElementBox& whole, int ranks) {
  Load load;
  for (const ElementBox& box : all_boxes(whole, ranks)) {
    load.least = std::min(load.least, box.volume());
    load.most = std::max(load.most, box.volume());
  }
  return load;
}

TEST(Partition, TilesEverySmallBoxOnEveryNumberOfRanks) {
  for (int nz = 1; nz <= 4; ++nz)
    for (int ny = 1; ny <= 4; ++ny)
      for (int nx = 1; nx <= 4; ++nx)
        for (int ranks = 1; ranks <= nx * ny * nz; ++ranks)
          expect_tiling({{0, 0, 0}, {nx, ny, nz}}, ranks);
}

TEST(Partition, TilesRandomLargerBoxes) {
  std::mt19937 random(20260);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int trial = 0; trial < 200; ++trial) {
    // Include boxes that do not begin at the origin, because the recursion divides such boxes.
    ElementBox whole{{draw(0, 5), draw(0, 5), draw(0, 5)}, {}};
    for (int d = 0; d < 3; ++d) whole.end[d] = whole.begin[d] + draw(1, 24);
    expect_tiling(whole, draw(1, static_cast<int>(std::min<std::int64_t>(whole.volume(), 150))));
  }
}

// A box with too many planes to try each one.
TEST(Partition, TilesAVeryLongBox) {
  const ElementBox line{{0, 0, 0}, {100'001, 1, 1}};
  for (const int ranks : {2, 7, 64}) {
    expect_tiling(line, ranks);
    EXPECT_LE(load(line, ranks).most, 1.01 * 100'001 / ranks);
  }
}

TEST(Partition, GivesOneRankEverything) {
  const ElementBox whole{{0, 0, 0}, {5, 3, 2}};
  EXPECT_EQ(partition_box(whole, 1, 0), whole);
}

TEST(Partition, HalvesAndCubesTheCube) {
  const ElementBox cube{{0, 0, 0}, {64, 64, 64}};
  const auto expect_lengths = [&](int ranks, std::vector<int> lengths) {
    for (const ElementBox& box : all_boxes(cube, ranks)) {
      std::vector<int> found{box.length(0), box.length(1), box.length(2)};
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, lengths) << ranks << " ranks";
    }
  };
  expect_lengths(2, {32, 64, 64});
  expect_lengths(4, {32, 32, 64});
  expect_lengths(8, {32, 32, 32});
  expect_lengths(64, {16, 16, 16});
}

TEST(Partition, CutsAcrossTheLongestDirection) {
  for (int d = 0; d < 3; ++d) {
    ElementBox bar{{0, 0, 0}, {4, 4, 4}};
    bar.end[d] = 32;
    for (const ElementBox& box : all_boxes(bar, 8))
      for (int e = 0; e < 3; ++e) EXPECT_EQ(box.length(e), 4);
  }
}

TEST(Partition, BalancesWhatDoesNotDivide) {
  EXPECT_LE(load({{0, 0, 0}, {64, 64, 64}}, 3).most, 22 * 64 * 64);
  EXPECT_LE(load({{0, 0, 0}, {64, 64, 64}}, 7).most, 38912);  // 4 % above 64^3 / 7
  const Load line = load({{0, 0, 0}, {10, 1, 1}}, 4);
  EXPECT_EQ(line.least, 2);
  EXPECT_EQ(line.most, 3);
}

TEST(Partition, GivesEachOfAsManyRanksAsElementsOne) {
  for (const auto& lengths : {std::array{7, 1, 1}, std::array{1, 7, 1}, std::array{1, 1, 7},
                              std::array{5, 3, 2}, std::array{1, 1, 1}}) {
    const ElementBox whole{{0, 0, 0}, lengths};
    const Load one = load(whole, static_cast<int>(whole.volume()));
    EXPECT_EQ(one.least, 1);
    EXPECT_EQ(one.most, 1);
  }
}

TEST(Partition, RefusesMoreRanksThanElements) {
  EXPECT_THROW(partition_box({{0, 0, 0}, {7, 1, 1}}, 8, 0), InternalError);
  EXPECT_THROW(partition_box({{0, 0, 0}, {2, 3, 4}}, 25, 24), InternalError);
}

// ---- Grids -------------------------------------------------------------------------------------

TEST(PartitionGrid, TilesEveryBoxThatItFits) {
  int fitting = 0;
  for (const auto& lengths : {std::array{5, 3, 2}, std::array{4, 4, 4}, std::array{1, 7, 3}})
    for (int x = 1; x <= 6; ++x)
      for (int y = 1; y <= 8; ++y)
        for (int z = 1; z <= 5; ++z) {
          const Partition grid{{x, y, z}};
          const bool fits = x <= lengths[0] && y <= lengths[1] && z <= lengths[2];
          ASSERT_EQ(grid.fits(lengths, x * y * z), fits) << grid.name();
          EXPECT_FALSE(grid.fits(lengths, x * y * z + 1)) << grid.name();
          if (!fits) continue;
          ++fitting;
          const std::array begin{2, 0, 5};
          expect_tiling({begin, {begin[0] + lengths[0], lengths[1], begin[2] + lengths[2]}},
                        x * y * z, grid);
        }
  EXPECT_EQ(fitting, 5 * 3 * 2 + 4 * 4 * 4 + 7 * 3);
}

TEST(PartitionGrid, BlocksOfADirectionDifferByAtMostOneElement) {
  const std::array lengths{11, 8, 3};
  const Partition grid{{4, 3, 2}};
  for (const ElementBox& box : all_boxes({{0, 0, 0}, lengths}, 24, grid))
    for (int d = 0; d < 3; ++d) {
      EXPECT_GE(box.length(d), lengths[d] / grid.blocks[d]);
      EXPECT_LE(box.length(d), (lengths[d] + grid.blocks[d] - 1) / grid.blocks[d]);
    }
}

TEST(PartitionGrid, NumbersRanksFirstDirectionFastest) {
  const Partition grid{{2, 3, 2}};
  const auto boxes = all_boxes({{0, 0, 0}, {4, 7, 2}}, 12, grid);
  EXPECT_EQ(boxes[0], (ElementBox{{0, 0, 0}, {2, 3, 1}}));  // the first gets the extra element
  EXPECT_EQ(boxes[1], (ElementBox{{2, 0, 0}, {4, 3, 1}}));
  EXPECT_EQ(boxes[2], (ElementBox{{0, 3, 0}, {2, 5, 1}}));
  EXPECT_EQ(boxes[6], (ElementBox{{0, 0, 1}, {2, 3, 2}}));
  EXPECT_EQ(boxes[11], (ElementBox{{2, 5, 1}, {4, 7, 2}}));
}

TEST(PartitionGrid, OfTooManyBlocksIsRefused) {
  EXPECT_THROW(partition_box({{0, 0, 0}, {4, 4, 4}}, 5, 0, {{5, 1, 1}}), InternalError);
  EXPECT_THROW(partition_box({{0, 0, 0}, {4, 4, 4}}, 5, 0, {{2, 2, 1}}), InternalError);
  // 2^33 blocks must not overflow to 0 in 32 bits.
  EXPECT_FALSE((Partition{{2048, 2048, 2048}}.fits({4096, 4096, 4096}, 1 << 30)));
}

TEST(PartitionNames, SayWhatItIs) {
  EXPECT_EQ(Partition{}.name(), "bisection");
  EXPECT_EQ((Partition{{12, 3, 1}}.name()), "12 × 3 × 1");
  EXPECT_TRUE((Partition{{1, 3, 1}}.is_slabs()));
  EXPECT_FALSE((Partition{{2, 3, 1}}.is_slabs()));
  EXPECT_FALSE((Partition{{1, 1, 1}}.is_slabs()));
  EXPECT_FALSE(Partition{}.is_slabs());
  EXPECT_TRUE(Partition{}.fits({2, 2, 2}, 7));
  EXPECT_FALSE(Partition{}.fits({2, 2, 2}, 9));
}

// ---- Ranks of the bisection ---------------------------------------------------------------------

TEST(PartitionSearch, FindsEveryRankWhoseBoxMeets) {
  std::mt19937 random(11);
  const ElementBox whole{{0, 0, 0}, {9, 6, 7}};
  for (const int ranks : {1, 2, 7, 30, 97}) {
    const auto boxes = all_boxes(whole, ranks);
    for (int trial = 0; trial < 20; ++trial) {
      ElementBox wanted;
      for (int d = 0; d < 3; ++d) {
        wanted.begin[d] = static_cast<int>(random() % whole.end[d]);
        wanted.end[d] =
            wanted.begin[d] + 1 + static_cast<int>(random() % (whole.end[d] - wanted.begin[d]));
      }
      const auto meets = [&](const ElementBox& box) {
        for (int d = 0; d < 3; ++d)
          if (box.end[d] <= wanted.begin[d] || wanted.end[d] <= box.begin[d]) return false;
        return true;
      };
      std::vector<int> expected;
      for (int rank = 0; rank < ranks; ++rank)
        if (meets(boxes[rank])) expected.push_back(rank);
      EXPECT_EQ(bisection_ranks(whole, ranks, meets), expected) << ranks << " ranks";
    }
  }
}

}  // namespace
}  // namespace nekbone_k
