// The table of exchange strategies.
#include "gs/strategy_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace nekbone_k {
namespace {

TEST(StrategyTable, HasEachExchangePlainAndOverlapped) {
  std::vector<std::string> exchanges{"nccl", "nvshmem", "peer-memory", "device-datatypes"};
  for (const char* const way : {"pairwise", "persistent", "pipelined", "neighbour", "alltoall",
                                "put", "node-aware", "crystal"})
    for (const char* const memory : {"device-", "host-"})
      exchanges.push_back(std::string(memory) + way);
  for (const std::string& exchange : exchanges) {
    const Strategy* plain = find_strategy(exchange);
    ASSERT_NE(plain, nullptr) << exchange;
    EXPECT_FALSE(plain->overlapped);
    EXPECT_EQ(plain->buffers, (exchange.starts_with("device") || exchange == "nccl" ? 2 : 4) +
                                  (exchange.ends_with("crystal") ? 4 : 0) +
                                  (exchange.ends_with("node-aware") ? 3 : 0));
    if (exchange.ends_with("crystal")) continue;  // several steps: nothing to hide in one gap
    const Strategy* overlapped = find_strategy(exchange + "+overlap");
    ASSERT_NE(overlapped, nullptr) << exchange;
    EXPECT_TRUE(overlapped->overlapped);
    EXPECT_EQ(plain->make, overlapped->make);
    EXPECT_EQ(plain->memory, overlapped->memory);
    EXPECT_EQ(overlapped->buffers, plain->buffers);
  }
  EXPECT_EQ(all_strategies().size(), 2 * exchanges.size() - 2);
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
