// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/path_meter.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>

#include "core/errors.hpp"
#include "tuning/stage.hpp"
#include "tuning/tuning_guard.hpp"

namespace nekbone_k {
namespace {

constexpr double shortest_path_sample = 100e-6;  // s
constexpr int most_path_rounds = 100;
constexpr double most_path_repeats = 200;

}  // namespace

std::vector<double> PathMeter::medians(const std::vector<Operation>& operations) {
  std::vector<int> repeats;
  for (const Operation& operation : operations) {
    sample(operation, 1);
    const double once = std::max(m_comm.max(sample(operation, 1)), 1e-9);
    repeats.push_back(
        static_cast<int>(std::clamp(shortest_path_sample / once, 1.0, most_path_repeats)));
  }
  std::vector<StageResult> results(operations.size());
  std::vector<StageResult*> members;
  for (StageResult& result : results) members.push_back(&result);
  Rounds(m_comm).run(members, nullptr,
                     {.seconds = m_options.seconds,
                      .least = m_options.least_rounds,
                      .most = most_path_rounds,
                      .early_stop = false},
                     [&](std::size_t o) { return sample(operations[o], repeats[o]); });
  std::vector<double> times;
  for (const StageResult& result : results) times.push_back(median(result.samples));
  return times;
}

void PathMeter::attempt(const Operation& operation) {
  if (m_failure.empty()) m_failure = thrown_by(m_comm.rank(), operation);
}

double PathMeter::sample(const Operation& operation, int repeats) {
  m_comm.barrier();
  const double begin = wall_seconds();
  attempt([&] {
    for (int i = 0; i < repeats; ++i) operation();
    Kokkos::fence("nekbone_k: path timed");
  });
  return (wall_seconds() - begin) / repeats;
}

PathCost path_of(std::span<const std::size_t> sizes, std::span<const double> medians) {
  PathCost path;
  for (std::size_t s = 0; s < sizes.size(); ++s)
    path.points.push_back({static_cast<double>(sizes[s]), medians[s]});
  path.cost = fit_linear_cost(path.points);
  return path;
}

}  // namespace nekbone_k
