// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What a run takes from the checkpoint of an earlier one.
#pragma once

#include <optional>
#include <string>

#include "core/communicator.hpp"
#include "gs/strategy_table.hpp"
#include "input/case.hpp"
#include "mesh/partition.hpp"
#include "output/flow_checkpoint.hpp"
#include "report/multigrid_record.hpp"

namespace nekbone_k {

/// The choices of a run, for a checkpoint.
struct FlowChoices {
  Partition partition;
  std::string vectors, scalars, all_reduce;  ///< strategies
  MultigridMethod multigrid;
};

/// The texts of a checkpoint: the input and the choices of the run. Not collective.
CheckpointTexts checkpoint_texts(const Communicator& comm, const Case& input,
                                 const FlowChoices& choices);

/// A restart, as the checkpoint says.
struct FlowRestart {
  std::string file;
  int step = 0;
  double time = 0;
  /// Exchange strategies of fields of three components and of one; empty: the run tunes.
  std::string vectors, scalars;

  /// Makes the strategy of the earlier run the only candidate for a field, if it is a candidate
  /// that this build has. For vectors, its plain form.
  void pin(TunedField& field) const;
};

/// Reads the checkpoint that `input` names, if any. Pins the choices of that run in `input`, unless
/// `input` pins others: the V-cycle and, on the same number of ranks, the partition and the
/// strategies that this build has. Throws InputError on every rank if the file is no checkpoint of
/// the same mesh, order, initial velocity and order in time, or if it is one among the short steps
/// of another flow.dt. Collective.
std::optional<FlowRestart> plan_restart(const Communicator& comm, Case& input);

}  // namespace nekbone_k
