// SPDX-License-Identifier: BSD-3-Clause
// The measurement of the machine's paths: all ranks get the same paths with valid costs, even if
// one rank fails. No test asserts a time.
#include "tuning/measure_paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/system.hpp"
#include "support/available_strategies.hpp"
#include "support/callback_guard.hpp"
#include "support/contains.hpp"
#include "tuning/predict.hpp"

namespace nekbone_k {
namespace {

using Found = std::set<std::pair<Carrier, ProbePlace>>;

void print(std::ostream& out, const PathCost& path) {
  out << path.failure << ' ' << path.cost.latency << ' ' << path.cost.bandwidth << ' '
      << path.further_message;
  for (const TransferTime& point : path.points) out << ' ' << point.bytes << ' ' << point.seconds;
  out << '\n';
}

std::string fingerprint(const MachinePaths& paths) {
  std::ostringstream text;
  text << std::hexfloat << paths.launch << ' ' << paths.sync << ' ' << paths.seconds << '\n';
  for (const PathCost* path : {&paths.pack, &paths.copy_to_host, &paths.copy_to_device})
    print(text, *path);
  for (const MessagePath& message : paths.messages) {
    text << name(message.carrier) << ' ' << static_cast<int>(message.place) << ' ';
    print(text, message.path);
  }
  return text.str();
}

class MeasurePathsTest : public testing::Test {
 protected:
  ~MeasurePathsTest() override { unsetenv("NEKBONE_K_RANKS_PER_NODE"); }

  MachinePaths measure(const std::vector<Strategy>& strategies) {
    MachinePaths paths = measure_paths(m_comm, strategies, m_guard, m_options);
    const std::string here = fingerprint(paths);
    for (const std::string& other : m_comm.gather(here)) EXPECT_EQ(other, here);
    EXPECT_GT(paths.launch, 0);
    EXPECT_GE(paths.sync, 0);
    for (const PathCost* path : {&paths.pack, &paths.copy_to_host, &paths.copy_to_device})
      expect_usable(*path);
    for (const MessagePath& message : paths.messages)
      if (message.path.failure.empty()) expect_usable(message.path);
    return paths;
  }

  void expect_usable(const PathCost& path) const {
    ASSERT_EQ(path.points.size(), m_options.sizes.size());
    for (std::size_t s = 0; s < path.points.size(); ++s) {
      EXPECT_EQ(path.points[s].bytes, m_options.sizes[s]);
      EXPECT_GE(path.points[s].seconds, 0);
    }
    EXPECT_GT(path.cost.latency, 0);
    EXPECT_GT(path.cost.bandwidth, 0);
    EXPECT_TRUE(std::isfinite(path.cost.latency) && std::isfinite(path.cost.bandwidth));
    EXPECT_GE(path.further_message, 0);
    EXPECT_LE(path.further_message, path.cost.latency);
  }

  static Found found(const MachinePaths& paths) {
    Found all;
    for (const MessagePath& message : paths.messages) {
      EXPECT_TRUE(all.insert({message.carrier, message.place}).second) << name(message.carrier);
      const PathCost* const usable = paths.find(message.carrier, message.place);
      EXPECT_EQ(usable != nullptr, message.path.failure.empty());
    }
    return all;
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  const bool m_has_pairs = m_comm.size() > 1;
  PathOptions m_options{.seconds = 0, .least_rounds = 3, .sizes = {8, 4096, 65536}};
  CallbackGuard m_guard;
};

TEST_F(MeasurePathsTest, HasMessagesOnlyByWhatTheStrategiesUse) {
  const auto host = std::pair(Carrier::host_messages, ProbePlace::within_node);
  const auto direct = std::pair(direct_messages, ProbePlace::within_node);
  EXPECT_EQ(found(measure({})), Found{});
  EXPECT_EQ(found(measure({*find_strategy("host-pairwise"), *find_strategy("host-put+overlap")})),
            m_has_pairs ? Found{host} : Found{});
  EXPECT_EQ(found(measure({*find_strategy("device-pairwise")})),
            m_has_pairs ? Found{direct} : Found{});
}

TEST_F(MeasurePathsTest, HasEveryCarrierThatIsToBeHad) {
  const std::vector<Strategy> strategies = available_strategies(m_comm);
  Found expected;
  for (const Strategy& strategy : strategies)
    if (m_has_pairs && strategy.cost.carrier != Carrier::none)
      expected.insert({strategy.cost.carrier, ProbePlace::within_node});
  EXPECT_EQ(found(measure(strategies)), expected);
  // Unavailable strategies do not affect the others.
  const auto all = all_strategies();
  EXPECT_EQ(found(measure({all.begin(), all.end()})), expected);
}

TEST_F(MeasurePathsTest, HasPathsBetweenNodesWhereThereAreSeveral) {
  if (m_comm.size() < 3) GTEST_SKIP() << "all ranks are on one node";
  setenv("NEKBONE_K_RANKS_PER_NODE", "2", 1);
  Found expected{{Carrier::host_messages, ProbePlace::within_node},
                 {Carrier::host_messages, ProbePlace::between_nodes}};
  EXPECT_EQ(found(measure({*find_strategy("host-pairwise")})), expected);
  if (!why_unavailable(m_comm, *find_strategy("peer-memory")).empty()) return;
  // Peer memory works only within a node; messages are used between nodes.
  expected = {{Carrier::peer_memory, ProbePlace::within_node},
              {direct_messages, ProbePlace::within_node},
              {direct_messages, ProbePlace::between_nodes}};
  EXPECT_EQ(found(measure({*find_strategy("peer-memory")})), expected);
}

TEST_F(MeasurePathsTest, IsGuardedAndLeavesOutWhatIsExcluded) {
  std::vector<std::string> entered;
  bool inside = false;
  m_guard.on_enter = [&](const std::string& name) {
    EXPECT_FALSE(inside);
    inside = true;
    entered.push_back(name);
  };
  m_guard.on_leave = [&] { inside = false; };
  const std::vector<Strategy> strategies{*find_strategy("host-pairwise"),
                                         *find_strategy("host-alltoall")};
  measure(strategies);
  EXPECT_FALSE(inside);
  using Names = std::vector<std::string>;
  EXPECT_EQ(entered, m_has_pairs ? Names{"path by host messages"} : Names{});

  entered.clear();
  m_guard.excluded = [](const std::string& name) {
    return name == "path by host messages" ? std::string("crashed before") : std::string();
  };
  const MachinePaths paths = measure(strategies);
  EXPECT_TRUE(entered.empty());
  ASSERT_EQ(paths.messages.size(), m_has_pairs ? 1u : 0u);
  for (const MessagePath& message : paths.messages)
    EXPECT_EQ(message.path.failure, "crashed before");

  // Paths that only excluded strategies use are not measured.
  m_guard.excluded = [](const std::string& name) {
    return name.starts_with("host-") ? std::string("crashed before") : std::string();
  };
  EXPECT_TRUE(measure(strategies).messages.empty());
}

// All ranks report an exception of one rank, and no rank waits for a rank that stopped.
TEST_F(MeasurePathsTest, MeterKeepsWhatOneRankThrows) {
  const int last = m_comm.size() - 1;
  PathMeter meter(m_comm, m_options);
  int calls = 0;
  const auto times = meter.medians({[] {},
                                    [&] {
                                      if (m_comm.rank() == last && ++calls > 2)
                                        throw InternalError("the wire is cut");
                                    }});
  EXPECT_EQ(times.size(), 2u);
  EXPECT_TRUE(contains(meter.failure(), "the wire is cut")) << meter.failure();
  EXPECT_TRUE(contains(meter.failure(), "rank " + std::to_string(last))) << meter.failure();
  bool done = false;
  meter.attempt([&] { done = true; });
  EXPECT_EQ(done, m_comm.rank() != last);
  EXPECT_TRUE(PathMeter(m_comm, m_options).failure().empty());
}

// Each part of the prediction is that of the slowest rank.
TEST_F(MeasurePathsTest, PredictionsAreOfTheSlowestRank) {
  // Ranks r - 1 and r share r DOFs, so the last ranks share most.
  std::vector<GlobalId> ids;
  for (const int lower : {m_comm.rank() - 1, m_comm.rank()})
    for (int i = 0; i <= lower && lower + 1 < m_comm.size() && lower >= 0; ++i)
      ids.push_back(1000 * (lower + 1) + i);
  const HaloPlan plan = make_halo_plan(m_comm, ids);
  const MachinePaths paths = measure({*find_strategy("host-pairwise")});
  const std::vector<int> nodes = nodes_of_ranks(m_comm);
  const CostModel model = find_strategy("host-pairwise")->cost;
  const auto here = predict_on_rank(model, plan, nodes, m_comm.rank(), paths);
  const auto all = predict(m_comm, model, plan, nodes, paths);
  ASSERT_TRUE(here && all);
  EXPECT_EQ(all->pack, m_comm.max(here->pack));
  EXPECT_EQ(all->sync, m_comm.max(here->sync));
  EXPECT_EQ(all->messages, m_comm.max(here->messages));
  EXPECT_EQ(all->unpack, m_comm.max(here->unpack));
  EXPECT_EQ(all->alone() > 0, m_has_pairs);
  EXPECT_FALSE(predict(m_comm, {}, plan, nodes, paths));
}

}  // namespace
}  // namespace nekbone_k
