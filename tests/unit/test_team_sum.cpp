// SPDX-License-Identifier: BSD-3-Clause
#include "core/team_sum.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nekbone_k {
namespace {

/// The sum of a team, whose threads run one after another between the barriers.
template <int team_size>
double sum_of_team() {
  std::vector<Lanes> values(team_size, Lanes(-1000.0));
  const TeamSum<team_size> sum{values.data()};
  for (int thread = 0; thread < team_size; ++thread)
    sum.put(thread, Lanes([&](auto lane) { return thread + 0.25 * static_cast<double>(lane); }));
  for (int thread = 0; thread < team_size; ++thread) sum.fold(thread);
  return sum.total();
}

template <int team_size>
double expected() {
  double sum = 0;
  for (int thread = 0; thread < team_size; ++thread)
    for (int lane = 0; lane < static_cast<int>(Lanes::size()); ++lane) sum += thread + 0.25 * lane;
  return sum;
}

TEST(TeamSum, CountsEveryThreadOnce) {
  EXPECT_EQ(sum_of_team<1>(), expected<1>());
  EXPECT_EQ(sum_of_team<7>(), expected<7>());
  EXPECT_EQ(sum_of_team<8>(), expected<8>());
  EXPECT_EQ(sum_of_team<9>(), expected<9>());
  EXPECT_EQ(sum_of_team<63>(), expected<63>());
  EXPECT_EQ(sum_of_team<256>(), expected<256>());
}

}  // namespace
}  // namespace nekbone_k
