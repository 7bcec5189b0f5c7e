/// @file
/// Benchmarks that all ranks run together.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>

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
  Strategy strategy = all_strategies().front();  ///< exchange inside operator, CG and gs_op
};

/// What measuring one operation gave: seconds of the slowest rank.
struct Timing {
  Summary seconds;              ///< median over the samples, 95 % bootstrap interval
  std::int64_t samples = 0;     ///< how many there were
  std::int64_t operations = 0;  ///< operations timed in all of them
};

/// Adds benchmarks to Google Benchmark and times them alike on every rank.
///
/// Google Benchmark would choose the number of iterations from times that differ between ranks, and
/// ranks that disagree wait for each other for ever. So here it is told to call each benchmark
/// once; how much to measure is decided by measure(), from times that all ranks agree on.
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

  /// Times `operation` after a warm-up. A sample is as many operations in a row as last 200 µs; the
  /// samples fill options().seconds, at least five. Each begins with a barrier and ends with a
  /// fence, and counts as long as on the slowest rank. Collective.
  Timing measure(const std::function<void()>& operation) const;

  /// The same for what times itself: `sample(n)` does about n operations and returns this rank's
  /// seconds for one.
  Timing measure_samples(const std::function<double(int)>& sample) const;

  /// Reports the median as the benchmark's time of one operation.
  static void report(benchmark::State& state, const Timing& timing);

 private:
  const Communicator& m_comm;
  BenchOptions m_options;
};

}  // namespace nekbone_k
