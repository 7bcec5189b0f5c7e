// SPDX-License-Identifier: BSD-3-Clause
// Lists with equal distances follow each other.
#include "gs/list_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace nekbone_k {
namespace {

using Lists = std::vector<std::vector<LocalIndex>>;

std::vector<LocalIndex> order_of(const Lists& lists, LocalIndex border) {
  return order_of_alike_lists(static_cast<LocalIndex>(lists.size()), border, [&](LocalIndex list) {
    return std::span(std::as_const(lists[list]));
  });
}

/// The number of neighbours in the order whose distances differ.
int changes(const Lists& lists, const std::vector<LocalIndex>& order) {
  const auto distances = [&](LocalIndex list) {
    std::vector<LocalIndex> relative;
    for (const LocalIndex entry : lists[list]) relative.push_back(entry - lists[list][0]);
    return relative;
  };
  int n = 0;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (distances(order[i]) != distances(order[i - 1])) ++n;
  return n;
}

TEST(ListOrder, JoinsListsWithEqualDistances) {
  Lists lists;
  for (LocalIndex i = 0; i < 300; ++i) {
    if (i % 3 == 0) lists.push_back({i});
    if (i % 3 == 1) lists.push_back({i, i + 5});
    if (i % 3 == 2) lists.push_back({i, i + 5, i + 9});
  }
  std::vector<LocalIndex> all(lists.size());
  std::iota(all.begin(), all.end(), 0);
  for (const LocalIndex border : {0, 100, 300}) {
    const std::vector<LocalIndex> order = order_of(lists, border);
    EXPECT_THAT(order, testing::UnorderedElementsAreArray(all));
    for (LocalIndex at = 0; at < 300; ++at) EXPECT_EQ(order[at] < border, at < border);
    EXPECT_LE(changes(lists, order), border == 100 ? 5 : 2);
    // Lists that are alike keep their order.
    for (std::size_t i = 1; i < order.size(); ++i) {
      const bool are_alike = order[i] % 3 == order[i - 1] % 3;
      const bool are_together = (order[i] < border) == (order[i - 1] < border);
      if (are_alike && are_together) {
        EXPECT_GT(order[i], order[i - 1]);
      }
    }
  }
}

TEST(ListOrder, KeepsListsNearTheirPlace) {
  Lists lists;
  for (LocalIndex i = 0; i < 10000; ++i)
    lists.push_back(i % 2 == 0 ? std::vector{i} : std::vector{i, i + 1});
  const std::vector<LocalIndex> order = order_of(lists, 0);
  for (LocalIndex at = 0; at < 10000; ++at) EXPECT_LT(std::abs(order[at] - at), 1024);
  EXPECT_LT(changes(lists, order), 25);
}

}  // namespace
}  // namespace nekbone_k
