// SPDX-License-Identifier: BSD-3-Clause
// Predicted times against values worked out by hand, for a made-up machine and halo plan.
#include "tuning/predict.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gs/strategies/crystal_router.hpp"
#include "gs/strategy_table.hpp"
#include "reduce/all_reduce.hpp"
#include "tuning/measure_paths.hpp"

namespace nekbone_k {
namespace {

constexpr double us = 1e-6, gb = 1e9;  // µs; B/s

PathCost path(double latency, double bandwidth, double further_message = 0) {
  PathCost path;
  path.points = {{8, latency}};
  path.cost = {latency, bandwidth};
  path.further_message = further_message;
  return path;
}

MachinePaths made_up_machine() {
  MachinePaths paths;
  paths.launch = 3 * us;
  paths.sync = 5 * us;
  paths.pack = path(8 * us, 100 * gb);
  paths.copy_to_host = path(10 * us, 20 * gb);
  paths.copy_to_device = path(9 * us, 25 * gb);
  paths.messages = {
      {Carrier::host_messages, ProbePlace::within_node, path(2 * us, 10 * gb, 0.5 * us)},
      {Carrier::host_messages, ProbePlace::between_nodes, path(4 * us, 5 * gb, 1 * us)},
      {Carrier::device_messages, ProbePlace::within_node, path(100 * us, 50 * gb, 40 * us)},
      {Carrier::device_messages, ProbePlace::between_nodes, path(20 * us, 20 * gb, 2 * us)},
      {Carrier::peer_memory, ProbePlace::within_node, path(12 * us, 80 * gb)},
  };
  return paths;
}

// A plan of rank 0: it shares 1000 DOFs (8000 B) with each of `ranks`, `n_shared` distinct DOFs in
// all.
HaloPlan made_up_plan(const std::vector<int>& ranks, LocalIndex n_shared) {
  HaloPlan plan;
  for (const int rank : ranks) {
    plan.neighbours.push_back({rank, plan.n_slots(), 1000});
    plan.message_dofs.resize(plan.message_dofs.size() + 1000);
  }
  plan.ids.resize(n_shared);
  return plan;
}

const std::vector<int> one_node{0, 0, 0, 0}, two_nodes{0, 0, 2, 2};

TEST(CostModel, OfDirectMessagesIsPackWaitMessagesUnpack) {
  const HaloPlan plan = made_up_plan({1, 2}, 1500);
  const auto cost =
      predict_on_rank({.carrier = Carrier::host_messages}, plan, one_node, 0, made_up_machine());
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->pack, 3 * us + 16000 / (100 * gb));
  EXPECT_DOUBLE_EQ(cost->sync, 5 * us);
  // Latency of the first message, 0.5 µs for the second, and the bytes of both.
  EXPECT_DOUBLE_EQ(cost->messages, 2 * us + 0.5 * us + 16000 / (10 * gb));
  EXPECT_DOUBLE_EQ(cost->unpack, 3 * us + (16000 + 12000) / (100 * gb));
  EXPECT_DOUBLE_EQ(cost->alone(), cost->pack + cost->sync + cost->messages + cost->unpack);
}

TEST(CostModel, TakesEachMessageByWhereItGoes) {
  const HaloPlan plan = made_up_plan({1, 2, 3}, 3000);
  const auto cost =
      predict_on_rank({.carrier = Carrier::device_messages}, plan, two_nodes, 0, made_up_machine());
  ASSERT_TRUE(cost);
  // The larger latency, of the message within the node, and two further messages between nodes.
  EXPECT_NEAR(cost->messages, 100 * us + 2 * 2 * us + 8000 / (50 * gb) + 16000 / (20 * gb), 1e-12);
}

TEST(CostModel, OfStagedMessagesHasTheCopiesForTheWait) {
  const HaloPlan plan = made_up_plan({1}, 1000);
  const auto cost = predict_on_rank({.carrier = Carrier::host_messages, .staged = true}, plan,
                                    one_node, 0, made_up_machine());
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->sync, 10 * us + 8000 / (20 * gb));
  EXPECT_DOUBLE_EQ(cost->unpack, 3 * us + 16000 / (100 * gb) + 9 * us + 8000 / (25 * gb));
}

TEST(CostModel, OfPeerMemoryCountsItsKernelsOnceAndGoesByMessagesToOtherNodes) {
  const CostModel model{.carrier = Carrier::peer_memory, .host_waits = false, .packs_itself = true};
  const auto near =
      predict_on_rank(model, made_up_plan({1}, 1000), two_nodes, 0, made_up_machine());
  ASSERT_TRUE(near);
  // The path's cost includes both kernels, but not reading 1000 shared DOFs.
  EXPECT_DOUBLE_EQ(near->pack, 3 * us + 8000 / (100 * gb));
  EXPECT_DOUBLE_EQ(near->unpack, 3 * us + 16000 / (100 * gb));
  EXPECT_EQ(near->sync, 0);
  EXPECT_NEAR(near->alone(), 12 * us + 8000 / (80 * gb) + 8000 / (100 * gb), 1e-12);
  const auto far = predict_on_rank(model, made_up_plan({2}, 1000), two_nodes, 0, made_up_machine());
  ASSERT_TRUE(far);
  const double direct = is_host_device ? 4 * us + 8000 / (5 * gb) : 20 * us + 8000 / (20 * gb);
  EXPECT_DOUBLE_EQ(far->sync, 5 * us);
  EXPECT_DOUBLE_EQ(far->messages, direct);
  EXPECT_DOUBLE_EQ(far->pack, near->pack);
  // If all neighbours are on the node, one_kernel saves a launch.
  CostModel at_once = model;
  at_once.one_kernel = true;
  const auto of = [&](const CostModel& one, int to) {
    return predict_on_rank(one, made_up_plan({to}, 1000), two_nodes, 0, made_up_machine())->alone();
  };
  EXPECT_NEAR(of(model, 1) - of(at_once, 1), 3 * us, 1e-12);
  EXPECT_EQ(of(at_once, 2), of(model, 2));
}

TEST(CostModel, CountsExchangesOfNothing) {
  const HaloPlan plan = made_up_plan({1, 2}, 2000);
  const CostModel plain{.carrier = Carrier::host_messages};
  CostModel with_two = plain;
  with_two.empty_exchanges = 2;
  const auto one = predict_on_rank(plain, plan, one_node, 0, made_up_machine());
  const auto other = predict_on_rank(with_two, plan, one_node, 0, made_up_machine());
  ASSERT_TRUE(one && other);
  EXPECT_NEAR(other->messages - one->messages, 2 * 2.5 * us, 1e-12);
}

TEST(CostModel, OfTheRouterHasAStepForEachHalving) {
  // Rank 0 of four sends the items for ranks 2 and 3 to rank 2, then the items for rank 1 to
  // rank 1.
  const HaloPlan plan = made_up_plan({1, 2, 3}, 3000);
  const auto cost = predict_on_rank({.carrier = Carrier::host_messages, .routed = true}, plan,
                                    two_nodes, 0, made_up_machine());
  ASSERT_TRUE(cost);
  const double first = 3 * us + 16000 / (100 * gb) + 5 * us + 4 * us + 16000 / (5 * gb);
  // Rank 2 forwards the items for rank 3, and this rank forwards other ranks' items.
  const double second = 3 * us + 16000 / (100 * gb) + 5 * us + 2 * us + 16000 / (10 * gb);
  const double last = 3 * us + 24000 / (100 * gb);
  EXPECT_NEAR(cost->messages, first + second + last, 1e-12);
}

TEST(CostModel, OfGatheredMessagesHasThreeSteps) {
  // Rank 0 gives 1000 items to rank 1, which sends and receives the messages between nodes: 3000
  // items each way, of which 1000 are rank 0's. Rank 0 also has a neighbour on its node.
  const HaloPlan plan = made_up_plan({1, 2}, 2000);
  NodeRoutes of_0, of_1;
  of_0.near = {{1, 0, 1000}};
  of_0.carried = {{1, 1000, 1000}};
  of_1.near = {{0, 0, 1000}};
  of_1.own = {{1000, 0, 2000}};
  of_1.members = {{0, 2000, 1000}};
  of_1.nodes = {{2, 0, 3000}};
  of_1.turned.resize(3000);
  const CostModel model{.carrier = Carrier::host_messages, .gathered = true};
  const auto predicted = [&](int rank, const NodeRoutes& routes) {
    return predict_on_rank(model, plan, two_nodes, rank, made_up_machine(), 8, &routes);
  };
  const auto member = predicted(0, of_0), carrier = predicted(1, of_1);
  ASSERT_TRUE(member && carrier);
  EXPECT_NEAR(member->messages, 2 * us + 0.5 * us + 16000 / (10 * gb), 1e-12);
  const double near = 2 * us + 8000 / (10 * gb);  // before and after the messages between nodes
  const double ordering = 3 * us + 24000 / (100 * gb) + 5 * us;
  EXPECT_NEAR(carrier->messages, near + (4 * us + 24000 / (5 * gb)) + ordering + near, 1e-12);
  EXPECT_EQ(member->pack, carrier->pack);
}

TEST(CostModel, KnowsNothingWithoutAModelOrAPath) {
  const HaloPlan plan = made_up_plan({1, 2}, 2000);
  const MachinePaths paths = made_up_machine();
  EXPECT_FALSE(predict_on_rank({}, plan, one_node, 0, paths));
  EXPECT_FALSE(predict_on_rank({.carrier = Carrier::nccl}, plan, one_node, 0, paths));
  MachinePaths without = paths;
  std::erase_if(without.messages,
                [](const MessagePath& m) { return m.place == ProbePlace::between_nodes; });
  const CostModel host{.carrier = Carrier::host_messages};
  EXPECT_TRUE(predict_on_rank(host, plan, one_node, 0, without));
  EXPECT_FALSE(predict_on_rank(host, plan, two_nodes, 0, without));
  MachinePaths failed = paths;
  failed.messages[0].path = {"threw", {}, {}, 0};
  EXPECT_FALSE(predict_on_rank(host, plan, one_node, 0, failed));
  EXPECT_FALSE(predict_on_rank(host, plan, one_node, 0, MachinePaths()));
}

TEST(CostModel, OfARankWithoutNeighboursIsNothing) {
  const auto cost = predict_on_rank({.carrier = Carrier::host_messages, .staged = true}, HaloPlan(),
                                    one_node, 3, made_up_machine());
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->alone(), 0);
}

TEST(CostModel, HidesMessagesBehindWork) {
  const PredictedCost cost{1, 2, 8, 4};
  EXPECT_EQ(cost.alone(), 15);
  EXPECT_EQ(cost.beyond(0), 15);
  EXPECT_EQ(cost.beyond(5), 10);
  EXPECT_EQ(cost.beyond(100), 7);
}

TEST(CostModelOfSums, OfMessagesHalvesTheRanksOfANodeAndTheNodes) {
  const SumCostModel mpi{.carrier = Carrier::host_messages};
  const MachinePaths paths = made_up_machine();
  // Launch 3 µs, wait 5; a step within a node 2, between nodes 4.
  EXPECT_DOUBLE_EQ(predict_sum(mpi, one_node, paths).value(), (8 + 2 * 2) * us);
  EXPECT_DOUBLE_EQ(predict_sum(mpi, two_nodes, paths).value(), (8 + 2 + 4) * us);
  EXPECT_DOUBLE_EQ(predict_sum(mpi, std::vector(5, 0), paths).value(), (8 + 3 * 2) * us);
  EXPECT_DOUBLE_EQ(predict_sum(mpi, std::vector{0, 1, 2}, paths).value(), (8 + 2 * 4) * us);
  EXPECT_DOUBLE_EQ(predict_sum(mpi, std::vector{0, 1, 1, 1}, paths).value(), (8 + 2 * 2 + 4) * us);
}

TEST(CostModelOfSums, TakesOneStepWhereAllRanksMeet) {
  const MachinePaths paths = made_up_machine();
  const SumCostModel shared{.carrier = Carrier::host_messages, .meets_in_memory = true};
  EXPECT_DOUBLE_EQ(predict_sum(shared, one_node, paths).value(), (8 + 2) * us);
  // To the node's block and back, and messages between nodes.
  EXPECT_DOUBLE_EQ(predict_sum(shared, two_nodes, paths).value(), (8 + 2 * 2 + 4) * us);
  const SumCostModel kernels{.carrier = Carrier::peer_memory, .by_kernels = true};
  EXPECT_DOUBLE_EQ(predict_sum(kernels, one_node, paths).value(), (3 + 12) * us);
}

TEST(CostModelOfSums, KnowsNothingWithoutAModelOrAPath) {
  const MachinePaths paths = made_up_machine();
  EXPECT_FALSE(predict_sum({}, one_node, paths));
  EXPECT_FALSE(predict_sum({.carrier = Carrier::nccl, .by_kernels = true}, one_node, paths));
  EXPECT_FALSE(
      predict_sum({.carrier = Carrier::peer_memory, .by_kernels = true}, two_nodes, paths));
  EXPECT_FALSE(predict_sum({.carrier = Carrier::host_messages}, one_node, MachinePaths()));
  for (const AllReduceStrategy& sum : all_reduce_strategies())
    EXPECT_NE(sum.cost.carrier, Carrier::none) << sum.name;
}

TEST(CostModel, IsOffByFourTimesEitherWay) {
  EXPECT_FALSE(off_its_model(4, 1));
  EXPECT_FALSE(off_its_model(1, 4));
  EXPECT_DOUBLE_EQ(off_its_model(4.5, 1).value(), 4.5);
  EXPECT_DOUBLE_EQ(off_its_model(1, 5).value(), 0.2);
  EXPECT_FALSE(off_its_model(1, 0));
  EXPECT_FALSE(off_its_model(-1, 1));
}

TEST(CostModel, IsStatedByEveryStrategyOfTheTable) {
  for (const Strategy& strategy : all_strategies()) {
    EXPECT_NE(strategy.cost.carrier, Carrier::none) << strategy.name;
    EXPECT_EQ(strategy.cost.staged, strategy.name.starts_with("host-")) << strategy.name;
    EXPECT_EQ(strategy.cost.routed, strategy.name.find("crystal") != std::string::npos);
    EXPECT_EQ(strategy.cost.gathered, strategy.name.find("node-aware") != std::string::npos);
    const Strategy* const plain = find_strategy(strategy.name.substr(0, strategy.name.find('+')));
    ASSERT_NE(plain, nullptr);
    EXPECT_EQ(plain->cost.carrier, strategy.cost.carrier) << strategy.name;
  }
}

// A route of the crystal router ends at its target, and each step leads to the other half of ranks.
TEST(CostModel, RoutesEndWhereTheyShould) {
  for (int ranks = 1; ranks <= 13; ++ranks)
    for (int from = 0; from < ranks; ++from)
      for (int to = 0; to < ranks; ++to) {
        const std::vector<int> route = crystal_route(from, to, ranks);
        int halvings = 0;
        for (int size = ranks; size > 1; size = (size + 1) / 2) ++halvings;
        EXPECT_LE(route.size(), static_cast<std::size_t>(halvings));
        EXPECT_EQ(route.empty() ? from : route.back(), to);
        if (from == to) {
          EXPECT_TRUE(std::all_of(route.begin(), route.end(), [=](int at) { return at == from; }));
        }
      }
  EXPECT_EQ(crystal_route(0, 3, 4), (std::vector{2, 3}));
  EXPECT_EQ(crystal_route(3, 0, 4), (std::vector{1, 0}));
  EXPECT_EQ(crystal_route(1, 0, 3), (std::vector{1, 0}));
}

// ---- Pairs of ranks to measure -----------------------------------------------------------------

TEST(CostModelPartners, AreMutualAndLieOnOneNodeOrOnTwo) {
  const std::vector<std::vector<int>> layouts{
      {0},         {0, 0}, {0, 0, 0}, {0, 0, 0, 0}, {0, 1}, {0, 0, 2, 2}, {0, 0, 0, 3, 3, 3, 6},
      {0, 1, 0, 1}};
  for (const auto& nodes : layouts)
    for (const ProbePlace place : {ProbePlace::within_node, ProbePlace::between_nodes}) {
      const std::vector<int> partners = path_partners(nodes, place);
      ASSERT_EQ(partners.size(), nodes.size());
      for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
        if (partners[rank] < 0) continue;
        EXPECT_EQ(partners[partners[rank]], static_cast<int>(rank));
        EXPECT_NE(partners[rank], static_cast<int>(rank));
        EXPECT_EQ(nodes[partners[rank]] == nodes[rank], place == ProbePlace::within_node);
      }
    }
}

TEST(CostModelPartners, LeaveOutOneOfAnOddNumberAndAllWhereThereIsNobody) {
  EXPECT_EQ(path_partners(std::vector{0, 0, 0}, ProbePlace::within_node), (std::vector{1, 0, -1}));
  EXPECT_EQ(path_partners(std::vector{0, 0, 0, 0}, ProbePlace::within_node),
            (std::vector{2, 3, 0, 1}));
  EXPECT_EQ(path_partners(std::vector{0, 0, 2, 2}, ProbePlace::between_nodes),
            (std::vector{2, 3, 0, 1}));
  EXPECT_EQ(path_partners(std::vector{0, 0}, ProbePlace::between_nodes), (std::vector{-1, -1}));
  EXPECT_EQ(path_partners(std::vector{0, 1}, ProbePlace::within_node), (std::vector{-1, -1}));
}

}  // namespace
}  // namespace nekbone_k
