// SPDX-License-Identifier: BSD-3-Clause
// The layout of a message's DOFs, and the number of messages with each layout.
#include "gs/message_layout.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nekbone_k {
namespace {

using Dofs = std::vector<LocalIndex>;

TEST(MessageLayout, IsWhatTheDistancesSay) {
  for (const Dofs& dofs : {Dofs{}, Dofs{5}, Dofs{0, 1}, Dofs{7, 8, 9, 10}})
    EXPECT_EQ(layout_of(dofs), MessageLayout::contiguous) << dofs.size();
  for (const Dofs& dofs : {Dofs{3, 5}, Dofs{0, 7, 14}, Dofs{9, 8, 7}, Dofs{10, 6, 2}})
    EXPECT_EQ(layout_of(dofs), MessageLayout::strided) << dofs.front();
  for (const Dofs& dofs : {Dofs{0, 1, 3}, Dofs{0, 2, 3}, Dofs{1, 2, 3, 5}, Dofs{2, 0, 1},
                           Dofs{0, 1, 2, 3, 0}, Dofs{0, 2, 4, 6, 7}})
    EXPECT_EQ(layout_of(dofs), MessageLayout::indexed) << dofs.back();
}

TEST(MessageLayout, IsCountedOverTheMessagesOfAPlan) {
  HaloPlan plan;
  EXPECT_EQ(message_layouts(plan).total(), 0);
  // Entries between the slices of two neighbours belong to neither.
  plan.message_dofs = {4, 5, 6, 0, 3, 6, 2, 0, 1, 9, 3, 4};
  plan.neighbours = {{1, 0, 3}, {2, 3, 3}, {5, 6, 3}, {6, 9, 1}, {8, 10, 2}};
  EXPECT_EQ(layout_of(plan, plan.neighbours[1]), MessageLayout::strided);
  const MessageLayouts layouts = message_layouts(plan);
  EXPECT_EQ(layouts.contiguous, 3);
  EXPECT_EQ(layouts.strided, 1);
  EXPECT_EQ(layouts.indexed, 1);
  EXPECT_EQ(layouts.total(), 5);
}

}  // namespace
}  // namespace nekbone_k
