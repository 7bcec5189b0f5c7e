// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Lists of indices as runs with a stride, for which kernels need not read the list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/launch_shape.hpp"
#include "core/types.hpp"
#include "gs/exchange.hpp"

namespace nekbone_k {

/// Positions [begin, begin + count) of a list of indices. Their indices are first, first + stride,
/// …; if stride is 0, read them from the list. PetscSF looks for strided blocks, too (Zhang et al.
/// 2022).
struct IndexRun {
  LocalIndex begin, count, first, stride;

  bool operator==(const IndexRun&) const = default;
};

/// Sizes of runs and of the teams that process them.
struct RunShape {
  static constexpr int team_size = LaunchShape<ExecutionSpace>::team_size;  ///< threads per run
  /// Maximum positions of a run, and minimum positions of a run with a stride.
  static constexpr LocalIndex longest = LaunchShape<ExecutionSpace>::longest_run;
  static constexpr LocalIndex shortest = LaunchShape<ExecutionSpace>::shortest_run;

  /// Maximum positions of a run, for a list of `n_positions`. On a GPU this is the team size for
  /// short lists, so that they use many teams. Long lists have enough teams, so a thread gets
  /// several positions: each team first waits for its run and, if needed, for a flag.
  static constexpr LocalIndex longest_of(std::size_t n_positions) {
    constexpr std::size_t enough_teams = 2048, most_a_thread = 8;
    if (is_host_device) return longest;
    const std::size_t a_thread = n_positions / (enough_teams * team_size);
    return team_size * static_cast<LocalIndex>(std::clamp<std::size_t>(a_thread, 1, most_a_thread));
  }
};

/// The runs of positions [begin, end) of a list, in their order. Negative indices and equal
/// neighbours are in no run with a stride.
std::vector<IndexRun> find_runs(std::span<const LocalIndex> indices, LocalIndex begin,
                                LocalIndex end, LocalIndex shortest = RunShape::shortest,
                                LocalIndex longest = RunShape::longest);
inline std::vector<IndexRun> find_runs(std::span<const LocalIndex> indices) {
  return find_runs(indices, 0, static_cast<LocalIndex>(indices.size()), RunShape::shortest,
                   RunShape::longest_of(indices.size()));
}

/// Calls action(position, index) for each `step`-th position of a run, beginning at position
/// `from`.
template <int step, class Action>
KOKKOS_FORCEINLINE_FUNCTION void for_positions(const IndexRun& run, const LocalIndex* indices,
                                               int from, const Action& action) {
  // Separate loops, so that CPUs vectorise the first two.
  if (run.stride == 1) {
    for (LocalIndex i = from; i < run.count; i += step) action(run.begin + i, run.first + i);
  } else if (run.stride != 0) {
    for (LocalIndex i = from; i < run.count; i += step)
      action(run.begin + i, run.first + i * run.stride);
  } else {
    for (LocalIndex i = from; i < run.count; i += step)
      action(run.begin + i, indices[run.begin + i]);
  }
}

/// store(position, index, load(position, index)) for the same positions. No store may change a
/// value that is loaded at another position. So a GPU thread keeps several loads under way, which a
/// compiler cannot derive. One load at a time took 1.5 times as long.
template <int step, class Load, class Store>
KOKKOS_FORCEINLINE_FUNCTION void for_positions_apart(const IndexRun& run, const LocalIndex* indices,
                                                     int from, const Load& load,
                                                     const Store& store) {
  if constexpr (is_host_device) {
    for_positions<step>(run, indices, from, [&](LocalIndex position, LocalIndex index) {
      store(position, index, load(position, index));
    });
  } else {
    constexpr int at_once = 4;
    for (LocalIndex i = from; i < run.count; i += at_once * step) {
      LocalIndex index[at_once];
      decltype(load(i, i)) value[at_once];
      NEKBONE_K_UNROLL
      for (int n = 0; n < at_once; ++n) {
        const LocalIndex at = i + n * step;
        if (at < run.count)
          index[n] = run.stride != 0 ? run.first + at * run.stride : indices[run.begin + at];
      }
      NEKBONE_K_UNROLL
      for (int n = 0; n < at_once; ++n)
        if (i + n * step < run.count) value[n] = load(run.begin + i + n * step, index[n]);
      NEKBONE_K_UNROLL
      for (int n = 0; n < at_once; ++n)
        if (i + n * step < run.count) store(run.begin + i + n * step, index[n], value[n]);
    }
  }
}

/// Runs in device memory.
using DeviceRuns = Kokkos::View<const IndexRun*, DeviceMemory>;

/// One team per run.
using RunTeamPolicy =
    Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<RunShape::team_size, 0>>;

/// The GPU kernel of for_index_runs(): one team per run.
template <class Kernel>
struct RunTeams {
  using Team = RunTeamPolicy::member_type;

  DeviceRuns runs;
  Arrival arrival;
  Kernel kernel;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (arrival.n_flags > 0) {
      for (int f = team.team_rank(); f < arrival.n_flags; f += RunShape::team_size)
        await(arrival.flags + f, arrival.call, arrival.late);
      team.team_barrier();
    }
    kernel(runs(team.league_rank()), team.team_rank());
  }
};

/// Launches kernel(run, from) for each run, in `stream`; `from` is the argument of
/// for_positions<RunShape::team_size>(). A GPU kernel first waits for the flags of `arrival`. On a
/// CPU, where kernels would block processes, the flags are already raised.
template <class Kernel>
void for_index_runs(const std::string& label, const ExecutionSpace& stream, const DeviceRuns& runs,
                    const Kernel& kernel, const Arrival& arrival = {}) {
  const auto n_runs = static_cast<int>(runs.extent(0));
  if (n_runs == 0) return;
  if constexpr (is_host_device) {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace>(stream, 0, n_runs),
                         [=](const int r) { kernel(runs(r), 0); });
  } else {
    Kokkos::parallel_for(label, RunTeamPolicy(stream, n_runs, RunShape::team_size),
                         RunTeams<Kernel>{runs, arrival, kernel});
  }
}

/// Copies entries of a field, shape (entry, component), to message slots; the components of an
/// entry become adjacent. For for_index_runs() with the runs of slots and their entries.
template <class Word>
struct PackRun {
  const Word* field;
  std::size_t component_stride;
  int components;
  const LocalIndex* dofs;  ///< by slot
  Word* to;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const IndexRun& run, int from) const {
    constexpr int step = RunShape::team_size;
    if (components == 1) {
      const Word* KOKKOS_RESTRICT const entries = field;
      Word* KOKKOS_RESTRICT const slots = to;
      return for_positions_apart<step>(
          run, dofs, from, [&](LocalIndex, LocalIndex dof) { return entries[dof]; },
          [&](LocalIndex slot, LocalIndex, Word value) { slots[slot] = value; });
    }
    for_positions<step>(run, dofs, from, [&](LocalIndex slot, LocalIndex dof) {
      for (int c = 0; c < components; ++c)
        to[std::size_t(slot) * components + c] = field[c * component_stride + dof];
    });
  }
};

}  // namespace nekbone_k
