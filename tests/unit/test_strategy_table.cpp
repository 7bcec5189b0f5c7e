// SPDX-License-Identifier: BSD-3-Clause
// The table of exchange strategies.
#include "gs/strategy_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace nekbone_k {
namespace {

struct Expected {
  const char* name;
  int buffers;
  bool can_overlap = true;
};
constexpr Expected exchanges[] = {{"device-pairwise", 2},
                                  {"host-pairwise", 4},
                                  {"device-persistent", 2},
                                  {"host-persistent", 4},
                                  {"device-pipelined", 2},
                                  {"host-pipelined", 4},
                                  {"device-neighbour", 2},
                                  {"host-neighbour", 4},
                                  {"device-alltoall", 2},
                                  {"host-alltoall", 4},
                                  {"device-put", 2},
                                  {"host-put", 4},
                                  {"device-node-aware", 5},
                                  {"host-node-aware", 7},
                                  {"device-crystal", 6, false},
                                  {"host-crystal", 8, false},
                                  {"device-datatypes", 2},
                                  {"nccl", 2},
                                  {"nvshmem", 4},
                                  {"peer-memory", is_host_device ? 4 : 6}};

TEST(StrategyTable, HasEachExchangePlainAndOverlapped) {
  std::size_t count = 0;
  for (const Expected& expected : exchanges) {
    SCOPED_TRACE(expected.name);
    const Strategy* plain = find_strategy(expected.name);
    ASSERT_NE(plain, nullptr);
    EXPECT_FALSE(plain->overlapped);
    EXPECT_EQ(plain->buffers, expected.buffers);
    const Strategy* overlapped = find_strategy(std::string(expected.name) + "+overlap");
    // A router takes several steps, so it cannot overlap with a single piece of work.
    ASSERT_EQ(overlapped != nullptr, expected.can_overlap);
    count += expected.can_overlap ? 2 : 1;
    if (!expected.can_overlap) continue;
    EXPECT_TRUE(overlapped->overlapped);
    EXPECT_EQ(plain->make, overlapped->make);
    EXPECT_EQ(plain->memory, overlapped->memory);
    EXPECT_EQ(overlapped->buffers, expected.buffers);
  }
  EXPECT_EQ(all_strategies().size(), count);
}

TEST(StrategyTable, FindsEachByItsNameOnly) {
  std::set<std::string> names;
  for (const Strategy& strategy : all_strategies()) {
    EXPECT_TRUE(names.insert(strategy.name).second) << strategy.name << " twice";
    EXPECT_EQ(find_strategy(strategy.name), &strategy);
    EXPECT_NE(strategy.make, nullptr) << strategy.name;
    EXPECT_FALSE(strategy.memory.empty()) << strategy.name;
    EXPECT_FALSE(strategy.description.empty()) << strategy.name;
  }
  EXPECT_EQ(find_strategy(""), nullptr);
  EXPECT_EQ(find_strategy("device"), nullptr);
  EXPECT_EQ(find_strategy("device-pairwise+"), nullptr);
}

TEST(StrategyTable, GoesFromSimpleToLessSimple) {
  const auto place = [](const char* name) { return find_strategy(name); };
  EXPECT_EQ(place("device-pairwise"), all_strategies().data());
  EXPECT_LT(place("device-pairwise"), place("host-pairwise"));
  EXPECT_LT(place("device-alltoall"), place("host-alltoall"));
  EXPECT_LT(place("device-pairwise"), place("device-alltoall"));
  EXPECT_LT(place("host-pairwise"), place("host-alltoall"));
  EXPECT_TRUE(std::is_partitioned(all_strategies().begin(), all_strategies().end(),
                                  [](const Strategy& s) { return !s.overlapped; }));
}

}  // namespace
}  // namespace nekbone_k
