// SPDX-License-Identifier: BSD-3-Clause
// The regret of a choice, for work with known times.
#include "tuning/audit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>
#include <vector>

#include "gs/gather_scatter.hpp"
#include "support/callback_guard.hpp"

namespace nekbone_k {
namespace {

class AuditTest : public testing::Test {
 protected:
  // Audits work that takes `milliseconds` per iteration with the selected strategy.
  Audit audit(const std::string& choice, const std::vector<std::string>& others,
              const std::map<std::string, int>& milliseconds, const AuditOptions& options) {
    std::vector<AuditedChoice> choices;
    const auto add = [&](const std::string& name) {
      choices.push_back(
          {name, "guarded " + name, [this, name] { m_gs.select(*find_strategy(name)); }});
    };
    add(choice);
    for (const std::string& name : others) add(name);
    std::string inside;
    CallbackGuard guard;
    guard.on_enter = [&](const std::string& name) { inside = name; };
    guard.on_leave = [&] { inside.clear(); };
    const AuditedWork work{[&] { ++m_prepared; },
                           [&](int n) {
                             EXPECT_GT(m_prepared, m_iterated);
                             m_iterated = m_prepared;
                             EXPECT_EQ(inside, "guarded " + m_gs.strategy().name);
                             std::this_thread::sleep_for(std::chrono::milliseconds(
                                 n * milliseconds.at(m_gs.strategy().name)));
                           }};
    const Audit result =
        audit_choice(m_comm, choices, 1e-3 * milliseconds.at(choice), work, options, guard);
    EXPECT_EQ(inside, "");
    EXPECT_EQ(m_gs.strategy().name, choice);
    EXPECT_EQ(result.strategies.front().name, choice);
    EXPECT_EQ(result.others, static_cast<int>(others.size()));
    // The regret is the same on every rank.
    EXPECT_EQ(m_comm.max(result.regret()), m_comm.min(result.regret()));
    return result;
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  GatherScatter m_gs{m_comm, std::vector<GlobalId>{0, 1 + m_comm.rank()}};
  int m_prepared = 0, m_iterated = 0;
};

const std::string one = "device-pairwise", two = "host-pairwise", three = "device-alltoall",
                  four = "host-alltoall";

TEST_F(AuditTest, SaysThatTheChoiceWasTheBest) {
  const Audit result =
      audit(one, {two, three}, {{one, 1}, {two, 20}, {three, 10}}, {0.05, 2, 3, 2});
  EXPECT_EQ(result.best(), 0U);
  EXPECT_EQ(result.regret(), 0);
  EXPECT_EQ(result.rounds, 3);
  EXPECT_EQ(result.iterations, 2);
  ASSERT_EQ(result.strategies.size(), 3U);
  for (const AuditedStrategy& strategy : result.strategies)
    EXPECT_EQ(strategy.timing.samples.size(), 3U) << strategy.name;
}

TEST_F(AuditTest, NamesTheOneThatWouldHaveBeenBetter) {
  const Audit result = audit(two, {one, three}, {{one, 20}, {two, 10}, {three, 1}}, {0.5, 2, 3, 2});
  EXPECT_EQ(result.strategies[result.best()].name, three);
  EXPECT_GT(result.regret(), 1);  // 10 ms against 1 ms, where sleeps may overrun
}

TEST_F(AuditTest, TriesAsManyOthersAsThereIsTimeForAndTheFirstOnesAlways) {
  const std::map<std::string, int> milliseconds{{one, 1}, {two, 1}, {three, 1}, {four, 1}};
  EXPECT_EQ(audit(one, {two, three, four}, milliseconds, {0, 1, 1, 2}).strategies.size(), 3U);
  EXPECT_EQ(audit(one, {two, three, four}, milliseconds, {0, 1, 1, 0}).strategies.size(), 1U);
  const Audit all = audit(one, {two, three, four}, milliseconds, {10, 1, 1, 0});
  ASSERT_EQ(all.strategies.size(), 4U);
  EXPECT_EQ(all.strategies[1].name, two);
  EXPECT_EQ(all.strategies[3].name, four);
  EXPECT_EQ(audit(one, {two}, milliseconds, {0, 1, 1, 2}).strategies.size(), 2U);
}

TEST_F(AuditTest, DoesFewerIterationsWhereThereIsNoTimeForAll) {
  const std::map<std::string, int> milliseconds{{one, 5}, {two, 5}, {three, 5}};
  // Seconds for all rounds. The preparation counts as one more iteration.
  const auto time_for = [](int strategies, int iterations) {
    return 1.01 * strategies * (iterations + 1) * (1 + Rounds::warm_ups) * 5e-3;
  };
  EXPECT_EQ(audit(one, {two, three}, milliseconds, {0, 5, 1, 2}).iterations, 1);
  EXPECT_EQ(audit(one, {two, three}, milliseconds, {time_for(3, 3), 5, 1, 2}).iterations, 3);
  EXPECT_EQ(audit(one, {two, three}, milliseconds, {time_for(3, 5), 5, 1, 2}).iterations, 5);
  // The same time is enough for more iterations with fewer strategies.
  EXPECT_EQ(audit(one, {two}, milliseconds, {time_for(3, 3), 5, 1, 2}).iterations, 5);
}

}  // namespace
}  // namespace nekbone_k
