// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The results of a flow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/energy.hpp"
#include "report/multigrid_record.hpp"

namespace nekbone_k {

/// The flow at the end of a step: a row of the time series.
struct FlowRow {
  int step = 0;  ///< 0: the beginning
  double time = 0, dt = 0;
  double energy = 0, enstrophy = 0;  ///< means over the box of u·u/2 and ω·ω/2
  double energy_loss = 0;            ///< -dE/dt since the last row
  double dissipation = 0;            ///< 2 ν enstrophy
  double divergence = 0;             ///< largest |∇·u|
  double cfl = 0;
  std::array<double, 3> momentum{};                      ///< mean velocity
  int pressure_iterations = 0, velocity_iterations = 0;  ///< of the last step
  double step_seconds = 0;                               ///< mean since the last row
  std::optional<double> reference{};                     ///< enstrophy
};

/// A value for each part of a step.
struct FlowParts {
  double advection = 0, pressure = 0, velocity = 0, other = 0;
  double total() const { return advection + pressure + velocity + other; }
};

/// The checkpoint that a run began from.
struct FlowOrigin {
  std::string file;
  int step = 0;
  double time = 0;
};

/// The share of the expected time of a flow that its tuning may take.
inline constexpr double tuning_share = 0.1;

/// What tuning at start-up may take in a flow, and what it took.
struct FlowTuning {
  int expected_steps = 0;              ///< that this run takes
  std::optional<double> step_seconds;  ///< expected; nothing: not known
  std::optional<double> cap_seconds;   ///< limit of the whole tuning; nothing: none
  std::string why_no_cap;              ///< empty if there is a cap
  double budget_seconds = 0;           ///< s, of each exchange and of the search for a V-cycle
  double grid_budget_seconds = 0;      ///< s, of the process grids
  double seconds = 0;                  ///< that tuning took, with verification

  /// Of all steps; nothing: not known.
  std::optional<double> expected_seconds() const {
    return step_seconds ? std::optional(expected_steps * *step_seconds) : std::nullopt;
  }
};

/// The flow of a run.
struct FlowRecord {
  int order = 0;
  std::int64_t elements = 0, total_dofs = 0;
  double viscosity = 0;
  std::string series;                                        ///< the CSV file of all rows
  std::string vector_strategy, scalar_strategy, all_reduce;  ///< exchanges of 3 and 1 components
  std::optional<MultigridRecord> multigrid;
  FlowTuning tuning;
  double setup_seconds = 0;
  int start_steps = 0;  ///< short ones at the beginning, of this run
  int steps = 0;        ///< in all
  double seconds = 0;   ///< of all steps
  EnergyRecord energy;  ///< of all steps, and what the run does between them
  /// Of the later half of the steps, which the beginning does not disturb.
  int counted_steps = 0;
  double step_seconds = 0;  ///< median
  FlowParts parts;          ///< s on the slowest rank; means over the middle half, by total
  FlowParts part_bytes;     ///< minimum traffic of all ranks in those steps; means
  double pressure_iterations = 0, velocity_iterations = 0;          ///< mean
  double pressure_first_residual = 0, velocity_first_residual = 0;  ///< mean
  /// Share of the steps whose guess a projection improved.
  double pressure_projected = 0, velocity_projected = 0;
  std::vector<FlowRow> rows;
  std::optional<double> error_max, error_l2;   ///< against an exact solution, relative
  std::optional<double> reference_difference;  ///< largest, of the enstrophy, relative
  double reference_time = 0;                   ///< of that difference
  /// Of the velocity at the end, and only with deterministic sums. See checksum().
  std::optional<std::uint64_t> checksum;
  std::optional<FlowOrigin> restart;  ///< nothing: from the beginning
  std::string checkpoint_file;        ///< empty: none is written
  int checkpoints = 0;                ///< written
  int checkpoint_step = 0;            ///< of the last one
  double checkpoint_seconds = 0;      ///< the longest
  std::string checkpoint_failure;     ///< why the last one was not written
  int field_files = 0;                ///< written for ParaView
  std::string last_field_file;
  std::string field_failure;  ///< why one was not written
  std::string stopped;        ///< why the run stopped before its end; empty: it did not
  bool passed = false;
  std::string verdict;

  /// Unique points times steps per second, of the counted steps.
  double points_per_second() const {
    return step_seconds > 0 ? static_cast<double>(total_dofs) / step_seconds : 0;
  }
};

}  // namespace nekbone_k
