// SPDX-License-Identifier: BSD-3-Clause
// Every all-reduce against known sums, and the tuner that selects one.
#include "reduce/all_reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/host_inbox.hpp"
#include "reduce/rank_sum.hpp"
#include "support/callback_guard.hpp"
#include "tuning/all_reduce_tuner.hpp"

namespace nekbone_k {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Triple {
  double one = 0, two = 0, three = 0;
  KOKKOS_FUNCTION Triple& operator+=(const Triple& other) {
    one += other.one;
    two += other.two;
    three += other.three;
    return *this;
  }
};

class AllReduceTest : public testing::Test {
 protected:
  // The all-reduces of the table that are available here.
  std::vector<AllReduceStrategy> available() const {
    std::vector<AllReduceStrategy> found;
    for (const AllReduceStrategy& strategy : all_reduce_strategies())
      if (why_unavailable(m_comm, strategy).empty()) found.push_back(strategy);
    return found;
  }

  // Calls action(sum) with a sum of Values for every available all-reduce.
  template <class Value, class Action>
  void for_each_way(const Action& action) const {
    for (const AllReduceStrategy& strategy : available()) {
      SCOPED_TRACE(strategy.name);
      const RankSum<Value> sum(m_comm, strategy);
      action(sum);
    }
  }

  template <class Value>
  static Value sum_of(const RankSum<Value>& sum, const std::vector<Value>& values) {
    // Kept until the sum arrives, because freeing it would wait for the device.
    const DeviceVector<Value> on_device = to_device("values", values);
    sum.start(on_device);
    return sum.wait();
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  CallbackGuard m_guard;
  const int m_rank = m_comm.rank(), m_size = m_comm.size();
};

TEST_F(AllReduceTest, ThoseOfTheHostAreAlwaysThere) {
  std::vector<std::string> names;
  for (const AllReduceStrategy& strategy : available()) names.push_back(strategy.name);
  ASSERT_GE(names.size(), 2U);
  EXPECT_EQ(names[0], "host-mpi");
  EXPECT_EQ(names[1], "host-shared");
  EXPECT_EQ(find_all_reduce("host-shared")->name, "host-shared");
  EXPECT_EQ(find_all_reduce("no such way"), nullptr);
}

TEST_F(AllReduceTest, SumsThePartsOfAllRanksEachTime) {
  for_each_way<double>([&](const RankSum<double>& sum) {
    for (int call = 0; call < 50; ++call)
      for (const int n : {1, 100, 3000}) {
        std::vector<double> values(n);
        std::iota(values.begin(), values.end(), 1.0 + m_rank + call);
        const double expected =
            m_size * (0.5 * n * (n + 1) + 1.0 * n * call) + 0.5 * n * m_size * (m_size - 1);
        ASSERT_EQ(sum_of(sum, values), expected) << "call " << call << ", " << n << " values";
      }
    EXPECT_EQ(sum_of(sum, {}), 0);
    // Only one rank has values.
    const std::vector<double> here(m_rank == m_size - 1 ? 3 : 0, 2.0);
    EXPECT_EQ(sum_of(sum, here), 6);
  });
}

TEST_F(AllReduceTest, SumsEachPartOfAStruct) {
  for_each_way<Triple>([&](const RankSum<Triple>& sum) {
    for (int call = 0; call < 5; ++call) {
      const std::vector<Triple> values(1000, {1, -2.0 * m_rank, 1.0 * call});
      const Triple total = sum_of(sum, values);
      EXPECT_EQ(total.one, 1000 * m_size);
      EXPECT_EQ(total.two, -1000 * m_size * (m_size - 1));
      EXPECT_EQ(total.three, 1000 * m_size * call);
    }
  });
}

TEST_F(AllReduceTest, GivesTheSameBitsOnEveryRank) {
  for_each_way<double>([&](const RankSum<double>& sum) {
    for (int call = 1; call <= 20; ++call) {
      const double total = sum_of(sum, {1 / (3.0 + m_rank * call), std::sqrt(1.0 * call)});
      EXPECT_EQ(m_comm.max(total), m_comm.min(total));
    }
  });
}

// Only one rank has the NaN or infinity, but every rank must get it.
TEST_F(AllReduceTest, HandsOnWhatIsNoNumber) {
  const bool here = m_rank == m_size / 2;
  for_each_way<double>([&](const RankSum<double>& sum) {
    EXPECT_TRUE(std::isnan(sum_of(sum, {1, here ? std::nan("") : 2, 2})));
    EXPECT_TRUE(
        std::isnan(sum_of(sum, {here ? -std::numeric_limits<double>::signaling_NaN() : 1.0})));
    EXPECT_EQ(sum_of(sum, {1, here ? infinity : 1}), infinity);
    EXPECT_EQ(sum_of(sum, {1}), m_size);
  });
}

TEST_F(AllReduceTest, SumsInTurnsWithOthers) {
  std::vector<RankSum<double>> sums;
  for (const AllReduceStrategy& strategy : available()) {
    sums.emplace_back(m_comm, strategy);
    sums.emplace_back(m_comm, strategy);
  }
  for (int call = 0; call < 10; ++call) {
    std::vector<DeviceVector<double>> values;
    for (std::size_t s = 0; s < sums.size(); ++s) {
      values.push_back(to_device("value", std::vector<double>{1.0 * call + s}));
      sums[s].start(values.back());
    }
    for (std::size_t s = 0; s < sums.size(); ++s)
      EXPECT_EQ(sums[s].wait(), m_size * (1.0 * call + s));
  }
}

// With nodes of one and of two ranks, the first rank of each node sums over the nodes.
TEST_F(AllReduceTest, SumsOverSeveralNodes) {
  for (const char* const ranks_per_node : {"1", "2"}) {
    setenv("NEKBONE_K_RANKS_PER_NODE", ranks_per_node, 1);
    for_each_way<double>([&](const RankSum<double>& sum) {
      for (int call = 0; call < 20; ++call) {
        EXPECT_EQ(sum_of(sum, {1.0 * m_rank, 1.0 * call}),
                  0.5 * m_size * (m_size - 1) + m_size * call);
        const double total = sum_of(sum, {1 / (3.0 + m_rank)});
        EXPECT_EQ(m_comm.max(total), m_comm.min(total));
      }
    });
  }
  unsetenv("NEKBONE_K_RANKS_PER_NODE");
}

TEST_F(AllReduceTest, LeavesLaterKernelsToTheirWork) {
  for_each_way<double>([&](const RankSum<double>& sum) {
    DeviceVector<double> other("other", 1000);
    const DeviceVector<double> values = to_device("values", std::vector<double>{1, 2, 3});
    sum.start(values);
    Kokkos::deep_copy(ExecutionSpace(), other, 7.0);
    EXPECT_EQ(sum.wait(), 6 * m_size);
    EXPECT_EQ(Kokkos::create_mirror_view_and_copy(HostMemory(), other)(999), 7);
  });
}

using HostFlag = Kokkos::View<int, Kokkos::SharedHostPinnedSpace>;

/// Launches a kernel that ends when `flag` is set or after some seconds, and sets `seen` to `flag`.
void launch_kernel_waiting_for(const HostFlag& flag, const HostFlag& seen) {
  Kokkos::parallel_for(
      "waits for the host", Kokkos::RangePolicy<ExecutionSpace>(0, 1), KOKKOS_LAMBDA(int) {
        const volatile int* const at = flag.data();
        for (int i = 0; i < 3'000'000 && *at == 0; ++i)  // some seconds: a poll takes about 1 µs
          seen() = 0;
        seen() = *at;
      });
}

TEST_F(AllReduceTest, IsThereWhileLaterKernelsRun) {
  if (!HostInbox::is_early) GTEST_SKIP() << "kernels here end before their launch returns";
  for_each_way<double>([&](const RankSum<double>& sum) {
    const DeviceVector<double> values = to_device("values", std::vector<double>{1, 2, 3});
    const HostFlag flag("flag"), seen("seen");
    Kokkos::fence();
    sum.start(values);
    launch_kernel_waiting_for(flag, seen);
    EXPECT_EQ(sum.wait(), 6 * m_size);
    *static_cast<volatile int*>(flag.data()) = 1;
    Kokkos::fence();
    EXPECT_EQ(seen(), 1) << "the kernel had ended when the sum was there";
  });
}

// ---- The tuner ----------------------------------------------------------------------------------

/// Sums by MPI, then applies `Fault` to the sums.
template <class Fault>
class FaultyAllReduce final : public AllReduce {
 public:
  FaultyAllReduce(const Communicator& comm, int n_values)
      : m_comm(comm), m_good(all_reduce_strategies().front().make(comm, n_values, for_ever)) {}
  double* next() override { return m_good->next(); }
  void wait(std::span<double> sums) override {
    m_good->wait(sums);
    Fault::apply(m_comm, ++m_call, sums);
  }

 private:
  const Communicator& m_comm;
  std::unique_ptr<AllReduce> m_good;
  int m_call = 0;
};
template <class Fault>
AllReduceStrategy faulty(const std::string& name) {
  return {
      name, "Host", "", [](const Communicator& comm, int n_values, double) {
        return std::unique_ptr<AllReduce>(std::make_unique<FaultyAllReduce<Fault>>(comm, n_values));
      }};
}

// Wrong on one rank from the tenth sum on.
struct ForgetsARank {
  static void apply(const Communicator& comm, int call, std::span<double> sums) {
    if (call >= 10 && comm.rank() == comm.size() - 1) sums[0] -= 1;
  }
};
struct RoundsOtherwise {
  static void apply(const Communicator& comm, int, std::span<double> sums) {
    if (comm.rank() == comm.size() - 1) sums[1] = std::nextafter(sums[1], 0);
  }
};
// Wrong after more sums than verification makes with one object.
struct TurnsWrong {
  static void apply(const Communicator& comm, int call, std::span<double> sums) {
    if (call > 45 && comm.rank() == comm.size() - 1) sums[0] += 1;
  }
};
template <int at_call>
struct Throws {
  static void apply(const Communicator& comm, int call, std::span<double>) {
    if (call == at_call && comm.rank() == comm.size() / 2) throw std::runtime_error("no such luck");
  }
};
// Throws after more sums than verification makes with one object. The sum is the last one of a
// sample, so that no rank waits.
using ThrowsLate = Throws<60>;
std::unique_ptr<AllReduce> make_unavailable(const Communicator&, int, double) {
  throw UnavailableError("there is no such network");
}

const TunerOptions quick{.budget_seconds = 0.05, .minimum_rounds = 3};

TEST_F(AllReduceTest, EveryWayIsVerified) {
  for (const AllReduceStrategy& strategy : available())
    EXPECT_EQ(verify_all_reduce(m_comm, strategy), "") << strategy.name;
}

TEST_F(AllReduceTest, TunerSelectsOneThatIsThere) {
  const AllReduceTuning tuning = tune_all_reduce(m_comm, all_reduce_strategies(), quick, m_guard);
  ASSERT_EQ(tuning.candidates.size(), all_reduce_strategies().size());
  ASSERT_GE(tuning.selected, 0);
  int selected = 0;
  for (const AllReduceResult& c : tuning.candidates) {
    selected += c.selected;
    EXPECT_EQ(c.verified, c.available) << c.strategy.name << ": " << c.failure;
    EXPECT_EQ(c.timing.has_value(), c.verified && m_size > 1) << c.strategy.name;
    EXPECT_EQ(c.failure.empty(), c.verified) << c.strategy.name;
    if (c.timing) {
      EXPECT_EQ(static_cast<int>(c.timing->samples.size()), tuning.rounds);
    }
  }
  EXPECT_EQ(selected, 1);
  EXPECT_TRUE(tuning.candidates[tuning.selected].selected);
  EXPECT_EQ(m_comm.max(std::int64_t{tuning.selected}), tuning.selected);
  EXPECT_EQ(tuning.rounds >= 3, m_size > 1);
}

TEST_F(AllReduceTest, TunerPredictsWhatPathsTell) {
  MachinePaths paths;
  paths.launch = 1e-3;
  PathCost path;
  path.points = {{8, 1e-3}};
  path.cost = {1e-3, 1e9};
  paths.pack = path;
  paths.messages = {{Carrier::host_messages, ProbePlace::within_node, path},
                    {Carrier::host_messages, ProbePlace::between_nodes, path}};
  const AllReduceTuning tuning =
      tune_all_reduce(m_comm, all_reduce_strategies(), quick, m_guard, &paths);
  for (const AllReduceResult& c : tuning.candidates) {
    if (!c.timing) continue;
    const bool known = c.strategy.cost.carrier == Carrier::host_messages;
    EXPECT_EQ(c.timing->predicted.has_value(), known) << c.strategy.name;
    if (known) {
      EXPECT_GE(*c.timing->predicted, 2e-3) << c.strategy.name;
    }
  }
  for (const AllReduceResult& c :
       tune_all_reduce(m_comm, all_reduce_strategies(), quick, m_guard).candidates)
    EXPECT_FALSE(c.timing && c.timing->predicted) << c.strategy.name;
}

TEST_F(AllReduceTest, TunerExcludesTheWrongTheThrowingAndTheMissing) {
  const AllReduceStrategy good = all_reduce_strategies().front();
  const std::vector<AllReduceStrategy> strategies{faulty<ForgetsARank>("forgets"),
                                                  faulty<Throws<3>>("throws"),
                                                  {"missing", "Host", "", make_unavailable},
                                                  faulty<RoundsOtherwise>("rounds"),
                                                  good};
  const AllReduceTuning tuning = tune_all_reduce(m_comm, strategies, quick, m_guard);
  const auto& candidates = tuning.candidates;
  EXPECT_EQ(candidates[0].failure.substr(0, 6), "WRONG:");
  EXPECT_NE(candidates[1].failure.find("no such luck"), std::string::npos) << candidates[1].failure;
  EXPECT_FALSE(candidates[2].available);
  EXPECT_EQ(candidates[2].failure, "there is no such network");
  if (m_size > 1) {  // one rank cannot round differently from others
    EXPECT_NE(candidates[3].failure.find("differs"), std::string::npos) << candidates[3].failure;
    EXPECT_EQ(tuning.selected, 4);
  }
  for (const int excluded : {0, 1, 2}) {
    EXPECT_FALSE(candidates[excluded].verified);
    EXPECT_FALSE(candidates[excluded].timing);
  }
  // Messages left behind do not disturb later sums.
  EXPECT_EQ(m_comm.sum(1.0), m_size);
}

std::set<std::string> tried_once;  // in the current test

/// Right when verified for the first time. When it is made again for timing, it is unavailable, or
/// throws only on the last rank. The destructors on the other ranks would then wait for that rank.
template <bool is_gone>
std::unique_ptr<AllReduce> make_once(const Communicator& comm, int n_values, double patience) {
  auto made = find_all_reduce("host-shared")->make(comm, n_values, patience);
  if (is_gone && tried_once.contains("sum gone")) throw UnavailableError("it is gone");
  if (!is_gone && tried_once.contains("sum throws") && comm.rank() == comm.size() - 1)
    throw std::runtime_error("no such luck");
  return made;
}

TEST_F(AllReduceTest, TunerExcludesWhatCannotBeMadeAgainToBeTimed) {
  std::string begun;
  tried_once.clear();
  m_guard.on_begin = [&](const std::string& name) { begun = name; };
  m_guard.on_end = [&] { tried_once.insert(begun); };
  const std::vector<AllReduceStrategy> strategies{{"throws", "Host", "", make_once<false>},
                                                  {"gone", "Host", "", make_once<true>},
                                                  all_reduce_strategies().front()};
  const AllReduceTuning tuning = tune_all_reduce(m_comm, strategies, quick, m_guard);
  EXPECT_EQ(tuning.selected, 2);
  const AllReduceResult &throws = tuning.candidates[0], &gone = tuning.candidates[1];
  EXPECT_TRUE(throws.available);
  EXPECT_EQ(throws.failure, "threw on rank " + std::to_string(m_size - 1) + ": no such luck");
  EXPECT_FALSE(gone.available);
  EXPECT_EQ(gone.failure, "it is gone");
  for (const AllReduceResult* excluded : {&throws, &gone})
    EXPECT_FALSE(excluded->verified || excluded->timing);
  EXPECT_EQ(m_comm.sum(1.0), m_size);
}

TEST_F(AllReduceTest, TunerExcludesTheWinnerThatTurnedWrong) {
  if (m_size == 1) GTEST_SKIP() << "alone nothing is timed";
  const AllReduceStrategy turns = faulty<TurnsWrong>("turns");
  const AllReduceTuning without = tune_all_reduce(m_comm, std::vector{turns}, quick, m_guard);
  EXPECT_EQ(without.selected, -1);
  const AllReduceResult& wrong = without.candidates[0];
  EXPECT_FALSE(wrong.verified || wrong.timing || wrong.selected);
  EXPECT_EQ(wrong.failure.find("WRONG:"), 0U) << wrong.failure;
  EXPECT_NE(wrong.failure.find("it had been timed and won"), std::string::npos) << wrong.failure;
  // Either may be faster, but the tuner must not select the wrong one.
  const std::vector<AllReduceStrategy> both{turns, all_reduce_strategies().front()};
  EXPECT_EQ(tune_all_reduce(m_comm, both, quick, m_guard).selected, 1);
}

// The tuner then times all others again.
TEST_F(AllReduceTest, TunerExcludesTheOneThatThrewWhileItWasTimed) {
  if (m_size == 1) GTEST_SKIP() << "alone nothing is timed";
  const AllReduceStrategy good = all_reduce_strategies().front();
  for (const bool first : {true, false}) {
    std::vector<AllReduceStrategy> strategies{faulty<ThrowsLate>("late"), good};
    if (!first) std::swap(strategies[0], strategies[1]);
    const AllReduceTuning tuning = tune_all_reduce(m_comm, strategies, quick, m_guard);
    const int right = first ? 1 : 0;
    EXPECT_EQ(tuning.selected, right);
    const AllReduceResult& late = tuning.candidates[1 - right];
    EXPECT_FALSE(late.verified || late.timing || late.selected);
    EXPECT_TRUE(late.available);
    EXPECT_NE(late.failure.find("no such luck; found while it was timed"), std::string::npos)
        << late.failure;
    const auto& timing = tuning.candidates[right].timing;
    ASSERT_TRUE(timing);
    EXPECT_EQ(static_cast<int>(timing->samples.size()), tuning.rounds);
  }
  EXPECT_EQ(
      tune_all_reduce(m_comm, std::vector{faulty<ThrowsLate>("late")}, quick, m_guard).selected,
      -1);
  EXPECT_EQ(m_comm.sum(1.0), m_size);
}

// The last rank never joins the sum.
TEST_F(AllReduceTest, WaitsInSharedMemoryEnd) {
  const AllReduceStrategy* const strategy = find_all_reduce("host-shared");
  if (m_size == 1 || !why_unavailable(m_comm, *strategy).empty())
    GTEST_SKIP() << "nobody shares memory";
  auto sum = std::make_unique<RankSum<double>>(m_comm, *strategy, 0.2);
  if (m_comm.rank() < m_size - 1) {
    sum->start(DeviceVector<double>("one part", 1));
    EXPECT_THROW(sum->wait(), InternalError);
  }
  m_comm.barrier();
  static_cast<void>(sum.release());  // leaked, because its values may still arrive
}

TEST_F(AllReduceTest, TunerTellsItsGuardWhatItTries) {
  std::vector<std::string> log;
  m_guard.on_enter = [&](const std::string& name) { log.push_back("enter " + name); };
  m_guard.on_leave = [&] { log.push_back("leave"); };
  // "one" ended a run as an all-reduce. "two" has the name of an exchange that did.
  m_guard.excluded = [](const std::string& name) {
    return std::string(name == "sum one" || name == "two" ? "it ended another run" : "");
  };
  AllReduceStrategy one = all_reduce_strategies().front(), two = one, three = one;
  one.name = "one", two.name = "two", three.name = "three";
  const AllReduceTuning tuning =
      tune_all_reduce(m_comm, std::vector{one, two, three}, quick, m_guard);
  EXPECT_EQ(tuning.selected, 2);
  for (const int excluded : {0, 1}) {
    EXPECT_FALSE(tuning.candidates[excluded].available);
    EXPECT_EQ(tuning.candidates[excluded].failure, "it ended another run");
  }
  ASSERT_GE(log.size(), m_size > 1 ? 4U : 2U);  // verified and, with several ranks, timed
  for (std::size_t i = 0; i < log.size(); ++i)
    EXPECT_EQ(log[i], i % 2 == 0 ? "enter sum three" : "leave");
}

TEST_F(AllReduceTest, TunerSelectsNothingWhenAllAreWrong) {
  const AllReduceTuning tuning =
      tune_all_reduce(m_comm, std::vector{faulty<ForgetsARank>("forgets")}, quick, m_guard);
  EXPECT_EQ(tuning.selected, -1);
  EXPECT_FALSE(tuning.candidates[0].selected);
}

}  // namespace
}  // namespace nekbone_k
