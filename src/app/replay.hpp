/// @file
/// Tuning that begins with what earlier runs chose.
#pragma once

#include <string>

#include "app/decision_cache.hpp"
#include "app/run_record.hpp"

namespace nekbone_k {

/// What the choice at `order` holds for, on this machine. The same on every rank.
DecisionKey make_decision_key(const Case& input, const MachineRecord& machine, int order);

/// tune() as the case asks for: in mode cached a choice of an earlier run for the same key is taken
/// if it still is right and, timed for a tenth of a second at most, costs no more than half as much
/// again as it did and a tenth of the work that it hides behind; else all strategies are tuned and
/// the choice kept. Fills in what `record` says of tuning. Collective, with the same result on
/// every rank; rank 0 alone reads and writes the file, and no failure of that ends the run.
void tune_or_replay(const Case& input, const MachineRecord& machine, GatherScatter& gs,
                    std::span<const Strategy> strategies, const OverlapWork& work,
                    const TuningGuard& guard, OrderRecord& record);

/// tune_all_reduce() in the same way, for the sums of the solver's order.
AllReduceRecord tune_or_replay(const Communicator& comm, const Case& input,
                               const MachineRecord& machine,
                               std::span<const AllReduceStrategy> strategies,
                               const TuningGuard& guard);

/// A partition that was chosen by an earlier run.
struct KeptGrid {
  std::string name;     ///< empty: there is none
  std::string note;     ///< in words, where it is from, or why there is none
  bool agreed = false;  ///< the ranks may share a choice
};

/// What an earlier run chose for the same case, whatever its partition, on the same machine.
/// Collective; otherwise as tune_or_replay().
KeptGrid find_kept_grid(const Communicator& comm, const Case& input, const MachineRecord& machine,
                        int order);

/// Keeps the choice of `grid` in place of what was `found`; returns what came of it, in words.
/// Collective.
std::string keep_grid(const Communicator& comm, const Case& input, const MachineRecord& machine,
                      const GridRecord& grid, const KeptGrid& found);

}  // namespace nekbone_k
