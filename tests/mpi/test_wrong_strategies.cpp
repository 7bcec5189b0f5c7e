// SPDX-License-Identifier: BSD-3-Clause
// Strategies that are wrong, hang or throw: verification finds them, and the tuner excludes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "gs/strategies/host_staged.hpp"
#include "gs/strategies/pairwise.hpp"
#include "support/made_up_strategies.hpp"
#include "support/tuner_test.hpp"
#include "tuning/tuner.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

class WrongStrategiesTest : public TunerTest {};

// ---- Wrong strategies --------------------------------------------------------------------------

class WrongStrategiesAreRejected : public TunerTest, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongStrategiesAreRejected, AmongRightOnes) {
  const TuningResult result = run({good("first"), GetParam().strategy, good("last"),
                                   find_strategy("device-pairwise+overlap")[0]});
  const CandidateResult& wrong = result.candidates[1];
  for (const int i : {0, 2, 3})
    EXPECT_TRUE(result.candidates[i].verified) << result.candidates[i].failure;
  ASSERT_GE(result.selected, 0);
  expect_works(m_gs);
  if (m_alone) {
    EXPECT_TRUE(wrong.verified) << wrong.failure;
    return;
  }
  EXPECT_FALSE(wrong.verified);
  EXPECT_NE(result.selected, 1);
  EXPECT_EQ(wrong.failure.find("WRONG "), 0U) << wrong.failure;
  expect_names_a_shared_dof(wrong.failure);
  if (GetParam().where == Where::last_rank) {
    const std::string on_rank = " on rank " + std::to_string(m_last) + ",";
    EXPECT_NE(wrong.failure.find(on_rank), std::string::npos) << wrong.failure;
  }
}

TEST_P(WrongStrategiesAreRejected, WhenPinned) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_gs.select(*find_strategy("host-alltoall"));
  const TuningResult result = run({GetParam().strategy});
  EXPECT_EQ(result.selected, -1);
  EXPECT_FALSE(result.candidates[0].verified);
  EXPECT_TRUE(result.work_alone.empty());
  EXPECT_EQ(m_gs.strategy().name, "host-alltoall");  // unchanged
  expect_works(m_gs);
}

TEST_P(WrongStrategiesAreRejected, WhenOverlapped) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  Strategy overlapped = GetParam().strategy;
  overlapped.overlapped = true;
  const TuningResult result = run({good("right"), overlapped});
  EXPECT_EQ(result.selected, 0);
  EXPECT_FALSE(result.candidates[1].verified);
  expect_names_a_shared_dof(result.candidates[1].failure);
}

INSTANTIATE_TEST_SUITE_P(Each, WrongStrategiesAreRejected, testing::ValuesIn(wrong_strategies()),
                         [](const auto& test) { return test.param.strategy.name; });

TEST_F(WrongStrategiesTest, SelectsNothingWhenAllAreWrong) {
  std::vector<Strategy> strategies;
  for (const Wrong& wrong : wrong_strategies()) strategies.push_back(wrong.strategy);
  strategies[3].overlapped = true;
  const TuningResult result = run(strategies);
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  EXPECT_EQ(result.selected, -1);
  for (const CandidateResult& c : result.candidates) EXPECT_FALSE(c.verified) << c.strategy.name;
  expect_works(m_gs);
}

TEST_F(WrongStrategiesTest, SaysWhatIsWrongFirstByGlobalId) {
  if (m_comm.size() < 3) GTEST_SKIP() << "needs a rank that owns some shared DOFs, not others";
  // The second to last rank shares high ids with the rank before it, which owns them, and low ids
  // with the last rank. Other ranks have no points. The strategy delivers nothing to that rank.
  Ids ids;
  if (m_rank == m_last - 2) ids = {50, 60};
  if (m_rank == m_last - 1) ids = {60, 50, 8, 9};
  if (m_rank == m_last) ids = {9, 8};
  GatherScatter gs(m_comm, ids);
  const Strategy deaf =
      named("deaf",
            [](const Communicator& comm, const HaloPlan& plan,
               const MessageBuffers& buffers) -> std::unique_ptr<Exchange> {
              if (comm.rank() == comm.size() - 2)
                return make_faulty(Fault::delivers_nothing, Where::everywhere, comm, plan, buffers);
              return host_staged<make_pairwise>(comm, plan, buffers);
            });
  const std::string failure = run(gs, {deaf}).candidates[0].failure;
  EXPECT_EQ(failure.find("WRONG add of double: DOF 8 is nan on rank "), 0U) << failure;
}

TEST_F(WrongStrategiesTest, ThatTurnWrongWhenTheyAreTimedDoNotWin) {
  const TuningResult result = run({turns_wrong("turns"), slow("slow"), turns_wrong("hides", true)});
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  ASSERT_EQ(result.selected, 1);
  for (const int i : {0, 2}) {
    const CandidateResult& wrong = result.candidates[i];
    EXPECT_FALSE(wrong.verified || wrong.alone || wrong.with_work);
    EXPECT_EQ(wrong.failure.find("WRONG add of double"), 0U) << wrong.failure;
    EXPECT_NE(wrong.failure.find("it had been timed and won"), std::string::npos) << wrong.failure;
    expect_names_a_shared_dof(wrong.failure);
  }
  EXPECT_EQ(m_gs.strategy().name, "slow");
  expect_works(m_gs);
}

TEST_F(WrongStrategiesTest, SelectsNothingWhenAllTurnWrong) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_gs.select(*find_strategy("host-alltoall"));
  const TuningResult result = run({turns_wrong("turns"), turns_wrong("hides", true)});
  EXPECT_EQ(result.selected, -1);
  for (const CandidateResult& c : result.candidates) EXPECT_FALSE(c.verified);
  EXPECT_EQ(m_gs.strategy().name, "host-alltoall");
  expect_works(m_gs);
}

// ---- Strategies that throw or hang -------------------------------------------------------------

class WrongStrategiesThatThrow : public TunerTest, public testing::WithParamInterface<Thrower> {};

TEST_P(WrongStrategiesThatThrow, AreSurvived) {
  const TuningResult result =
      run({good("first"), named("thrower", GetParam().make), good("last"),
           named("overlapped thrower", GetParam().make, true), good("overlapped", true)});
  ASSERT_GE(result.selected, 0);
  const int rank = GetParam().where == Where::everywhere ? 0 : m_last;
  for (const int i : {1, 3}) {
    EXPECT_FALSE(result.candidates[i].verified);
    EXPECT_FALSE(result.candidates[i].selected);
    const std::string& failure = result.candidates[i].failure;
    EXPECT_NE(failure.find("out of rendezvous slots"), std::string::npos) << failure;
    EXPECT_NE(failure.find("rank " + std::to_string(rank)), std::string::npos) << failure;
  }
  for (const int i : {0, 2, 4})
    EXPECT_TRUE(result.candidates[i].verified) << result.candidates[i].failure;
  expect_works(m_gs);

  EXPECT_EQ(run({named("thrower", GetParam().make)}).selected, -1);
  expect_works(m_gs);
}

INSTANTIATE_TEST_SUITE_P(Each, WrongStrategiesThatThrow, testing::ValuesIn(throwers()),
                         [](const auto& test) { return test.param.name; });

std::set<std::string> tried_once;  // in the current test

/// A correct exchange whose destructor is collective, as with a window.
class EndsTogether : public RightExchange {
 public:
  EndsTogether(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : RightExchange(comm, plan, buffers), m_comm(comm) {}
  ~EndsTogether() override {
    if (!m_unwinding.now()) m_comm.barrier();
  }

 private:
  const Communicator& m_comm;
  Unwinding m_unwinding;
};

/// Right when verified for the first time. When it is made again for timing, it is unavailable, or
/// throws only on the last rank. The destructors on the other ranks would then wait for that rank.
template <Where where>
std::unique_ptr<Exchange> make_once(const Communicator& comm, const HaloPlan& plan,
                                    const MessageBuffers& buffers) {
  auto made = std::make_unique<EndsTogether>(comm, plan, buffers);
  if (where == Where::everywhere && tried_once.contains("gone"))
    throw UnavailableError("it is gone");
  if (where == Where::last_rank && tried_once.contains("throws") && comm.rank() == comm.size() - 1)
    throw std::runtime_error("no such luck");
  return made;
}

TEST_F(WrongStrategiesTest, ThatCannotBeMadeAgainToBeTimedAreExcluded) {
  std::string begun;
  tried_once.clear();
  m_guard.on_begin = [&](const std::string& name) { begun = name; };
  m_guard.on_end = [&] { tried_once.insert(begun); };
  const TuningResult result = run({named("throws", make_once<Where::last_rank>),
                                   named("gone", make_once<Where::everywhere>), good("good")});
  EXPECT_EQ(result.selected, 2);
  const CandidateResult &throws = result.candidates[0], &gone = result.candidates[1];
  EXPECT_TRUE(throws.available);
  EXPECT_EQ(throws.failure, "threw on rank " + std::to_string(m_last) + ": no such luck");
  EXPECT_FALSE(gone.available);
  EXPECT_EQ(gone.failure, "it is gone");
  for (const CandidateResult* excluded : {&throws, &gone})
    EXPECT_FALSE(excluded->verified || excluded->alone || excluded->with_work);
  expect_works(m_gs);
}

TEST_F(WrongStrategiesTest, GivesUpWaitsThatDoNotEnd) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_guard.seconds = 0.5;
  const TuningResult result = run({stops_sending("stops"), good("good")});
  EXPECT_EQ(result.selected, 1);
  EXPECT_NE(result.candidates[0].failure.find("did not come within 0.5 s"), std::string::npos)
      << result.candidates[0].failure;
  expect_works(m_gs);
}

TEST_F(WrongStrategiesTest, ThatFailWhileTheyAreTimedAreExcluded) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_guard.seconds = 0.5;
  std::vector<Strategy> strategies = failing_while_timed();
  const std::size_t n_failing = strategies.size();
  strategies.push_back(slow("slow"));
  const TuningResult result = run(strategies);
  EXPECT_EQ(result.selected, static_cast<int>(n_failing));
  for (std::size_t i = 0; i < n_failing; ++i) {
    const CandidateResult& failed = result.candidates[i];
    SCOPED_TRACE(failed.strategy.name + ": " + failed.failure);
    EXPECT_TRUE(failed.available);
    EXPECT_FALSE(failed.verified || failed.alone || failed.with_work);
    const bool late = failed.strategy.name == "stops sending";
    EXPECT_NE(failed.failure.find(late ? "did not come within 0.5 s" : "threw on rank "),
              std::string::npos);
    EXPECT_TRUE(failed.failure.ends_with("; found while it was timed"));
  }
  EXPECT_TRUE(result.breakdown);
  expect_works(m_gs);
}

// ---- Verification alone ------------------------------------------------------------------------

TEST_F(WrongStrategiesTest, VerificationLeavesNoMessageForTheNext) {
  Verifier verifier(m_comm, m_gs.message_plan());
  for (const Wrong& wrong : wrong_strategies()) {
    const bool verified = verifier.verify(wrong.strategy).empty();
    EXPECT_EQ(verified, m_alone) << wrong.strategy.name;
    for (const char* name : {"device-pairwise", "device-alltoall"})
      EXPECT_EQ(verifier.verify(*find_strategy(name)), "") << name;
  }
}

// The content of the receive buffer when an exchange started.
struct Observed {
  std::size_t item_bytes;
  double value;   // of all items; 0 if they differ
  bool poisoned;  // poison() was called since the last exchange
};
std::vector<Observed> observed;

class Observing final : public RightExchange {
 public:
  Observing(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : RightExchange(comm, plan, buffers),
        m_item_bytes(buffers.item_bytes),
        m_bytes(static_cast<unsigned char*>(buffers.receive), buffers.bytes(plan)) {}

  void post() override {
    std::vector<unsigned char> host(m_bytes.extent(0));
    Kokkos::deep_copy(
        Kokkos::View<unsigned char*, HostMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            host.data(), host.size()),
        m_bytes);
    const double value =
        m_item_bytes == sizeof(float) ? uniform<float>(host) : uniform<double>(host);
    observed.push_back({m_item_bytes, value, m_poisoned});
    m_poisoned = false;
    RightExchange::post();
  }
  void poison() override {
    m_poisoned = true;
    RightExchange::poison();
  }

 private:
  template <class T>
  static double uniform(const std::vector<unsigned char>& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    const auto same = [&](T v) { return std::memcmp(&v, values.data(), sizeof(T)) == 0; };
    return std::all_of(values.begin(), values.end(), same) ? values.front() : 0;
  }

  std::size_t m_item_bytes;
  Kokkos::View<unsigned char*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> m_bytes;
  bool m_poisoned = false;
};

TEST_F(WrongStrategiesTest, VerificationPoisonsTheBuffersBeforeEveryCall) {
  if (m_alone) GTEST_SKIP() << "no buffers";
  observed.clear();
  EXPECT_EQ(Verifier(m_comm, m_gs.message_plan()).verify(named("observing", make<Observing>)), "");
  std::map<std::size_t, std::array<int, 3>> calls;  // by item size: with NaN, +∞, -∞
  for (const Observed& o : observed) {
    EXPECT_TRUE(o.poisoned);
    EXPECT_TRUE(std::isnan(o.value) || std::isinf(o.value)) << o.value;
    ++calls[o.item_bytes][std::isnan(o.value) ? 0 : o.value > 0 ? 1 : 2];
  }
  // Two calls each: add and multiply with NaN, max with +∞, min with -∞, and add of some DOFs.
  EXPECT_EQ(calls[sizeof(double)], (std::array<int, 3>{6, 2, 2}));
  EXPECT_EQ(calls[3 * sizeof(double)], (std::array<int, 3>{2, 0, 0}));
  EXPECT_EQ(calls[sizeof(float)], (std::array<int, 3>{2, 0, 0}));
}

}  // namespace
}  // namespace nekbone_k
