// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Tuning that may take the choices of earlier runs.
#pragma once

#include <span>
#include <string>

#include "report/run_record.hpp"
#include "tuning/decision_cache.hpp"

namespace nekbone_k {

/// An exchange to tune, on a mesh with the partition of the run.
struct ExchangeToTune {
  std::string kind;  ///< of choice, such as "exchanges of levels"; see DecisionKey::kind
  const MeshSpec& mesh;
  const TunedField& field;
  TunerOptions options;
};

/// The conditions for which a choice for a field on this machine is valid. The same on every rank.
DecisionKey make_decision_key(const Case& input, const MeshSpec& mesh, const TunedField& field,
                              const MachineRecord& machine);

/// Tunes `exchange` or, in mode cached, takes the choice of an earlier run with the same key. Fills
/// in the tuning of `record`. Collective, with the same result on every rank.
///
/// Takes the earlier choice if it is still right and its cost, timed for at most 0.1 s, is at most
/// 1.5 times the earlier cost plus a tenth of the work that it overlaps. Otherwise calls tune() for
/// all strategies and sets `record.made` for keep_choices(). Only rank 0 reads and writes the
/// cache, and no failure of that ends the run.
void tune_or_replay(const Case& input, const ExchangeToTune& exchange, const MachineRecord& machine,
                    GatherScatter& gs, const OverlapWork& work, TuningGuard& guard,
                    OrderRecord& record);

/// The same for the all-reduce at the solver's order, with tune_all_reduce().
AllReduceRecord tune_or_replay(const Communicator& comm, const Case& input, const MeshSpec& mesh,
                               const TunerOptions& options, const MachineRecord& machine,
                               std::span<const AllReduceStrategy> strategies, TuningGuard& guard);

/// A partition or a V-cycle that an earlier run chose.
struct KeptChoice {
  std::string name;         ///< empty: there is none
  std::string note;         ///< where it comes from, or why there is none
  bool agreed = false;      ///< all ranks have the same key, so they may share a choice
  double cost_seconds = 0;  ///< in that run
};

/// The partition that an earlier run chose for the same case on the same machine. Collective; only
/// rank 0 reads the cache, as in tune_or_replay().
KeptChoice find_kept_grid(const Communicator& comm, const Case& input, const MachineRecord& machine,
                          int order);

/// Sets `grid.made` to the measured choice, for keep_choices(), and completes `grid.why`. `found`
/// is the result of find_kept_grid(). Not collective.
void make_grid_choice(const Case& input, const MachineRecord& machine, const KeptChoice& found,
                      GridRecord& grid);

/// The conditions for which the choice of a V-cycle is valid. `mesh` is that of the problem, with
/// the partition of the run. The same on every rank.
DecisionKey make_v_cycle_key(const Case& input, const MeshSpec& mesh, const MachineRecord& machine);

/// What an earlier run chose for `key`. Collective, as find_kept_grid().
KeptChoice find_kept_choice(const Communicator& comm, const Case& input, const DecisionKey& key);

/// Stores the choices of a run in the cache, after CG. It stores
/// - no choice if `unreliable`, the reason why timings are unreliable, is not empty;
/// - no choice that was wrong in CG, or slower than another;
/// - no choice of multigrid if CG or the flow did not pass.
///
/// Notes the outcome at each choice and returns a summary; empty without choices. Collective.
std::string keep_choices(const Communicator& comm, const std::string& unreliable,
                         RunRecord& record);

}  // namespace nekbone_k
