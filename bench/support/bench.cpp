#include "support/bench.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>

namespace nekbone_k {
namespace {

/// Shorter samples would measure the clock and the barrier's ragged end.
constexpr double shortest_sample = 200e-6;
constexpr int fewest_rounds = 5, most_rounds = 1000, most_repeats = 1000;

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

std::vector<Timing> Bench::measure(const std::vector<Sample>& samples) const {
  std::vector<int> repeats(samples.size(), 1);
  int rounds = 1;
  if (!m_options.quick) {
    double round_seconds = 0;
    for (std::size_t s = 0; s < samples.size(); ++s) {
      samples[s](1);  // touches memory and code for the first time
      const double once = std::max(m_comm.max(samples[s](1)), 1e-9);
      repeats[s] = std::clamp(static_cast<int>(shortest_sample / once), 1, most_repeats);
      round_seconds += once * repeats[s];
    }
    const double fit = m_options.seconds / round_seconds;
    rounds = static_cast<int>(std::clamp<double>(fit, fewest_rounds, most_rounds));
  }
  std::vector<Timing> timings(samples.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t s = 0; s < samples.size(); ++s)
      timings[s].samples.push_back(samples[s](repeats[s]));
  for (std::size_t s = 0; s < samples.size(); ++s) {
    Timing& timing = timings[s];
    m_comm.max(timing.samples);
    timing.seconds = summarize(timing.samples);
    timing.repetitions = std::int64_t{rounds} * repeats[s];
  }
  return timings;
}

void Bench::report(benchmark::State& state, const Timing& timing) {
  // The batch makes Google Benchmark print how many operations were timed; it divides by that.
  while (state.KeepRunningBatch(timing.repetitions))
    state.SetIterationTime(timing.seconds.median * static_cast<double>(timing.repetitions));
  state.counters["samples"] = static_cast<double>(timing.samples.size());
  state.counters["low_s"] = timing.seconds.low;
  state.counters["high_s"] = timing.seconds.high;
}

}  // namespace nekbone_k
