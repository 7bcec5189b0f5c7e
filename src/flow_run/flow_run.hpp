// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The flow of a run: the choice of its preconditioner, its steps and its checks.
#pragma once

#include <optional>

#include "core/communicator.hpp"
#include "flow_run/flow_files.hpp"
#include "flow_run/flow_restart.hpp"
#include "input/case.hpp"
#include "machine/machine_record.hpp"
#include "report/flow_record.hpp"
#include "report/progress.hpp"
#include "selection/memory.hpp"
#include "tuning/tuning_guard.hpp"

namespace nekbone_k {

/// What the run selected before.
struct FlowStrategies {
  Strategy vectors, scalars;  ///< exchanges of fields of three components and of one
  AllReduceStrategy all_reduce;
};

/// The run around a flow.
struct FlowConditions {
  const MachineRecord& machine;
  const MemoryBudget& memory;
  double began = 0;           ///< the wall_seconds() at which the job began
  double tuning_seconds = 0;  ///< budget for the V-cycle
  std::optional<FlowRestart> restart;
};

/// Runs the flow of a case on a space of its order. It selects the V-cycle for the pressure on the
/// first right-hand side, takes the steps, saves checkpoints, and compares with an exact solution
/// or a reference. If a step fails, it ends with a verdict. It also ends where FlowCheckpoints
/// stops it. Throws InputError on every rank if the checkpoint of a restart cannot be read.
/// Collective.
FlowRecord run_flow(const Communicator& comm, const Case& input, AssembledSpace& space,
                    const GeometricFactors& factors, const FlowStrategies& strategies,
                    const FlowConditions& conditions, TuningGuard& guard, Progress& progress,
                    FlowFiles& files);

}  // namespace nekbone_k
