#include "gs/stage.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nekbone_k {

int Rounds::run(std::size_t candidates, const Limits& limits,
                const std::function<double(std::size_t)>& run,
                const std::function<void(std::size_t, double)>& store) {
  for (int w = 0; w < warm_ups; ++w)
    for (std::size_t c = 0; c < candidates; ++c) run(c);
  const double begin = wall_seconds();
  std::vector<double> samples(candidates);
  std::vector<std::size_t> turns(candidates);
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  int round = 0;
  for (bool go_on = true; go_on; ++round) {
    // Fisher–Yates, by hand because std::shuffle may differ between libraries.
    for (std::size_t last = turns.size(); last > 1; --last)
      std::swap(turns[last - 1], turns[m_random() % last]);
    for (const std::size_t turn : turns) samples[turn] = run(turn);
    m_comm.max(samples);
    for (std::size_t c = 0; c < candidates; ++c) store(c, samples[c]);
    const bool in_time = m_comm.broadcast(wall_seconds() - begin) < limits.seconds;
    go_on = round + 1 < limits.least || (in_time && round + 1 < limits.most);
  }
  return round;
}

std::size_t judge(std::span<StageResult* const> members, const std::vector<double>& work) {
  // Work and exchange together, the work's changes from round to round taken out.
  const double usual_work = work.empty() ? 0 : median(work);
  std::vector<std::vector<double>> times;
  for (StageResult* const result : members) {
    times.push_back(result->samples);
    std::vector<double> costs = result->samples;
    for (std::size_t round = 0; round < work.size(); ++round) {
      costs[round] -= work[round];
      times.back()[round] = costs[round] + usual_work;
    }
    result->cost = summarize(costs);
  }
  const auto& best = *std::min_element(
      times.begin(), times.end(),
      [](const auto& one, const auto& other) { return median(one) < median(other); });
  std::vector<std::size_t> tied;
  for (std::size_t c = 0; c < members.size(); ++c) {
    members[c]->relative_to_best = median(times[c]) / median(best);
    if (is_tie(times[c], best)) tied.push_back(c);
  }
  for (const std::size_t c : tied) members[c]->tie = tied.size() > 1;
  return tied.front();
}

}  // namespace nekbone_k
