// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The plan of a run, made before it allocates or measures anything.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "core/system.hpp"
#include "flow_run/flow_restart.hpp"
#include "input/case.hpp"
#include "report/run_record.hpp"
#include "selection/memory.hpp"

namespace nekbone_k {

/// The plan of a run. It does not change; results go into the RunRecord.
struct RunPlan {
  std::shared_ptr<const Case> input;   ///< shared with the RunRecord; never copied
  std::optional<FlowRestart> restart;  ///< if the flow continues from a checkpoint
  std::vector<TunedField> fields;      ///< in tuning order; the solver's order is last
  NodeLayout layout;
  GridRecord grid;  ///< the candidate process grids
  MemoryBudget budget;
  std::string separate_jobs;  ///< a warning that the launcher started several jobs, or empty
};

/// Pins in `input` what a restart keeps. Throws InputError if an environment variable or the
/// checkpoint is invalid, or if the build has no kernels for the order of a flow. Collective.
RunPlan make_run_plan(const Communicator& comm, Case input);

/// Throws InputError on every rank if a rank could have too many points to number at one of the
/// orders and process grids, or if there are none. Collective.
void require_countable(const Communicator& comm, const RunPlan& plan);

/// Throws InputError or MemoryError on every rank if the case is too large. Checks the memory of a
/// node or GPU, then the numbering, then the limits of a process. Collective.
void require_size(const Communicator& comm, const RunPlan& plan);

/// Throws InputError on every rank unless all elements have a positive Jacobian at every order.
/// Collective.
///
/// Kershaw's map has a kink in the middle of the box in y and z, where an element folds. An even
/// number of elements puts the kink between elements.
void require_no_inverted_elements(const Communicator& comm, const RunPlan& plan);

}  // namespace nekbone_k
