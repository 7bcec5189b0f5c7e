// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The flow of a run: the choice of its preconditioner, its steps and its checks.
#pragma once

#include <functional>

#include "core/communicator.hpp"
#include "input/case.hpp"
#include "machine/machine_record.hpp"
#include "report/flow_record.hpp"
#include "report/flow_series.hpp"
#include "report/progress.hpp"
#include "selection/memory.hpp"
#include "tuning/tuning_guard.hpp"

namespace nekbone_k {

/// Throws InputError on every rank if this build cannot compute the flow of a case, or if its
/// series cannot be written. Collective.
void require_flow(const Communicator& comm, const Case& input);

/// The reference that a case names, on every rank; nothing if it names none. Throws InputError on
/// every rank if it cannot be read. Collective.
std::optional<FlowReference> read_reference(const Communicator& comm, const Case& input);

/// The files of a flow.
struct FlowFiles {
  /// Opens the series on rank 0 and reads the reference. Throws InputError on every rank if
  /// require_flow() or read_reference() does. Collective.
  FlowFiles(const Communicator& comm, const Case& input);

  std::unique_ptr<SeriesFile> series;      ///< null on other ranks than 0
  std::optional<FlowReference> reference;  ///< on every rank
};

/// What the run selected before.
struct FlowStrategies {
  Strategy vectors, scalars;  ///< exchanges of fields of three components and of one
  AllReduceStrategy all_reduce;
};

/// Runs the flow of a case on a space of its order: sets it up, selects the V-cycle for the
/// pressure on the first right-hand side, takes the steps, and compares with what is known. Ends at
/// once, with a verdict, if a step fails. Collective.
FlowRecord run_flow(const Communicator& comm, const Case& input, AssembledSpace& space,
                    const GeometricFactors& factors, const FlowStrategies& strategies,
                    const MachineRecord& machine, const MemoryBudget& memory, TuningGuard& guard,
                    Progress& progress, FlowFiles& files);

}  // namespace nekbone_k
