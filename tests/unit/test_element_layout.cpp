// SPDX-License-Identifier: BSD-3-Clause
#include "operators/element_layout.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace nekbone_k {
namespace {

class ElementLayoutNq : public testing::TestWithParam<int> {
 protected:
  const int nq = GetParam();

  template <class Action>
  void for_each_node(const Action& action) const {
    for (int k = 0; k < nq; ++k)
      for (int j = 0; j < nq; ++j)
        for (int i = 0; i < nq; ++i) action(i, j, k);
  }
};

TEST_P(ElementLayoutNq, SurfaceIndexIsABijection) {
  std::vector<int> used(ElementLayout::n_surface(nq), 0);
  for_each_node([&](int i, int j, int k) {
    if (!ElementLayout::on_surface(nq, i, j, k)) return;
    const int s = ElementLayout::surface_index(nq, i, j, k);
    ASSERT_GE(s, 0);
    ASSERT_LT(s, ElementLayout::n_surface(nq)) << i << ' ' << j << ' ' << k;
    ++used[s];
  });
  EXPECT_EQ(used, std::vector<int>(used.size(), 1));
}

TEST_P(ElementLayoutNq, InteriorIndexIsABijection) {
  std::vector<int> used(ElementLayout::n_interior(nq), 0);
  for_each_node([&](int i, int j, int k) {
    if (ElementLayout::on_surface(nq, i, j, k)) return;
    const int r = ElementLayout::interior_index(nq, i, j, k);
    ASSERT_GE(r, 0);
    ASSERT_LT(r, ElementLayout::n_interior(nq)) << i << ' ' << j << ' ' << k;
    ++used[r];
  });
  EXPECT_EQ(used, std::vector<int>(used.size(), 1));
}

TEST_P(ElementLayoutNq, CountsPoints) {
  int surface = 0;
  for_each_node([&](int i, int j, int k) {
    bool at_end = false;
    for (const int index : {i, j, k}) at_end |= index == 0 || index == nq - 1;
    EXPECT_EQ(ElementLayout::on_surface(nq, i, j, k), at_end);
    surface += at_end;
  });
  const ElementLayout layout{nq, 5};
  EXPECT_EQ(layout.points(), nq * nq * nq);
  EXPECT_EQ(layout.n_surface(), surface);
  EXPECT_EQ(layout.n_interior(), nq * nq * nq - surface);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ElementLayoutNq, testing::Range(2, 17), [](const auto& instance) {
  return "Nq" + std::to_string(instance.param);
});

TEST(ElementLayout, PadsTheLastBlock) {
  constexpr int lanes = ElementLayout::lanes;
  for (int n_elements = 0; n_elements <= 3 * lanes + 1; ++n_elements) {
    const ElementLayout layout{4, n_elements};
    EXPECT_GE(layout.n_blocks() * lanes, n_elements);
    EXPECT_LT((layout.n_blocks() - 1) * lanes, n_elements);
    const std::size_t padded = std::size_t(layout.n_blocks()) * lanes;
    EXPECT_EQ(layout.n_surface_values(), padded * 56);
    EXPECT_EQ(layout.n_interior_values(), padded * 8);
  }
}

TEST(ElementLayout, OffsetsRunThroughItemsThenBlocks) {
  constexpr std::size_t lanes = ElementLayout::lanes;
  EXPECT_EQ(ElementLayout::offset(0, 0, 7), 0u);
  EXPECT_EQ(ElementLayout::offset(0, 3, 7), 3 * lanes);
  EXPECT_EQ(ElementLayout::offset(1, 0, 7), 7 * lanes);
  EXPECT_EQ(ElementLayout::offset(5, 6, 7), 41 * lanes);
  // Beyond 2^31, where 32-bit products would overflow.
  EXPECT_EQ(ElementLayout::offset(1'000'000, 0, 24'576), std::size_t{24'576'000'000} * lanes);
}

TEST(ElementLayout, EveryGeometricValueHasAPlaceOfItsOwn) {
  for (const int nq : {2, 3, 8})
    for (const LocalIndex n_elements : {1, 31, 32, 33, 100}) {
      const ElementLayout layout{nq, n_elements};
      constexpr int items = 5;
      std::set<std::size_t> places;
      for (LocalIndex e = 0; e < n_elements; ++e)
        for (int item = 0; item < items; ++item)
          places.insert(ElementLayout::geometry_offset(nq, e, item, items));
      EXPECT_EQ(places.size(), std::size_t(n_elements) * items);
      EXPECT_LT(*places.rbegin(), layout.n_geometry_values(items));
      // The lanes of a block are consecutive.
      for (LocalIndex e = 0; e < n_elements; ++e)
        EXPECT_EQ(ElementLayout::geometry_offset(nq, e, 2, items) - e % ElementLayout::lanes,
                  ElementLayout::geometry_offset(nq, e - e % ElementLayout::lanes, 2, items));
    }
}

// CPUs prefetch consecutive memory.
TEST(ElementLayout, ACpuReadsFactorsInTheOrderOfPointsAndBlocks) {
  if (!is_host_device) GTEST_SKIP() << "on a GPU threads read them side by side";
  constexpr int lanes = ElementLayout::lanes, entries = ElementLayout::n_factors;
  for (const int nq : {2, 3, 8}) {
    const int points = nq * nq * nq, items = entries * points;
    for (int q = 0; q < points; ++q)
      for (int c = 0; c < entries; ++c) {
        const int item = ElementLayout::factor_item(nq, q, c);
        EXPECT_EQ(ElementLayout::geometry_offset(nq, 0, item, items),
                  std::size_t(q * entries + c) * lanes);
      }
    EXPECT_EQ(ElementLayout::geometry_offset(nq, lanes, 0, items), std::size_t(items) * lanes);
  }
}

TEST(ElementLayout, EveryFactorEntryHasAPlaceOfItsOwn) {
  for (const int nq : {2, 3, 8}) {
    const int points = nq * nq * nq;
    std::set<int> items;
    for (int q = 0; q < points; ++q)
      for (int c = 0; c < ElementLayout::n_factors; ++c) {
        const int item = ElementLayout::factor_item(nq, q, c);
        items.insert(item);
        // Kernels compute an address as the sum of a point's offset and an entry's offset.
        EXPECT_EQ(item,
                  ElementLayout::factor_item(nq, q, 0) + ElementLayout::factor_item(nq, 0, c));
        EXPECT_EQ(ElementLayout::factor_item(nq, q, 0), q * ElementLayout::factor_item(nq, 1, 0));
      }
    EXPECT_EQ(*items.begin(), 0);
    EXPECT_EQ(*items.rbegin(), points * ElementLayout::n_factors - 1);
    EXPECT_EQ(items.size(), std::size_t(points) * ElementLayout::n_factors);
  }
}

}  // namespace
}  // namespace nekbone_k
