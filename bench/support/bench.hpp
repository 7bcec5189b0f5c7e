// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Benchmarks that all ranks run together.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "core/statistics.hpp"
#include "gs/strategy_table.hpp"

namespace nekbone_k {

/// The command line, without the options of Google Benchmark.
struct BenchOptions {
  bool quick = false;                  ///< tiny meshes, one sample: a smoke test
  double seconds = 1;                  ///< to spend on timing one benchmark
  std::int64_t points = 2'000'000;     ///< local points per rank, larger than caches
  std::int64_t cache_points = 30'000;  ///< local points per rank whose factors fit in a cache
  double lambda = 0.1;                 ///< mass coefficient, as in the hipBone comparison
  Strategy strategy = all_strategies().front();  ///< for operator, CG and gs_op
  std::vector<std::string> variants;             ///< libraries for bench_kernel_variants
};

/// Time of one operation, in s, on the slowest rank.
struct Timing {
  std::vector<double> samples;   ///< time of one operation, each the mean over a sample
  Summary seconds;               ///< their median and its 95 % confidence interval
  std::int64_t repetitions = 0;  ///< operations timed in all samples
};

/// Adds benchmarks to Google Benchmark and times them equally on every rank.
///
/// Google Benchmark would choose the number of iterations from times that differ between ranks, and
/// ranks that disagree would wait for each other forever. It therefore calls each benchmark only
/// once. measure() decides how much to measure, from times that all ranks agree on.
class Bench {
 public:
  /// Keeps a reference to `comm`, which must outlive it.
  Bench(const Communicator& comm, BenchOptions options)
      : m_comm(comm), m_options(std::move(options)) {}

  const Communicator& comm() const { return m_comm; }
  const BenchOptions& options() const { return m_options; }

  /// Registers `body`, which must end with report() or state.SkipWithError(), the same on every
  /// rank. Every rank makes the same calls in the same order.
  void add(const std::string& name, std::function<void(benchmark::State&)> body) const;

  /// Does about n operations and returns the time per operation on this rank, in s.
  using Sample = std::function<double(int n)>;

  /// A sample that begins with a barrier and ends with a fence. Calling it is collective.
  Sample sample_of(std::function<void()> operation) const;

  /// Times `samples` in interleaved rounds after a warm-up, so that a disturbance affects all. A
  /// sample repeats its operation for at least `least_seconds`. The rounds fill options().seconds;
  /// there are at least five. Collective, with the same result on every rank.
  std::vector<Timing> measure(const std::vector<Sample>& samples,
                              double least_seconds = shortest_sample) const;

  /// Times one operation; see above.
  Timing measure(const std::function<void()>& operation,
                 double least_seconds = shortest_sample) const {
    return measure(std::vector{sample_of(operation)}, least_seconds).front();
  }

  /// Reports the median as the benchmark's time per operation.
  static void report(benchmark::State& state, const Timing& timing);

 private:
  /// Shorter samples would measure the clock and the uneven end of the barrier.
  static constexpr double shortest_sample = 200e-6;

  /// Number of operations for a long enough sample, the same on every rank. Collective.
  int repeats_for(const Sample& sample, double least_seconds) const;

  const Communicator& m_comm;
  BenchOptions m_options;
};

}  // namespace nekbone_k
