// SPDX-License-Identifier: BSD-3-Clause
// Interleaved timing of plans: number and order of samples, and delivery of every message.
#include "tuning/plan_timing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/available_strategies.hpp"
#include "support/callback_guard.hpp"
#include "support/made_up_strategies.hpp"

namespace nekbone_k {
namespace {

std::shared_ptr<const DeviceHaloPlan> make_plan(const Communicator& comm,
                                                const std::vector<GlobalId>& ids) {
  return std::make_shared<DeviceHaloPlan>(make_halo_plan(comm, ids));
}

// Three plans: a ring of ranks, all ranks with each other, and nothing shared.
std::vector<std::shared_ptr<const DeviceHaloPlan>> three_plans(const Communicator& comm) {
  const int next = (comm.rank() + 1) % comm.size();
  std::vector<GlobalId> ring{comm.rank()};
  if (next != comm.rank()) ring.push_back(next);
  return {make_plan(comm, ring), make_plan(comm, {7, 5, 9}), make_plan(comm, {comm.rank()})};
}

TEST(PlanTiming, HasASampleOfEachPlanInEachRound) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto plans = three_plans(comm);
  NoGuard guard;
  for (const Strategy& strategy : available_strategies(comm)) {
    const PlanTiming timing = time_plans(comm, plans, {}, strategy, 0.01, 7, guard);
    ASSERT_EQ(timing.failure, "") << strategy.name;
    EXPECT_GE(timing.rounds, 7);
    EXPECT_GE(timing.repeats, 1);
    ASSERT_EQ(timing.stages.size(), 3u);
    for (const StageResult& stage : timing.stages) {
      EXPECT_EQ(static_cast<int>(stage.samples.size()), timing.rounds) << strategy.name;
      EXPECT_FALSE(stage.stopped);
      for (const double sample : stage.samples) {
        EXPECT_GE(sample, 0);
        EXPECT_EQ(comm.max(sample), comm.min(sample)) << "ranks differ";
      }
    }
  }
}

TEST(PlanTiming, IsOfTheKindOfFieldThatIsAskedFor) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto plans = three_plans(comm);
  NoGuard guard;
  for (const auto& [kind, bytes] : std::vector<std::pair<FieldKind, std::size_t>>{
           {{}, 8}, {{3, Precision::double_}, 24}, {{5, Precision::single}, 20}}) {
    made_exchanges().clear();
    const PlanTiming timing = time_plans(comm, plans, kind, noted("noted"), 0, 2, guard);
    EXPECT_EQ(timing.rounds, 2);
    ASSERT_EQ(made_exchanges().size(), 3u);
    for (const MadeExchange& made : made_exchanges()) {
      EXPECT_EQ(made.item_bytes, bytes);
      EXPECT_GE(made.calls, 2);
    }
  }
}

TEST(PlanTiming, TellsTheGuardOfAllThatItDoes) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto plans = three_plans(comm);
  int inside = 0, entered = 0;
  CallbackGuard guard;
  guard.on_enter = [&](const std::string& name) {
    EXPECT_EQ(name, all_strategies().front().name);
    EXPECT_EQ(inside++, 0);
    ++entered;
  };
  guard.on_leave = [&] { --inside; };
  const PlanTiming timing = time_plans(comm, plans, {}, all_strategies().front(), 0, 1, guard);
  EXPECT_EQ(inside, 0);
  // For each plan: construction, two exchanges, samples, final check and destruction.
  EXPECT_EQ(entered, 3 * (5 + Rounds::warm_ups + timing.rounds));
}

TEST(PlanTiming, OfWhatCannotBeHadSaysWhy) {
  const Communicator comm(MPI_COMM_WORLD);
  Strategy missing = all_strategies().front();
  missing.make = [](const Communicator&, const HaloPlan&,
                    const MessageBuffers&) -> std::unique_ptr<Exchange> {
    throw UnavailableError("not on this machine");
  };
  int inside = 0;
  CallbackGuard guard;
  guard.on_enter = [&](const std::string&) { ++inside; };
  guard.on_leave = [&] { --inside; };
  const PlanTiming timing = time_plans(comm, three_plans(comm), {}, missing, 0.01, 5, guard);
  EXPECT_EQ(timing.failure, "not on this machine");
  EXPECT_EQ(timing.rounds, 0);
  EXPECT_EQ(inside, 0);
}

// The strategy throws on all ranks or on one, for which the others then wait in vain.
TEST(PlanTiming, OfWhatThrowsSaysWhatAndLeavesTheNextOneInPeace) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "nothing is shared";
  const auto plans = three_plans(comm);
  int inside = 0;
  CallbackGuard guard;
  guard.seconds = 0.2;
  guard.on_enter = [&](const std::string&) { ++inside; };
  guard.on_leave = [&] { --inside; };
  guard.on_fail = [] { FAIL() << "the job need not end"; };
  std::vector<Strategy> strategies = failing_while_timed();
  for (const Thrower& thrower : throwers()) strategies.push_back(named(thrower.name, thrower.make));
  for (const Strategy& strategy : strategies) {
    const PlanTiming timing = time_plans(comm, plans, {}, strategy, 0, 7, guard);
    EXPECT_NE(timing.failure.find("threw on rank"), std::string::npos)
        << strategy.name << ": " << timing.failure;
    EXPECT_NE(timing.failure.find("found while it was timed"), std::string::npos);
    EXPECT_EQ(comm.broadcast(timing.failure), timing.failure);
    EXPECT_EQ(timing.rounds, 0);
    for (const StageResult& stage : timing.stages) EXPECT_TRUE(stage.samples.empty());
    EXPECT_EQ(inside, 0);
    EXPECT_EQ(time_plans(comm, plans, {}, good("good"), 0, 1, guard).failure, "");
  }
}

}  // namespace
}  // namespace nekbone_k
