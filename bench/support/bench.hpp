/// @file
/// Benchmarks that all ranks run together.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "gs/statistics.hpp"
#include "gs/strategy_table.hpp"

namespace nekbone_k {

/// The command line, but for what Google Benchmark reads itself.
struct BenchOptions {
  bool quick = false;                  ///< tiny meshes, one sample: only shows that all runs
  double seconds = 1;                  ///< to spend on timing one benchmark
  std::int64_t points = 2'000'000;     ///< local points a rank, larger than caches
  std::int64_t cache_points = 30'000;  ///< local points a rank whose factors fit in a cache
  double lambda = 0.1;                 ///< mass coefficient, by default the hipBone comparison's
  Strategy strategy = all_strategies().front();  ///< exchange inside operator, CG and gs_op
  std::vector<std::string> variants;             ///< libraries for bench_kernel_variants
};

/// What measuring one operation gave, in seconds of the slowest rank.
struct Timing {
  std::vector<double> samples;   ///< seconds of one operation, each the mean over a sample
  Summary seconds;               ///< their median and its 95 % bootstrap interval
  std::int64_t repetitions = 0;  ///< operations timed in all samples
};

/// Adds benchmarks to Google Benchmark and times them alike on every rank.
///
/// Google Benchmark would choose the number of iterations from times that differ between ranks, and
/// ranks that disagree wait for each other for ever. So here it is told to call each benchmark
/// once; measure() decides how much to measure, from times that all ranks agree on.
class Bench {
 public:
  /// Keeps a reference to `comm`, which outlives it.
  Bench(const Communicator& comm, BenchOptions options)
      : m_comm(comm), m_options(std::move(options)) {}

  const Communicator& comm() const { return m_comm; }
  const BenchOptions& options() const { return m_options; }

  /// Registers `body`, which is to end in report() or in state.SkipWithError(), on every rank the
  /// same. Same calls in the same order on every rank.
  void add(const std::string& name, std::function<void(benchmark::State&)> body) const;

  /// Does about n operations and returns this rank's seconds for one.
  using Sample = std::function<double(int n)>;

  /// A sample that begins with a barrier and ends with a fence. Its calls are collective.
  Sample sample_of(std::function<void()> operation) const;

  /// Times each of `samples` in interleaved rounds after a warm-up, so that what disturbs one
  /// disturbs all. A sample repeats its operation until it lasts `least_seconds`; the rounds fill
  /// options().seconds, at least five. Collective, with the same result on every rank.
  std::vector<Timing> measure(const std::vector<Sample>& samples,
                              double least_seconds = shortest_sample) const;

  /// The same for one operation.
  Timing measure(const std::function<void()>& operation,
                 double least_seconds = shortest_sample) const {
    return measure(std::vector{sample_of(operation)}, least_seconds).front();
  }

  /// Reports the median as the benchmark's time of one operation.
  static void report(benchmark::State& state, const Timing& timing);

 private:
  /// Shorter samples would measure the clock and the barrier's ragged end.
  static constexpr double shortest_sample = 200e-6;

  /// Operations that make a sample last long enough, the same on every rank.
  int repeats_for(const Sample& sample, double least_seconds) const;

  const Communicator& m_comm;
  BenchOptions m_options;
};

}  // namespace nekbone_k
