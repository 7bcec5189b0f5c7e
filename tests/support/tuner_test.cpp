// SPDX-License-Identifier: BSD-3-Clause
#include "support/tuner_test.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace nekbone_k {
namespace {

constexpr GlobalId of_all = 7;

// A ring: private DOFs, six DOFs shared with the next rank, and one DOF that all ranks share, which
// comes first.
std::vector<GlobalId> ring_ids(int rank, int size) {
  std::vector<GlobalId> ids{of_all, of_all};
  for (int i = 0; i < 6; ++i) {
    ids.push_back(1000 * ((rank + 1) % size) + 100 + i);
    ids.push_back(1000 * rank + 100 + i);
    ids.push_back(1000 * rank + 500 + i);
  }
  return ids;
}

// The result as text, exact to the last bit of every sample.
std::string fingerprint(const TuningResult& result) {
  std::ostringstream text;
  text << std::hexfloat << result.selected << ' ' << result.rounds_alone << ' '
       << result.rounds_with_work << ' ' << result.repeats << ' ' << result.work_portion << ' '
       << result.work_meanwhile << ' ' << result.verify_seconds << ' ' << result.tune_seconds << ' '
       << result.on_rank.median << '\n';
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

// Whether one of `members` was faster than `samples`, by the rule of stage.hpp for dropping
// candidates.
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

// Expects that the results of `members` in a stage follow from their samples, minus `work` of the
// same round, by the rule of tuner.hpp. Returns the winner.
int expect_follows_from_samples(const TuningResult& result, const std::vector<int>& members,
                                Stage stage, int rounds, const std::vector<double>& work) {
  if (members.empty()) return -1;
  // The samples without the changes of the work from round to round.
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
  // Samples of the best candidate in the rounds that m took part in.
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
  // Candidates that tie or nearly tie with work are ranked by the time of their exchange alone.
  int winner = tied.front();
  const auto alone = [&](int m) {
    const Strategy& strategy = result.candidates[m].strategy;
    if (!strategy.overlapped)
      return is_host_device ? std::vector<double>() : result.candidates[m].alone->samples;
    for (const CandidateResult& c : result.candidates)
      if (c.alone && c.strategy.make == strategy.make) return c.alone->samples;
    return std::vector<double>();
  };
  for (const int m : members) {
    if (stage == &CandidateResult::alone || alone(m).empty() || alone(winner).empty()) continue;
    const StageResult& found = *(result.candidates[m].*stage);
    const bool is_as_good = std::count(tied.begin(), tied.end(), m) > 0 ||
                            (!found.stopped && median(of(m)) <= 1.01 * median(best_beside(m)));
    if (is_as_good && is_slower(alone(winner), alone(m))) winner = m;
  }
  return winner;
}

}  // namespace

TunerTest::TunerTest() : m_gs(m_comm, ring_ids(m_rank, m_comm.size())) { m_options = {0, 3}; }

TuningResult TunerTest::run(GatherScatter& gs, const std::vector<Strategy>& strategies) {
  const TuningResult result = tune(gs, m_kind, strategies, m_work, m_options, m_guard);
  const std::string print = fingerprint(result);
  for (const std::string& other : m_comm.gather(print)) EXPECT_EQ(print, other);
  expect_consistent(gs, result, strategies);
  if (result.selected >= 0) {
    EXPECT_EQ(gs.strategy(m_kind).name, result.candidates[result.selected].strategy.name);
  }
  return result;
}

void TunerTest::expect_consistent(const GatherScatter& gs, const TuningResult& result,
                                  const std::vector<Strategy>& strategies) const {
  const bool shares = m_comm.max(std::int64_t{gs.plan().n_shared()}) > 0;
  EXPECT_EQ(result.kind, m_kind);
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
  if (!shares) {  // the tuner cannot compare: it takes the first and times none
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
  if (alone_winner >= 0)
    members.insert(is_host_device ? members.end() : members.begin(), alone_winner);
  EXPECT_EQ(result.selected,
            expect_follows_from_samples(result, members, &CandidateResult::with_work,
                                        result.rounds_with_work, result.work_alone));
  EXPECT_TRUE(result.work_meanwhile > 0 && std::isfinite(result.work_meanwhile));
  EXPECT_GT(result.work_portion, 0);
  EXPECT_LE(result.work_portion, 1);
  EXPECT_EQ(result.work_name, "test work");
}

void TunerTest::expect_names_a_shared_dof(const std::string& failure) const {
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

void TunerTest::expect_works(GatherScatter& gs) const {
  const DeviceField<double> points("ones", gs.assembly().n_points(), 1);
  Kokkos::deep_copy(points, 1.0);
  gs.gs_op(points, Reduction::add);
  const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), points);
  EXPECT_EQ(host(0, 0), 2 * m_comm.size());
  for (int p = 2; p < static_cast<int>(points.extent(0)); ++p)
    EXPECT_EQ(host(p, 0), (p - 2) % 3 == 2 ? 1 : 2) << "point " << p;
}

}  // namespace nekbone_k
