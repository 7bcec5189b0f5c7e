// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/stage.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nekbone_k {

namespace {

constexpr int rounds_before_stopping = 5;
constexpr double slower_always = 1.1, slower_usually = 1.25;
// Relative to the best: launches of one strategy differ by more than many rounds can resolve.
constexpr double as_good = 0.01;

bool cannot_win(const std::vector<double>& samples, const std::vector<double>& best) {
  for (std::size_t round = 0; round < samples.size(); ++round)
    if (!(samples[round] > slower_always * best[round])) return false;
  return median(samples) > slower_usually * median(best);
}

/// Marks candidates that cannot win; returns the number of the others.
std::size_t stop_losers(std::span<StageResult* const> members) {
  const StageResult* best = nullptr;
  for (const StageResult* member : members)
    if (!member->stopped && (best == nullptr || median(member->samples) < median(best->samples)))
      best = member;
  std::size_t left = 0;
  for (StageResult* member : members) {
    if (member != best && !member->stopped)
      member->stopped = cannot_win(member->samples, best->samples);
    if (!member->stopped) ++left;
  }
  return left;
}

}  // namespace

int Rounds::run(std::span<StageResult* const> members, std::vector<double>* reference,
                const Limits& limits, const std::function<double(std::size_t)>& run) {
  std::vector<std::size_t> turns(members.size() + (reference != nullptr ? 1 : 0));
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  const double begin = wall_seconds();
  for (int w = 0; w < warm_ups; ++w)
    for (const std::size_t c : turns) run(c);
  std::vector<double> samples(turns.size());
  int round = 0;
  for (bool go_on = true; go_on; ++round) {
    // Fisher–Yates by hand, because std::shuffle may differ between libraries.
    for (std::size_t last = turns.size(); last > 1; --last)
      std::swap(turns[last - 1], turns[m_random() % last]);
    for (const std::size_t turn : turns) samples[turn] = run(turn);
    m_comm.max(samples);
    for (const std::size_t turn : turns)
      (turn == members.size() ? *reference : members[turn]->samples).push_back(samples[turn]);
    const bool in_time = m_comm.broadcast(wall_seconds() - begin) < limits.seconds;
    go_on = round + 1 < limits.least || (in_time && round + 1 < limits.most);
    if (!limits.early_stop || round + 1 < rounds_before_stopping) continue;
    const std::size_t left = stop_losers(members);
    std::erase_if(turns, [&](std::size_t c) { return c < members.size() && members[c]->stopped; });
    if (left == 1 && members.size() > 1 && round + 1 >= limits.least) go_on = false;
  }
  return round;
}

int repeats_for_sample(double shortest, double round, double seconds, int rounds) {
  constexpr double shortest_sample = 200e-6, grain = 1e-9;
  const double wanted = shortest_sample / std::max(shortest, grain);
  const double affordable = seconds / (rounds + Rounds::warm_ups) / std::max(round, grain);
  return static_cast<int>(std::clamp(std::min(wanted, affordable), 1.0, 1000.0));
}

std::size_t judge(std::span<StageResult* const> members, const std::vector<double>& work,
                  std::span<const StageResult* const> alone) {
  // Work plus exchange, without the variation of the work between rounds.
  const double usual_work = work.empty() ? 0 : median(work);
  std::vector<std::vector<double>> times;
  for (StageResult* const result : members) {
    times.push_back(result->samples);
    std::vector<double> costs = result->samples;
    for (std::size_t round = 0; round < costs.size() && !work.empty(); ++round) {
      costs[round] -= work[round];
      times.back()[round] = costs[round] + usual_work;
    }
    result->cost = summarize(costs);
  }
  std::size_t best_member = members.size();
  for (std::size_t c = 0; c < members.size(); ++c)
    if (!members[c]->stopped &&
        (best_member == members.size() || median(times[c]) < median(times[best_member])))
      best_member = c;
  const std::vector<double>& best = times[best_member];
  std::vector<std::size_t> tied;
  for (std::size_t c = 0; c < members.size(); ++c) {
    const auto [own, best_then] = in_same_rounds(times[c], best);
    members[c]->relative_to_best = median(own) / median(best_then);
    if (!members[c]->stopped && is_tie(times[c], best)) tied.push_back(c);
  }
  for (const std::size_t c : tied) members[c]->tie = tied.size() > 1;
  std::size_t winner = tied.front();
  if (alone.empty() || alone[winner] == nullptr) return winner;
  for (std::size_t c = 0; c < members.size(); ++c) {
    const bool is_as_good =
        members[c]->tie || (!members[c]->stopped && members[c]->relative_to_best <= 1 + as_good);
    if (is_as_good && alone[c] != nullptr && is_slower(alone[winner]->samples, alone[c]->samples))
      winner = c;
  }
  return winner;
}

}  // namespace nekbone_k
