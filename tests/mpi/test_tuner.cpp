// The tuner with real strategies, with wrong ones, and with ones that throw. No test asserts a
// time: what is checked is that the choice follows from the samples by the documented rule.
#include "gs/tuner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/errors.hpp"
#include "core/machine.hpp"
#include "gs/measure_paths.hpp"
#include "gs/strategies/all_to_all.hpp"
#include "gs/strategies/host_staged.hpp"
#include "gs/strategies/pairwise.hpp"
#include "gs/verify.hpp"
#include "support/available_strategies.hpp"

namespace nekbone_k {
namespace {

using Ids = std::vector<GlobalId>;

constexpr GlobalId of_all = 7;

// A ring: six DOFs with the next rank, and one that all share, in front of private ones.
Ids ring_ids(int rank, int size) {
  Ids ids{of_all, of_all};
  for (int i = 0; i < 6; ++i) {
    ids.push_back(1000 * ((rank + 1) % size) + 100 + i);
    ids.push_back(1000 * rank + 100 + i);
    ids.push_back(1000 * rank + 500 + i);
  }
  return ids;
}

// ---- Exchanges that do wrong -------------------------------------------------------------------

enum class Fault {
  delivers_nothing,
  skips_a_neighbour,          // whose part of the receive buffer stays as it was
  corrupts_a_byte,            // the least significant of the first item
  delivers_the_last_call,     // right at the first call, one call behind after it
  reverses_a_message,         // right values in wrong slots
  swaps_components,           // right with one component
  fails_for_floats,           // right for double
  fails_for_three_components  // right for fewer
};
enum class Where { everywhere, last_rank };

// What a correct exchange delivered, spoiled.
class Faulty final : public Exchange {
 public:
  Faulty(Fault fault, Where where, const Communicator& comm, const HaloPlan& plan,
         const MessageBuffers& buffers)
      : m_fault(fault),
        m_active(where == Where::everywhere || comm.rank() == comm.size() - 1),
        m_plan(plan),
        m_item_bytes(buffers.item_bytes),
        m_receive(static_cast<unsigned char*>(buffers.receive), buffers.bytes(plan)),
        m_inner(host_staged<make_pairwise>(comm, plan, buffers)) {}

  void start() override {
    m_before = received();
    m_inner->start();
  }

  void finish() override {
    m_inner->finish();
    if (!m_active || m_plan.neighbours.empty()) return;
    std::vector<unsigned char> bytes = received();
    const std::vector<unsigned char> delivered = bytes;
    spoil(bytes);
    m_last = delivered;
    Kokkos::deep_copy(m_receive, HostBytes(bytes.data(), bytes.size()));
  }

  void poison() override { m_inner->poison(); }

 private:
  using DeviceBytes =
      Kokkos::View<unsigned char*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using HostBytes =
      Kokkos::View<unsigned char*, HostMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  std::vector<unsigned char> received() const {
    std::vector<unsigned char> bytes(m_receive.extent(0));
    Kokkos::deep_copy(HostBytes(bytes.data(), bytes.size()), m_receive);
    return bytes;
  }

  void spoil(std::vector<unsigned char>& bytes) const {
    const Neighbour& n = m_plan.neighbours.back();
    const auto item = [&](LocalIndex slot) { return bytes.begin() + slot * m_item_bytes; };
    switch (m_fault) {
      case Fault::delivers_nothing:
        bytes = m_before;
        break;
      case Fault::skips_a_neighbour:
        std::copy(m_before.begin() + n.offset * m_item_bytes,
                  m_before.begin() + (n.offset + n.count) * m_item_bytes, item(n.offset));
        break;
      case Fault::corrupts_a_byte:
        bytes[0] ^= 0x01;
        break;
      case Fault::delivers_the_last_call:
        if (!m_last.empty()) bytes = m_last;
        break;
      case Fault::reverses_a_message:
        for (LocalIndex i = 0; i < n.count / 2; ++i)
          std::swap_ranges(item(n.offset + i), item(n.offset + i + 1),
                           item(n.offset + n.count - 1 - i));
        break;
      case Fault::swaps_components:
        if (m_item_bytes == 3 * sizeof(double))
          for (LocalIndex slot = 0; slot < m_plan.n_slots(); ++slot)
            std::swap_ranges(item(slot), item(slot) + sizeof(double),
                             item(slot) + 2 * sizeof(double));
        break;
      case Fault::fails_for_floats:
        if (m_item_bytes == sizeof(float)) bytes = m_before;
        break;
      case Fault::fails_for_three_components:
        if (m_item_bytes == 3 * sizeof(double)) bytes = m_before;
        break;
    }
  }

  Fault m_fault;
  bool m_active;
  const HaloPlan& m_plan;
  std::size_t m_item_bytes;
  DeviceBytes m_receive;
  std::unique_ptr<Exchange> m_inner;
  std::vector<unsigned char> m_before, m_last;
};

template <Fault fault, Where where>
std::unique_ptr<Exchange> make_faulty(const Communicator& comm, const HaloPlan& plan,
                                      const MessageBuffers& buffers) {
  return std::make_unique<Faulty>(fault, where, comm, plan, buffers);
}

// What the last rank does not do.
enum class Neglect {
  // One message is left behind, unreceived, for whoever comes next. To be used on host buffers: so
  // short a message is gone once it is sent, while a GPU-aware MPI may wait for the receiver's
  // buffer.
  receiving_one,
  // Nothing is sent from the third call of all objects on, so that its neighbours wait for ever if
  // they are let.
  sending_for_long
};

// Pairwise messages, some of them neglected.
template <Neglect neglect>
class Neglectful final : public Exchange {
 public:
  Neglectful(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm), m_plan(plan), m_buffers(buffers) {}

  void start() override {
    Kokkos::fence("packed");
    const bool neglects = m_comm.rank() == m_comm.size() - 1;
    const bool sends = neglect != Neglect::sending_for_long || !neglects || ++m_calls < 3;
    for (const Neighbour& n : m_plan.neighbours) {
      const int bytes = static_cast<int>(n.count * m_buffers.item_bytes);
      const auto slot = [&](void* buffer) {
        return static_cast<char*>(buffer) + n.offset * m_buffers.item_bytes;
      };
      // Tag 17 is that of the pairwise strategies, which must not see it all the same.
      if (sends)
        MPI_Isend(slot(m_buffers.send), bytes, MPI_BYTE, n.rank, 17, m_comm.get(),
                  &m_requests.emplace_back());
      if (neglect != Neglect::receiving_one || !neglects || &n != &m_plan.neighbours.front())
        MPI_Irecv(slot(m_buffers.receive), bytes, MPI_BYTE, n.rank, 17, m_comm.get(),
                  &m_requests.emplace_back());
    }
  }

  void finish() override {
    wait_all(m_requests, m_buffers.patience);
    m_requests.clear();
  }

 private:
  const Communicator& m_comm;
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  std::vector<MPI_Request> m_requests;
  static inline int m_calls = 0;
};

template <Neglect neglect>
std::unique_ptr<Exchange> make_neglectful(const Communicator& comm, const HaloPlan& plan,
                                          const MessageBuffers& buffers) {
  return std::make_unique<Neglectful<neglect>>(comm, plan, buffers);
}

// ---- Exchanges that throw ----------------------------------------------------------------------

enum class Phase { make, start, finish };

// Throws before anything of the phase is done, so that messages of other ranks are left waiting.
class Throwing final : public Exchange {
 public:
  Throwing(Phase phase, Where where, const Communicator& comm, const HaloPlan& plan,
           const MessageBuffers& buffers, ExchangeFactory inner)
      : m_phase(phase), m_active(where == Where::everywhere || comm.rank() == comm.size() - 1) {
    throw_in(Phase::make);
    m_inner = inner(comm, plan, buffers);
  }
  void start() override {
    throw_in(Phase::start);
    m_inner->start();
  }
  void finish() override {
    throw_in(Phase::finish);
    m_inner->finish();
  }

 private:
  void throw_in(Phase phase) const {
    if (m_active && phase == m_phase) throw std::runtime_error("out of rendezvous slots");
  }

  Phase m_phase;
  bool m_active;
  std::unique_ptr<Exchange> m_inner;
};

// ---- Strategies --------------------------------------------------------------------------------

Strategy named(const std::string& name, ExchangeFactory make, bool overlapped = false) {
  return {name, "Host", "for a test", make, overlapped};
}

Strategy good(const std::string& name, bool overlapped = false) {
  return named(name, host_staged<make_pairwise>, overlapped);
}

template <Phase phase, Where where, ExchangeFactory inner>
std::unique_ptr<Exchange> make_throwing(const Communicator& comm, const HaloPlan& plan,
                                        const MessageBuffers& buffers) {
  return std::make_unique<Throwing>(phase, where, comm, plan, buffers, inner);
}

struct Wrong {
  Strategy strategy;
  Where where;
};

template <Fault fault>
void add_wrong(std::vector<Wrong>& all, const std::string& name) {
  all.push_back({named(name, make_faulty<fault, Where::everywhere>), Where::everywhere});
  all.push_back(
      {named(name + "_on_one_rank", make_faulty<fault, Where::last_rank>), Where::last_rank});
}

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.strategy.name; }

std::vector<Wrong> wrong_strategies() {
  std::vector<Wrong> all;
  add_wrong<Fault::delivers_nothing>(all, "delivers_nothing");
  add_wrong<Fault::skips_a_neighbour>(all, "skips_a_neighbour");
  add_wrong<Fault::corrupts_a_byte>(all, "corrupts_a_byte");
  add_wrong<Fault::delivers_the_last_call>(all, "delivers_the_last_call");
  add_wrong<Fault::reverses_a_message>(all, "reverses_a_message");
  add_wrong<Fault::swaps_components>(all, "swaps_components");
  add_wrong<Fault::fails_for_floats>(all, "fails_for_floats");
  add_wrong<Fault::fails_for_three_components>(all, "fails_for_three_components");
  all.push_back({named("leaves_a_message", host_staged<make_neglectful<Neglect::receiving_one>>),
                 Where::last_rank});
  return all;
}

// ---- The test ----------------------------------------------------------------------------------

// The result as one text, down to the last bit of every sample.
std::string fingerprint(const TuningResult& result) {
  std::ostringstream text;
  text << std::hexfloat << result.selected << ' ' << result.rounds_alone << ' '
       << result.rounds_with_work << ' ' << result.repeats << ' ' << result.work_portion << ' '
       << result.verify_seconds << ' ' << result.tune_seconds << ' ' << result.on_rank.median
       << '\n';
  if (const auto& parts = result.breakdown)
    text << parts->pack << ' ' << parts->exchange << ' ' << parts->unpack << '\n';
  const auto list = [&](const std::vector<double>& samples) {
    for (const double sample : samples) text << sample << ' ';
    text << '\n';
  };
  list(result.work_alone);
  for (const CandidateResult& c : result.candidates) {
    text << c.strategy.name << ' ' << c.verified << ' ' << c.failure << ' ' << c.selected << '\n';
    for (const auto& stage : {c.alone, c.with_work}) {
      if (!stage) continue;
      text << stage->cost.median << ' ' << stage->cost.low << ' ' << stage->cost.high << ' '
           << stage->relative_to_best << ' ' << stage->tie << ' ' << stage->stopped << '\n';
      list(stage->samples);
    }
  }
  return text.str();
}

using Stage = std::optional<StageResult> CandidateResult::*;

// Whether one of `members` was faster than `samples`, by the rule of stage.hpp for leaving out.
bool could_not_win(const TuningResult& result, const std::vector<int>& members, Stage stage,
                   const std::vector<double>& samples) {
  return samples.size() >= 5 && std::any_of(members.begin(), members.end(), [&](int m) {
           std::vector<double> other = (result.candidates[m].*stage)->samples;
           if (other.size() < samples.size()) return false;
           other.resize(samples.size());
           for (std::size_t r = 0; r < samples.size(); ++r)
             if (samples[r] <= 1.1 * other[r]) return false;
           return median(samples) > 1.25 * median(other);
         });
}

// Expects that the results of `members` in a stage follow from their samples, less `work` in the
// same round, by the rule of tuner.hpp. Returns the winner.
int expect_follows_from_samples(const TuningResult& result, const std::vector<int>& members,
                                Stage stage, int rounds, const std::vector<double>& work) {
  if (members.empty()) return -1;
  // The samples, the work's changes from round to round taken out.
  const double usual_work = work.empty() ? 0 : median(work);
  const auto of = [&](int m) {
    std::vector<double> times = (result.candidates[m].*stage)->samples;
    for (std::size_t r = 0; r < times.size() && !work.empty(); ++r)
      times[r] = times[r] - work[r] + usual_work;
    return times;
  };
  const auto is_stopped = [&](int m) { return (result.candidates[m].*stage)->stopped; };
  int best = *std::find_if_not(members.begin(), members.end(), is_stopped);
  for (const int m : members)
    if (!is_stopped(m) && median(of(m)) < median(of(best))) best = m;
  // Of the best in the rounds that m took part in.
  const auto best_beside = [&](int m) {
    std::vector<double> times = of(best);
    times.resize(of(m).size());
    return times;
  };
  std::vector<int> tied;
  for (const int m : members)
    if (m == best || (!is_stopped(m) && is_tie(of(m), of(best)))) tied.push_back(m);
  for (const int m : members) {
    const StageResult& found = *(result.candidates[m].*stage);
    const std::string& name = result.candidates[m].strategy.name;
    if (found.stopped) {
      EXPECT_TRUE(could_not_win(result, members, stage, found.samples)) << name;
    } else {
      EXPECT_EQ(found.samples.size(), static_cast<std::size_t>(rounds)) << name;
    }
    std::vector<double> costs = found.samples;
    for (std::size_t r = 0; r < costs.size() && !work.empty(); ++r) costs[r] -= work[r];
    EXPECT_EQ(found.cost.median, median(costs)) << name;
    EXPECT_EQ(found.cost.low, summarize(costs).low) << name;
    EXPECT_EQ(found.cost.high, summarize(costs).high) << name;
    EXPECT_TRUE(found.stopped || found.relative_to_best >= 1) << name;
    EXPECT_EQ(found.relative_to_best, median(of(m)) / median(best_beside(m))) << name;
    const bool is_tied = std::count(tied.begin(), tied.end(), m) > 0;
    EXPECT_EQ(found.tie, is_tied && tied.size() > 1) << name;
  }
  return tied.front();
}

class TunerTest : public testing::Test {
 protected:
  TunerTest() { m_options = {0, 3}; }

  TuningResult run(GatherScatter& gs, const std::vector<Strategy>& strategies) {
    const TuningResult result = tune(gs, strategies, m_work, m_options, m_guard);
    const std::string print = fingerprint(result);
    for (const std::string& other : m_comm.gather(print)) EXPECT_EQ(print, other);
    expect_consistent(gs, result, strategies);
    if (result.selected >= 0) {
      EXPECT_EQ(gs.strategy().name, result.candidates[result.selected].strategy.name);
    }
    return result;
  }
  TuningResult run(const std::vector<Strategy>& strategies) { return run(m_gs, strategies); }

  void expect_consistent(const GatherScatter& gs, const TuningResult& result,
                         const std::vector<Strategy>& strategies) const;

  // Whether the first DOF that `failure` names is one that ranks share.
  void expect_names_a_shared_dof(const std::string& failure) const {
    const std::size_t at = failure.find("DOF ");
    ASSERT_NE(at, std::string::npos) << failure;
    const GlobalId id = std::stoll(failure.substr(at + 4));
    int sharers = 0;
    for (int r = 0; r < m_comm.size(); ++r) {
      const Ids ids = ring_ids(r, m_comm.size());
      sharers += std::count(ids.begin(), ids.end(), id) > 0 ? 1 : 0;
    }
    EXPECT_GT(sharers, 1) << failure;
  }

  // QQᵀ·1 still is the multiplicity: nothing that the candidates left behind gets in the way.
  void expect_works(GatherScatter& gs) const {
    const DeviceField<double> points("ones", gs.assembly().n_points(), 1);
    Kokkos::deep_copy(points, 1.0);
    gs.gs_op(points, Reduction::add);
    const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), points);
    EXPECT_EQ(host(0, 0), 2 * m_comm.size());
    for (int p = 2; p < static_cast<int>(points.extent(0)); ++p)
      EXPECT_EQ(host(p, 0), (p - 2) % 3 == 2 ? 1 : 2) << "point " << p;
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  const int m_rank = m_comm.rank(), m_last = m_comm.size() - 1;
  const bool m_alone = m_comm.size() == 1;  // then nothing is shared, and nothing can be wrong
  GatherScatter m_gs{m_comm, ring_ids(m_comm.rank(), m_comm.size())};
  TunerOptions m_options;
  TuningGuard m_guard;
  std::vector<double> m_portions;  // of work that was asked for
  OverlapWork m_work{"test work", [this](double portion) { m_portions.push_back(portion); }};
};

void TunerTest::expect_consistent(const GatherScatter& gs, const TuningResult& result,
                                  const std::vector<Strategy>& strategies) const {
  const bool shares = m_comm.max(std::int64_t{gs.plan().n_shared()}) > 0;
  ASSERT_EQ(result.candidates.size(), strategies.size());
  std::vector<int> plain, with_work;
  for (int i = 0; i < static_cast<int>(strategies.size()); ++i) {
    const CandidateResult& c = result.candidates[i];
    EXPECT_EQ(c.strategy.name, strategies[i].name);
    EXPECT_EQ(c.verified, c.failure.empty()) << c.failure;
    EXPECT_EQ(c.selected, i == result.selected) << c.strategy.name;
    if (c.verified) {
      (c.strategy.overlapped ? with_work : plain).push_back(i);
      EXPECT_EQ(c.alone.has_value(), shares && !c.strategy.overlapped) << c.strategy.name;
    } else {
      EXPECT_FALSE(c.alone || c.with_work) << c.strategy.name;
    }
  }

  EXPECT_EQ(result.breakdown.has_value(), shares && result.selected >= 0);
  if (!shares) {  // nothing tells them apart: the first is taken, none timed
    const auto right = [](const CandidateResult& c) { return c.verified; };
    const auto first = std::find_if(result.candidates.begin(), result.candidates.end(), right);
    EXPECT_EQ(result.selected, first == result.candidates.end()
                                   ? -1
                                   : static_cast<int>(first - result.candidates.begin()));
    EXPECT_EQ(result.rounds_alone + result.rounds_with_work, 0);
    return;
  }

  const int alone_winner =
      expect_follows_from_samples(result, plain, &CandidateResult::alone, result.rounds_alone, {});
  EXPECT_GE(result.rounds_alone, plain.empty() ? 0 : m_options.minimum_rounds);
  EXPECT_GE(result.repeats, 1);
  const bool second_stage = !with_work.empty();
  for (const int m : plain)
    EXPECT_EQ(result.candidates[m].with_work.has_value(), second_stage && m == alone_winner);
  EXPECT_EQ(result.work_alone.size(), static_cast<std::size_t>(result.rounds_with_work));
  if (!second_stage) {
    EXPECT_EQ(result.selected, alone_winner);
    EXPECT_EQ(result.rounds_with_work, 0);
    return;
  }

  EXPECT_GE(result.rounds_with_work, m_options.minimum_rounds);
  std::vector<int> members = with_work;
  if (alone_winner >= 0) members.insert(members.begin(), alone_winner);
  EXPECT_EQ(result.selected,
            expect_follows_from_samples(result, members, &CandidateResult::with_work,
                                        result.rounds_with_work, result.work_alone));
  EXPECT_GT(result.work_portion, 0);
  EXPECT_LE(result.work_portion, 1);
  EXPECT_EQ(result.work_name, "test work");
}

std::vector<Strategy> whole_table() { return available_strategies(Communicator(MPI_COMM_WORLD)); }

// ---- Right strategies --------------------------------------------------------------------------

TEST_F(TunerTest, SelectsAVerifiedStrategyOfTheTable) {
  const TuningResult result = run(whole_table());
  for (const CandidateResult& c : result.candidates) EXPECT_TRUE(c.verified) << c.failure;
  ASSERT_GE(result.selected, 0);
  if (result.breakdown) {
    EXPECT_GE(result.breakdown->pack, 0);
    EXPECT_GE(result.breakdown->exchange, 0);
    EXPECT_GE(result.breakdown->unpack, 0);
  }
  EXPECT_GE(result.verify_seconds, 0);
  EXPECT_GE(result.tune_seconds, 0);
  expect_works(m_gs);
}

TEST_F(TunerTest, DoesMoreRoundsThanTheMinimumWithinTheBudgetOrNot) {
  m_options = {0.02, 2};  // how many is the machine's affair
  run(whole_table());
  expect_works(m_gs);
}

TEST_F(TunerTest, DoesTheMinimumOfRoundsWithoutABudget) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  for (const int rounds : {1, 2, 9}) {
    m_options = {0, rounds};
    const TuningResult result = run(whole_table());
    EXPECT_EQ(result.rounds_alone, rounds);
    EXPECT_EQ(result.rounds_with_work, rounds);
  }
}

TEST_F(TunerTest, GivesUpWaitsThatDoNotEnd) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_guard.patience = 0.5;
  const TuningResult result =
      run({named("stops", host_staged<make_neglectful<Neglect::sending_for_long>>), good("good")});
  EXPECT_EQ(result.selected, 1);
  EXPECT_NE(result.candidates[0].failure.find("did not come within 0.5 s"), std::string::npos)
      << result.candidates[0].failure;
  expect_works(m_gs);
}

TEST_F(TunerTest, TakesAPinnedStrategy) {
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
  // Whether they tie is for the samples to say; expect_consistent applies the rule to them.
  run({good("a"), good("b"), good("c")});
  run({good("a"), good("b"), good("a+overlap", true), good("b+overlap", true)});
  run({good("a+overlap", true), good("b+overlap", true)});
}

TEST_F(TunerTest, AsksForTheSamePortionsOfTheWorkOnAllRanks) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  run({good("plain"), good("overlapped", true)});
  EXPECT_FALSE(m_portions.empty());
  for (const double portion : m_portions) {
    EXPECT_GT(portion, 0);
    EXPECT_LE(portion, 1);
  }
  std::vector<double> portions = m_portions;
  portions.resize(static_cast<std::size_t>(m_comm.max(std::int64_t(portions.size()))), -1);
  m_comm.broadcast(portions);
  EXPECT_EQ(portions, m_portions);
}

TEST_F(TunerTest, DoesNoWorkWhenNothingIsOverlapped) {
  const TuningResult result = run({good("a"), good("b")});
  EXPECT_TRUE(m_portions.empty());
  EXPECT_EQ(result.rounds_with_work, 0);
}

// Takes its time, on the last rank only.
template <int milliseconds>
class Sleepy final : public Exchange {
 public:
  Sleepy(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_sleeps(comm.rank() == comm.size() - 1),
        m_inner(host_staged<make_pairwise>(comm, plan, buffers)) {}
  void start() override { m_inner->start(); }
  void finish() override {
    m_inner->finish();
    if (m_sleeps) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
  void poison() override { m_inner->poison(); }

 private:
  bool m_sleeps;
  std::unique_ptr<Exchange> m_inner;
};

template <int milliseconds>
std::unique_ptr<Exchange> make_sleepy(const Communicator& comm, const HaloPlan& plan,
                                      const MessageBuffers& buffers) {
  return std::make_unique<Sleepy<milliseconds>>(comm, plan, buffers);
}

TEST_F(TunerTest, TellsItsGuardWhatItTries) {
  std::vector<std::string> log;
  m_guard.enter = [&](const std::string& strategy) { log.push_back("enter " + strategy); };
  m_guard.leave = [&] { log.push_back("leave"); };
  m_guard.why_excluded = [](const std::string& strategy) {
    return std::string(strategy == "bad" ? "it ended another run" : "");
  };
  const TuningResult result = tune(m_gs, std::vector{named("bad", make_sleepy<1>), good("good")},
                                   m_work, m_options, m_guard);
  EXPECT_EQ(result.selected, 1);
  EXPECT_FALSE(result.candidates[0].available);
  EXPECT_FALSE(result.candidates[0].verified);
  EXPECT_EQ(result.candidates[0].failure, "it ended another run");
  ASSERT_GE(log.size(), 2U);
  for (std::size_t i = 0; i < log.size(); ++i)
    EXPECT_EQ(log[i], i % 2 == 0 ? "enter good" : "leave");
}

TEST_F(TunerTest, KeepsWhatCannotWinWhereAsked) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_options = {.budget_seconds = 0, .minimum_rounds = 9, .early_stop = false};
  const TuningResult result = run({named("slow", make_sleepy<20>), named("fast", make_sleepy<1>)});
  EXPECT_EQ(result.selected, 1);
  EXPECT_EQ(result.repeats, 1);
  for (const CandidateResult& c : result.candidates) {
    EXPECT_FALSE(c.alone->stopped) << c.strategy.name;
    EXPECT_EQ(c.alone->samples.size(), 9U) << c.strategy.name;
  }
}

// The rest of the budget, minutes, is not used up when one is left.
TEST_F(TunerTest, LeavesOutWhatCannotWinAndEndsWhenOneIsLeft) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_options = {600, 5};
  const TuningResult result = run({named("slow", make_sleepy<20>), named("fast", make_sleepy<1>)});
  EXPECT_EQ(result.selected, 1);
  EXPECT_TRUE(result.candidates[0].alone->stopped);
  EXPECT_FALSE(result.candidates[1].alone->stopped);
  EXPECT_LT(result.rounds_alone, 2000);
}

// So far apart that other load on the machine does not make up for it. Only two rounds, so that a
// single sample stored under another's name would even the candidates out.
TEST_F(TunerTest, LeavesAsideWhatIsSlowOnOneRank) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_options = {0, 2};
  const Strategy slow = named("slow", make_sleepy<20>), fast = named("fast", make_sleepy<1>);
  const Strategy slow_overlapped = named("slow+overlap", make_sleepy<20>, true);
  const Strategy fast_overlapped = named("fast+overlap", make_sleepy<1>, true);
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
  // Rank 0 has private points only, the last rank none at all; whoever is between shares.
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

// ---- Wrong strategies --------------------------------------------------------------------------

class TunerRejects : public TunerTest, public testing::WithParamInterface<Wrong> {};

TEST_P(TunerRejects, AWrongStrategy) {
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

TEST_P(TunerRejects, AWrongStrategyThatWasPinned) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  m_gs.select(*find_strategy("host-alltoall"));
  const TuningResult result = run({GetParam().strategy});
  EXPECT_EQ(result.selected, -1);
  EXPECT_FALSE(result.candidates[0].verified);
  EXPECT_TRUE(result.work_alone.empty());
  EXPECT_EQ(m_gs.strategy().name, "host-alltoall");  // as it was
  expect_works(m_gs);
}

TEST_P(TunerRejects, AWrongOverlappedStrategy) {
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  Strategy overlapped = GetParam().strategy;
  overlapped.overlapped = true;
  const TuningResult result = run({good("right"), overlapped});
  EXPECT_EQ(result.selected, 0);
  EXPECT_FALSE(result.candidates[1].verified);
  expect_names_a_shared_dof(result.candidates[1].failure);
}

INSTANTIATE_TEST_SUITE_P(Wrong, TunerRejects, testing::ValuesIn(wrong_strategies()),
                         [](const auto& test) { return test.param.strategy.name; });

TEST_F(TunerTest, SelectsNothingWhenAllAreWrong) {
  std::vector<Strategy> strategies;
  for (const Wrong& wrong : wrong_strategies()) strategies.push_back(wrong.strategy);
  strategies[3].overlapped = true;
  const TuningResult result = run(strategies);
  if (m_alone) return;
  EXPECT_EQ(result.selected, -1);
  for (const CandidateResult& c : result.candidates) EXPECT_FALSE(c.verified) << c.strategy.name;
  expect_works(m_gs);
}

TEST_F(TunerTest, SaysWhatIsWrongFirstByGlobalId) {
  if (m_comm.size() < 3) GTEST_SKIP() << "needs a rank that owns some shared DOFs, not others";
  // The last rank but one shares high ids with the rank before it, which owns them, and low ids
  // with the last; nobody else has points. Nothing is delivered to it.
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
                return make_faulty<Fault::delivers_nothing, Where::everywhere>(comm, plan, buffers);
              return host_staged<make_pairwise>(comm, plan, buffers);
            });
  const std::string failure = run(gs, {deaf}).candidates[0].failure;
  EXPECT_EQ(failure.find("WRONG add of double: DOF 8 is nan on rank "), 0U) << failure;
}

// ---- Strategies that throw ---------------------------------------------------------------------

struct Thrower {
  std::string name;
  Where where;
  ExchangeFactory make;
};

void PrintTo(const Thrower& thrower, std::ostream* out) { *out << thrower.name; }

template <ExchangeFactory inner>
void add_throwers(std::vector<Thrower>& all, const std::string& name) {
  const auto add = [&]<Phase phase>(const std::string& phase_name) {
    all.push_back(
        {name + phase_name, Where::everywhere, make_throwing<phase, Where::everywhere, inner>});
    all.push_back({name + phase_name + "_on_one_rank", Where::last_rank,
                   make_throwing<phase, Where::last_rank, inner>});
  };
  add.template operator()<Phase::make>("make");
  add.template operator()<Phase::start>("start");
  add.template operator()<Phase::finish>("finish");
}

std::vector<Thrower> throwers() {
  std::vector<Thrower> all;
  add_throwers<make_pairwise>(all, "pairwise_in_");      // messages that nobody receives
  add_throwers<make_all_to_all>(all, "all_to_all_in_");  // a collective that some ranks never join
  return all;
}

class TunerSurvives : public TunerTest, public testing::WithParamInterface<Thrower> {};

TEST_P(TunerSurvives, AStrategyThatThrows) {
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

INSTANTIATE_TEST_SUITE_P(In, TunerSurvives, testing::ValuesIn(throwers()),
                         [](const auto& test) { return test.param.name; });

// ---- Verification by itself --------------------------------------------------------------------

TEST_F(TunerTest, VerificationLeavesNoMessageForTheNext) {
  Verifier verifier(m_comm, m_gs.message_plan());
  for (const Wrong& wrong : wrong_strategies()) {
    const bool verified = verifier.verify(wrong.strategy).empty();
    EXPECT_EQ(verified, m_alone) << wrong.strategy.name;
    for (const char* name : {"device-pairwise", "device-alltoall"})
      EXPECT_EQ(verifier.verify(*find_strategy(name)), "") << name;
  }
}

// What verification left in the receive buffer when an exchange started: the one value that all of
// it has, by item size.
struct Observed {
  std::size_t item_bytes;
  double value;   // 0 where the buffer is not uniform
  bool poisoned;  // poison() was called since the last exchange
};
std::vector<Observed> observed;

class Observing final : public Exchange {
 public:
  Observing(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_item_bytes(buffers.item_bytes),
        m_bytes(static_cast<unsigned char*>(buffers.receive), buffers.bytes(plan)),
        m_inner(host_staged<make_pairwise>(comm, plan, buffers)) {}

  void start() override {
    std::vector<unsigned char> host(m_bytes.extent(0));
    Kokkos::deep_copy(
        Kokkos::View<unsigned char*, HostMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            host.data(), host.size()),
        m_bytes);
    const double value =
        m_item_bytes == sizeof(float) ? uniform<float>(host) : uniform<double>(host);
    observed.push_back({m_item_bytes, value, m_poisoned});
    m_poisoned = false;
    m_inner->start();
  }
  void finish() override { m_inner->finish(); }
  void poison() override {
    m_poisoned = true;
    m_inner->poison();
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
  std::unique_ptr<Exchange> m_inner;
  bool m_poisoned = false;
};

TEST_F(TunerTest, VerificationPoisonsTheBuffersBeforeEveryCall) {
  if (m_alone) GTEST_SKIP() << "no buffers";
  observed.clear();
  const Strategy observing = named("observing",
                                   [](const Communicator& comm, const HaloPlan& plan,
                                      const MessageBuffers& buffers) -> std::unique_ptr<Exchange> {
                                     return std::make_unique<Observing>(comm, plan, buffers);
                                   });
  EXPECT_EQ(Verifier(m_comm, m_gs.message_plan()).verify(observing), "");
  std::map<std::size_t, std::array<int, 3>> calls;  // with NaN, +∞, -∞, by item size
  for (const Observed& o : observed) {
    EXPECT_TRUE(o.poisoned);
    EXPECT_TRUE(std::isnan(o.value) || std::isinf(o.value)) << o.value;
    ++calls[o.item_bytes][std::isnan(o.value) ? 0 : o.value > 0 ? 1 : 2];
  }
  // Each twice: addition and multiplication under NaN, max under +∞, min under -∞.
  EXPECT_EQ(calls[sizeof(double)], (std::array<int, 3>{4, 2, 2}));
  EXPECT_EQ(calls[3 * sizeof(double)], (std::array<int, 3>{2, 0, 0}));
  EXPECT_EQ(calls[sizeof(float)], (std::array<int, 3>{2, 0, 0}));
}

// ---- Predictions -------------------------------------------------------------------------------

TEST_F(TunerTest, PredictsWhatHasAModelAndChoosesBySamplesAlone) {
  const std::vector<Strategy> strategies{*find_strategy("host-pairwise"), good("without_a_model"),
                                         *find_strategy("host-pairwise+overlap"),
                                         good("without_a_model+overlap", true)};
  const MachinePaths paths =
      measure_paths(m_comm, strategies, m_guard, {.seconds = 0, .least_rounds = 3});
  const TuningResult result = tune(m_gs, strategies, m_work, m_options, m_guard, &paths);
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
          c.strategy.overlapped ? cost->beyond(median(result.work_alone)) : cost->alone();
      EXPECT_EQ(c.with_work->predicted.value_or(expected), expected);
    }
  }
  for (const CandidateResult& c : run(strategies).candidates) {
    EXPECT_FALSE(c.alone && c.alone->predicted) << c.strategy.name;
  }
}

}  // namespace
}  // namespace nekbone_k
