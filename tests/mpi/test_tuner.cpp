// SPDX-License-Identifier: BSD-3-Clause
// The tuner with correct, slow and unavailable strategies. See test_wrong_strategies.cpp for wrong
// ones. Tests check that the choice follows from the samples by the documented rule. They assert no
// time but bounds that hold on a busy machine, too.
#include "tuning/predict.hpp"
#include "tuning/tuner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/communicator.hpp"
#include "core/errors.hpp"
#include "core/streams.hpp"
#include "core/system.hpp"
#include "support/available_strategies.hpp"
#include "support/made_up_strategies.hpp"
#include "support/tuner_test.hpp"
#include "tuning/measure_paths.hpp"

namespace nekbone_k {
namespace {

std::vector<Strategy> whole_table() { return available_strategies(Communicator(MPI_COMM_WORLD)); }

// ---- Right strategies --------------------------------------------------------------------------

TEST_F(TunerTest, SelectsAVerifiedStrategyOfTheTable) {
  const TuningResult result = run(whole_table());
  for (const CandidateResult& c : result.candidates) EXPECT_TRUE(c.verified) << c.failure;
  ASSERT_GE(result.selected, 0);
  expect_works(m_gs);
}

// Takes known times to pack and to wait on the last rank.
class TakesKnownTimes final : public RightExchange {
 public:
  static constexpr double pack_seconds = 4e-3, wait_seconds = 1e-3;

  TakesKnownTimes(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : RightExchange(comm, plan, buffers), m_is_last(comm.rank() == comm.size() - 1) {}
  bool pack(const OutgoingField& field) override {
    sleep(pack_seconds);
    return RightExchange::pack(field);
  }
  Arrival wait() override {
    const Arrival arrival = RightExchange::wait();
    sleep(wait_seconds);
    return arrival;
  }

 private:
  // By the clock of the tuner.
  void sleep(double seconds) const {
    const double end = wall_seconds() + seconds;
    while (m_is_last && wall_seconds() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }

  bool m_is_last;
};

// Every rank reports the times of the last rank, which is the slowest. The bounds leave 1 % for the
// resolution of the clock.
TEST_F(TunerTest, ReportsTheTimesOfTheSlowestRank) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  const double begin = wall_seconds();
  m_comm.barrier();
  const TuningResult result = run({named("sleeper", make<TakesKnownTimes>)});
  m_comm.barrier();
  const double elapsed = wall_seconds() - begin;
  ASSERT_EQ(result.selected, 0);

  const double packing = 0.99 * TakesKnownTimes::pack_seconds,
               waiting = 0.99 * TakesKnownTimes::wait_seconds;
  ASSERT_TRUE(result.breakdown);
  EXPECT_GE(result.breakdown->pack, packing);
  EXPECT_GE(result.breakdown->exchange, waiting);
  const StageResult& alone = *result.candidates[0].alone;
  for (const double sample : alone.samples) EXPECT_GE(sample, packing + waiting);
  EXPECT_GE(result.verify_seconds, packing + waiting);
  EXPECT_GE(result.tune_seconds, result.rounds_alone * result.repeats * (packing + waiting));
  EXPECT_LE(result.verify_seconds + result.tune_seconds, 1.01 * elapsed);
}

TEST_F(TunerTest, DoesMoreRoundsThanTheMinimumWithinTheBudgetOrNot) {
  m_options = {0.02, 2};  // the number of rounds depends on the machine
  run(whole_table());
  expect_works(m_gs);
}

TEST_F(TunerTest, DoesTheMinimumOfRoundsWithoutABudget) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  const std::vector<Strategy> alike{good("a"), good("b"), good("c"), good("a+overlap", true),
                                    good("b+overlap", true)};
  for (const int rounds : {1, 2, 9}) {
    m_options = {0, rounds};
    const TuningResult result = run(rounds == 1 ? whole_table() : alike);
    EXPECT_EQ(result.rounds_alone, rounds);
    EXPECT_EQ(result.rounds_with_work, rounds);
  }
}

TEST_F(TunerTest, TakesAPinnedStrategy) {
  m_options.minimum_rounds = 1;
  for (const Strategy& strategy : whole_table()) {
    const TuningResult result = run({strategy});
    EXPECT_EQ(result.selected, 0) << strategy.name;
    if (const auto& stage = result.candidates[0].own_stage()) {
      EXPECT_EQ(stage->relative_to_best, 1) << strategy.name;
      EXPECT_FALSE(stage->tie) << strategy.name;
    }
    EXPECT_EQ(m_gs.strategy().name, strategy.name);
    expect_works(m_gs);
  }
}

TEST_F(TunerTest, ComparesTheSameStrategyUnderSeveralNames) {
  // The samples decide whether they tie; expect_consistent() applies the rule to them.
  run({good("a"), good("b"), good("c")});
  run({good("a"), good("b"), good("a+overlap", true), good("b+overlap", true)});
  run({good("a+overlap", true), good("b+overlap", true)});
}

TEST_F(TunerTest, AsksForTheSamePortionsOfTheWorkOnAllRanks) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  run({good("plain"), good("overlapped", true)});
  for (const std::vector<double>& here : {m_portions, m_portions_before}) {
    EXPECT_FALSE(here.empty());
    for (const double portion : here) {
      EXPECT_GT(portion, 0);
      EXPECT_LE(portion, 1);
    }
    std::vector<double> portions = here;
    portions.resize(static_cast<std::size_t>(m_comm.max(std::int64_t(portions.size()))), -1);
    m_comm.broadcast(portions);
    EXPECT_EQ(portions, here);
  }
}

// The events of exchanges and work in the test below, in order.
std::vector<std::string>& noted_events() {
  static std::vector<std::string> events;
  return events;
}
class NotesEvents final : public RightExchange {
 public:
  using RightExchange::RightExchange;
  void post() override {
    noted_events().push_back("post");
    RightExchange::post();
  }
  Arrival wait() override {
    noted_events().push_back("wait");
    return RightExchange::wait();
  }
  void poison() override {
    noted_events().push_back("poison");  // only verification poisons buffers
    RightExchange::poison();
  }
};

// As in EllipticOperator::apply(), an overlapped exchange waits only for the boundary elements, on
// its own stream. A plain exchange follows all elements, on the default stream.
TEST_F(TunerTest, TimesExchangesAmidTheWorkAsTheOperatorDoes) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  using Events = std::vector<std::string>;
  m_work.meanwhile = [](double portion) {
    noted_events().push_back(fmt::format("meanwhile {}", portion));
  };
  m_work.before = [](double portion, const ExecutionSpace& stream) {
    const bool beside = !is_host_device && stream == side_stream();
    noted_events().push_back(fmt::format("{} {}", beside ? "beside" : "before", portion));
  };
  m_work.all = [](double portion) { noted_events().push_back(fmt::format("all {}", portion)); };
  m_work.sum = WorkSum{"sum", [] { noted_events().push_back("sum started"); },
                       [] { noted_events().push_back("sum"); }};
  for (const bool overlapped : {true, false}) {
    SCOPED_TRACE(overlapped ? "overlapped" : "plain");
    // The other strategy records nothing, so all recorded exchanges are of one kind.
    const std::vector<Strategy> strategies{named("noting", make<NotesEvents>, overlapped),
                                           good("other", !overlapped)};
    noted_events().clear();
    const TuningResult result = run(strategies);
    const std::string portion = fmt::format(" {}", result.work_portion);
    const std::string meanwhile = "meanwhile" + portion, whole = "all" + portion,
                      before = (is_host_device ? "before" : "beside") + portion;
    Events expected{whole, "sum started", "post", "wait", "sum"};
    if (overlapped) expected = {before, meanwhile, "sum started", "post", "wait", "sum"};
    if (overlapped && is_host_device)
      expected = {before, "post", meanwhile, "sum started", "wait", "sum"};
    const auto count = [](const Events& sought) {
      const Events& all = noted_events();
      int found = 0;
      for (auto at = all.begin();; ++at, ++found) {
        at = std::search(at, all.end(), sought.begin(), sought.end());
        if (at == all.end()) return found;
      }
    };
    const int rounds = result.rounds_with_work + Rounds::warm_ups;
    EXPECT_EQ(count(expected), rounds);
    // The work alone runs like that of a plain strategy. One of the two strategies overlaps.
    EXPECT_EQ(count({before}), rounds);
    EXPECT_EQ(count({whole}), 2 * rounds);
    EXPECT_EQ(count({whole, "sum started", "sum"}), overlapped ? 2 * rounds : rounds);
  }
}

// Takes milliseconds from post() to wait(), whatever happens in between.
class TakesLong final : public RightExchange {
 public:
  using RightExchange::RightExchange;
  void post() override {
    m_end = wall_seconds() + 4e-3;
    RightExchange::post();
  }
  Arrival wait() override {
    const Arrival arrival = RightExchange::wait();
    while (wall_seconds() < m_end) continue;
    return arrival;
  }

 private:
  double m_end = 0;
};

// The sleep hides both exchanges, so they nearly always tie. expect_consistent() applies the rule
// to the samples, including the times of each exchange alone.
TEST_F(TunerTest, TakesOfWhatTheWorkHidesWhatIsFasterAlone) {
  m_options = {0, 9};
  m_work.meanwhile = [](double portion) {
    std::this_thread::sleep_for(std::chrono::duration<double>(portion));
  };
  m_work.before = {};
  const Strategy slow = named("slow", make<TakesLong>), fast = good("fast");
  const Strategy slow_overlapped = named("slow+overlap", make<TakesLong>, true),
                 fast_overlapped = good("fast+overlap", true);
  run({slow, fast, slow_overlapped, fast_overlapped});
  run({slow_overlapped, fast_overlapped});  // without timings of the exchange alone
}

TEST_F(TunerTest, DoesNoWorkWhenNothingIsOverlapped) {
  const TuningResult result = run({good("a"), good("b")});
  EXPECT_TRUE(m_portions.empty());
  EXPECT_EQ(result.rounds_with_work, 0);
}

// Sleeps on the last rank only.
template <int milliseconds>
class Sleepy final : public RightExchange {
 public:
  Sleepy(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : RightExchange(comm, plan, buffers), m_sleeps(comm.rank() == comm.size() - 1) {}
  Arrival wait() override {
    const Arrival arrival = RightExchange::wait();
    if (m_sleeps) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return arrival;
  }

 private:
  bool m_sleeps;
};

TEST_F(TunerTest, TellsItsGuardWhatItTries) {
  std::vector<std::string> log;
  m_guard.on_enter = [&](const std::string& strategy) { log.push_back("enter " + strategy); };
  m_guard.on_leave = [&] { log.push_back("leave"); };
  m_guard.excluded = [](const std::string& strategy) {
    return std::string(strategy == "bad" ? "it ended another run" : "");
  };
  const TuningResult result =
      tune(m_gs, m_kind, std::vector{named("bad", make<Sleepy<1>>), good("good")}, m_work,
           m_options, m_guard);
  EXPECT_EQ(result.selected, 1);
  EXPECT_FALSE(result.candidates[0].available);
  EXPECT_FALSE(result.candidates[0].verified);
  EXPECT_EQ(result.candidates[0].failure, "it ended another run");
  // Entered for verification and, with several ranks, for each timing.
  ASSERT_GE(log.size(), m_alone ? 2U : 2U * (1 + m_options.minimum_rounds));
  for (std::size_t i = 0; i < log.size(); ++i)
    EXPECT_EQ(log[i], i % 2 == 0 ? "enter good" : "leave");
}

// If the wait does not return, either the exchange or the all-reduce may be the cause.
TEST_F(TunerTest, WatchesTheSumOfTheWorkWithTheExchangeBeforeIt) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  std::vector<std::string> inside;
  std::set<std::string> waits;
  m_guard.on_enter = [&](const std::string& name) { inside.push_back(name); };
  m_guard.on_leave = [&] { inside.pop_back(); };
  m_work.sum =
      WorkSum{"sum", [] {}, [&] { waits.insert(fmt::format("{}", fmt::join(inside, ", "))); }};
  run({good("plain"), good("overlapped", true)});
  EXPECT_EQ(waits, (std::set<std::string>{"sum", "sum, plain", "sum, overlapped"}));
  EXPECT_TRUE(inside.empty());
}

// Throws on all ranks, or is unavailable, while it is timed: verification calls each exchange at
// most twice.
template <class Error>
class GoesWrong final : public RightExchange {
 public:
  using RightExchange::RightExchange;
  void post() override {
    if (++m_calls > 2) throw Error("no more of this");
    RightExchange::post();
  }

 private:
  int m_calls = 0;
};

TEST_F(TunerTest, ExcludesWhatThrowsWhileItIsTimedAndPassesOnWhatIsNotItsFault) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  std::string inside;
  m_guard.on_enter = [&](const std::string& strategy) { inside = strategy; };
  m_guard.on_leave = [&] { inside.clear(); };
  m_guard.on_fail = [&] { FAIL() << "the job need not end for " << inside; };
  const auto tune_with = [&](const Strategy& bad) {
    return tune(m_gs, m_kind, std::vector{good("good"), bad}, m_work, m_options, m_guard);
  };
  const TuningResult result = tune_with(named("bad", make<GoesWrong<std::runtime_error>>));
  EXPECT_EQ(result.selected, 0);
  EXPECT_NE(result.candidates[1].failure.find(": no more of this; found while it was timed"),
            std::string::npos)
      << result.candidates[1].failure;
  EXPECT_THROW(tune_with(named("bad", make<GoesWrong<UnavailableError>>)), UnavailableError);
  EXPECT_EQ(inside, "");
  expect_works(m_gs);
}

// Throws on the last rank at one call, counted over all its exchanges.
class ThrowsOnce final : public RightExchange {
 public:
  ThrowsOnce(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : RightExchange(comm, plan, buffers), m_is_last(comm.rank() == comm.size() - 1) {}
  void post() override {
    if (++calls == bad_call && m_is_last) throw std::runtime_error("no such luck");
    RightExchange::post();
  }
  static inline int calls = 0, bad_call = 0;

 private:
  bool m_is_last;
};

// Whichever call throws, no rank waits for another that has moved on.
TEST_F(TunerTest, ExcludesWhatThrowsOnOneRankWhereverItDoes) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_options = {.budget_seconds = 0, .minimum_rounds = 1};
  for (const bool overlapped : {false, true}) {
    const Strategy strategy = named("bad", make<ThrowsOnce>, overlapped);
    m_guard.seconds = for_ever;
    ThrowsOnce::calls = ThrowsOnce::bad_call = 0;
    EXPECT_EQ(run({strategy}).selected, 0);
    const int all_calls = ThrowsOnce::calls;
    EXPECT_GT(all_calls, 20);
    m_guard.seconds = 0.02;  // patience of the other ranks
    for (int bad_call = 1; bad_call <= all_calls; ++bad_call) {
      ThrowsOnce::calls = 0;
      ThrowsOnce::bad_call = bad_call;
      const TuningResult result =
          tune(m_gs, m_kind, std::vector{strategy}, m_work, m_options, m_guard);
      EXPECT_EQ(result.selected, -1) << bad_call;
      EXPECT_NE(result.candidates[0].failure.find("threw on rank"), std::string::npos)
          << bad_call << ": " << result.candidates[0].failure;
      // Each started sum was also waited for.
      EXPECT_FALSE(m_sum_started) << bad_call;
      EXPECT_EQ(m_comm.max(std::int64_t{m_sums}), m_sums) << bad_call;
    }
  }
  m_guard.seconds = for_ever;
  EXPECT_EQ(run({good("good")}).selected, 0);
  expect_works(m_gs);
}

TEST_F(TunerTest, KeepsWhatCannotWinWhereAsked) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_options = {.budget_seconds = 0, .minimum_rounds = 9, .early_stop = false};
  const TuningResult result =
      run({named("slow", make<Sleepy<20>>), named("fast", make<Sleepy<1>>)});
  EXPECT_EQ(result.selected, 1);
  EXPECT_EQ(result.repeats, 1);
  for (const CandidateResult& c : result.candidates) {
    EXPECT_FALSE(c.alone->stopped) << c.strategy.name;
    EXPECT_EQ(c.alone->samples.size(), 9U) << c.strategy.name;
  }
}

// The tuner stops when one candidate is left, although minutes of the budget remain. The times
// differ so much that no round of the fast one is as slow, because one such round would keep the
// slow one.
TEST_F(TunerTest, LeavesOutWhatCannotWinAndEndsWhenOneIsLeft) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_options = {600, 5};
  const TuningResult result =
      run({named("slow", make<Sleepy<100>>), named("fast", make<Sleepy<1>>)});
  EXPECT_EQ(result.selected, 1);
  EXPECT_TRUE(result.candidates[0].alone->stopped);
  EXPECT_FALSE(result.candidates[1].alone->stopped);
  EXPECT_LT(result.rounds_alone, 2000);
}

// The times differ so much that other load on the machine cannot hide it. There are only two
// rounds, so that a single sample stored for the wrong candidate would make them equal.
TEST_F(TunerTest, LeavesAsideWhatIsSlowOnOneRank) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_options = {0, 2};
  const Strategy slow = named("slow", make<Sleepy<20>>), fast = named("fast", make<Sleepy<1>>);
  const Strategy slow_overlapped = named("slow+overlap", make<Sleepy<20>>, true);
  const Strategy fast_overlapped = named("fast+overlap", make<Sleepy<1>>, true);
  EXPECT_EQ(run({slow, fast}).selected, 1);
  EXPECT_EQ(run({slow, slow_overlapped, fast_overlapped}).selected, 2);
}

TEST_F(TunerTest, LeavesOutWhatIsNotToBeHad) {
  const Strategy absent = named(
      "absent",
      [](const Communicator&, const HaloPlan&, const MessageBuffers&) -> std::unique_ptr<Exchange> {
        throw UnavailableError("no such library");
      });
  const TuningResult result = run({absent, *find_strategy("host-pairwise")});
  const CandidateResult& c = result.candidates[0];
  EXPECT_FALSE(c.available);
  EXPECT_FALSE(c.verified);
  EXPECT_EQ(c.failure, "no such library");
  EXPECT_FALSE(c.alone || c.with_work || c.selected);
  EXPECT_TRUE(result.candidates[1].available);
  EXPECT_EQ(result.selected, 1);
  EXPECT_EQ(why_unavailable(m_comm, absent), "no such library");
  EXPECT_EQ(why_unavailable(m_comm, *find_strategy("host-pairwise")), "");
  expect_works(m_gs);
  EXPECT_EQ(run({absent}).selected, -1);
}

TEST_F(TunerTest, TakesRanksWithoutNeighboursAlong) {
  // Rank 0 has only private points, and the last rank has none. The others share points.
  Ids ids{1, 1, 2, 3};
  if (m_rank == 0) ids = {100, 100, 101};
  if (m_rank == m_last) ids = {};
  GatherScatter gs(m_comm, ids);
  const TuningResult result = run(gs, whole_table());
  for (const CandidateResult& c : result.candidates) EXPECT_TRUE(c.verified) << c.failure;
  EXPECT_GE(result.selected, 0);
}

TEST_F(TunerTest, CopesWithNothingShared) {
  GatherScatter gs(m_comm, Ids{});
  const TuningResult result = run(gs, whole_table());
  for (const CandidateResult& c : result.candidates) EXPECT_TRUE(c.verified) << c.failure;
  EXPECT_GE(result.selected, 0);
}

TEST_F(TunerTest, HasNothingToSelectFromNothing) {
  const std::string before = m_gs.strategy().name;
  EXPECT_EQ(run({}).selected, -1);
  EXPECT_EQ(m_gs.strategy().name, before);
}

// ---- Predictions -------------------------------------------------------------------------------

TEST_F(TunerTest, PredictsWhatHasAModelAndChoosesBySamplesAlone) {
  const std::vector<Strategy> strategies{*find_strategy("host-pairwise"), good("without_a_model"),
                                         *find_strategy("host-pairwise+overlap"),
                                         good("without_a_model+overlap", true)};
  const MachinePaths paths =
      measure_paths(m_comm, strategies, m_guard, {.seconds = 0, .least_rounds = 3});
  const TuningResult result = tune(m_gs, m_kind, strategies, m_work, m_options, m_guard, &paths);
  expect_consistent(m_gs, result, strategies);
  const auto cost = predict(m_comm, strategies[0].cost, m_gs.plan(), nodes_of_ranks(m_comm), paths);
  ASSERT_TRUE(cost);
  for (const CandidateResult& c : result.candidates) {
    const bool has_model = c.strategy.cost.carrier != Carrier::none;
    if (c.alone) {
      ASSERT_EQ(c.alone->predicted.has_value(), has_model) << c.strategy.name;
      EXPECT_EQ(c.alone->predicted.value_or(cost->alone()), cost->alone());
    }
    if (c.with_work) {
      ASSERT_EQ(c.with_work->predicted.has_value(), has_model) << c.strategy.name;
      const double expected =
          c.strategy.overlapped ? cost->beyond(result.work_meanwhile) : cost->alone();
      EXPECT_EQ(c.with_work->predicted.value_or(expected), expected);
    }
  }
  for (const CandidateResult& c : run(strategies).candidates) {
    EXPECT_FALSE(c.alone && c.alone->predicted) << c.strategy.name;
  }
}

}  // namespace
}  // namespace nekbone_k
