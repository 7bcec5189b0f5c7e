// SPDX-License-Identifier: BSD-3-Clause
#include "support/bench.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>

namespace nekbone_k {
namespace {

constexpr int fewest_rounds = 5, most_rounds = 1000;
constexpr double most_repeats = 1000;

}  // namespace

void Bench::add(const std::string& name, std::function<void(benchmark::State&)> body) const {
  benchmark::RegisterBenchmark(name.c_str(), std::move(body))
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

Bench::Sample Bench::sample_of(std::function<void()> operation) const {
  return [this, operation = std::move(operation)](int repeats) {
    m_comm.barrier();
    const double begin = wall_seconds();
    for (int i = 0; i < repeats; ++i) operation();
    Kokkos::fence("nekbone_k: benchmark timed");
    return (wall_seconds() - begin) / repeats;
  };
}

int Bench::repeats_for(const Sample& sample, double least_seconds) const {
  if (m_options.quick) return 1;
  sample(1);  // the first call touches memory and code
  const double once = m_comm.max(std::min(sample(1), sample(1)));
  return static_cast<int>(std::clamp(least_seconds / std::max(once, 1e-9), 1.0, most_repeats));
}

std::vector<Timing> Bench::measure(const std::vector<Sample>& samples, double least_seconds) const {
  std::vector<int> repeats;
  repeats.reserve(samples.size());
  for (const Sample& sample : samples) repeats.push_back(repeats_for(sample, least_seconds));
  std::vector<Timing> timings(samples.size());
  const double begin = wall_seconds();
  int rounds = 0;
  for (bool go_on = true; go_on;) {
    for (std::size_t s = 0; s < samples.size(); ++s)
      timings[s].samples.push_back(samples[s](repeats[s]));
    ++rounds;
    // Rank 0's clock decides for all ranks.
    const bool in_time = m_comm.broadcast(wall_seconds() - begin) < m_options.seconds;
    go_on = !m_options.quick && rounds < (in_time ? most_rounds : fewest_rounds);
  }
  for (std::size_t s = 0; s < samples.size(); ++s) {
    Timing& timing = timings[s];
    m_comm.max(timing.samples);
    timing.seconds = summarize(timing.samples);
    timing.repetitions = std::int64_t{rounds} * repeats[s];
  }
  return timings;
}

void Bench::report(benchmark::State& state, const Timing& timing) {
  // The batch makes Google Benchmark print the number of timed operations; it divides the time by
  // it.
  while (state.KeepRunningBatch(timing.repetitions))
    state.SetIterationTime(timing.seconds.median * static_cast<double>(timing.repetitions));
  state.counters["samples"] = static_cast<double>(timing.samples.size());
  state.counters["low_s"] = timing.seconds.low;
  state.counters["high_s"] = timing.seconds.high;
}

}  // namespace nekbone_k
