#include "support/bench.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <vector>

namespace nekbone_k {
namespace {

/// Shorter samples would measure the clock and the barrier's ragged end.
constexpr double shortest_sample = 200e-6;
constexpr int fewest_samples = 5, most_samples = 1000, most_repeats = 1000;

}  // namespace

void Bench::add(const std::string& name, std::function<void(benchmark::State&)> body) const {
  benchmark::RegisterBenchmark(name.c_str(), std::move(body))
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

Timing Bench::measure(const std::function<void()>& operation) const {
  return measure_samples([&](int repeats) {
    m_comm.barrier();
    const double begin = wall_seconds();
    for (int i = 0; i < repeats; ++i) operation();
    Kokkos::fence("nekbone_k: benchmark timed");
    return (wall_seconds() - begin) / repeats;
  });
}

Timing Bench::measure_samples(const std::function<double(int)>& sample) const {
  int repeats = 1, n_samples = 1;
  if (!m_options.quick) {
    sample(1);  // touches memory and code for the first time
    const double once = std::max(m_comm.max(sample(1)), 1e-9);
    repeats = std::clamp(static_cast<int>(shortest_sample / once), 1, most_repeats);
    const double fit = m_options.seconds / (once * repeats);
    n_samples = static_cast<int>(std::clamp<double>(fit, fewest_samples, most_samples));
  }
  std::vector<double> samples(n_samples);
  for (double& s : samples) s = sample(repeats);
  m_comm.max(samples);
  return {summarize(samples), n_samples, std::int64_t{n_samples} * repeats};
}

void Bench::report(benchmark::State& state, const Timing& timing) {
  // The batch makes Google Benchmark print how many operations were timed; it divides by that.
  while (state.KeepRunningBatch(timing.operations))
    state.SetIterationTime(timing.seconds.median * static_cast<double>(timing.operations));
  state.counters["samples"] = static_cast<double>(timing.samples);
  state.counters["low_us"] = timing.seconds.low * 1e6;
  state.counters["high_us"] = timing.seconds.high * 1e6;
}

}  // namespace nekbone_k
