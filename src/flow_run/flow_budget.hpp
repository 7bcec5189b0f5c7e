// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Caps the tuning of a flow to a share of its expected time. Nothing here is collective; results
/// are the same on every rank.
#pragma once

#include "input/case.hpp"
#include "machine/machine_record.hpp"
#include "report/run_record.hpp"

namespace nekbone_k {

/// The cap divided by this number is the budget of one exchange. Timing uses at most about nine
/// such budgets: one each for the process grid, vectors and scalars, and the rest for the
/// all-reduce and the V-cycle with its levels.
inline constexpr int tuning_parts = 10;

/// The smallest budget of an exchange, in s. With it, samples of all strategies in the minimum
/// number of rounds are long enough for the clock.
inline constexpr double least_tuning_budget = 0.05;

/// Steps that a flow takes after `done` of an earlier run, which ended at `time`. With flow.cfl,
/// estimated from a velocity of size 1 along each direction, to which the translation is added.
int expected_steps(const Case& input, int done, double time = 0);

/// The expected time of a step in s, from the unique DOFs of a component, the copy bandwidth of all
/// ranks together in B/s, and the launch of a kernel in s. It is the time of 600 doubles per DOF
/// and of 400 launches. Measured flows of order 7 take 0.8 to 1.4 times as long if solves need at
/// most two iterations (docs/tuning.md, Short flows).
double expected_step_seconds(double dofs, double copy_bandwidth, double launch_seconds);

/// The budget of an exchange in s under a cap of the whole tuning: `cap_seconds` / tuning_parts, at
/// least least_tuning_budget, and at most `most`, the budget without a cap.
double capped_budget(double cap_seconds, double most);

/// The budgets for the tuning of a flow that begins after `done` steps, at `time`. There is no cap
/// if the input gives a budget, in tuning mode cached, or if the bandwidth of `machine` is not
/// known.
FlowTuning plan_flow_tuning(const Case& input, const MachineRecord& machine, int done,
                            double time = 0);

/// The time in s that all tuning of a run with a flow took, with planning and verification.
double tuning_seconds(const RunRecord& run);

}  // namespace nekbone_k
