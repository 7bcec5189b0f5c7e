/// @file
/// How the elements are divided among the ranks: modelled, and the best few measured.
#pragma once

#include "app/memory.hpp"
#include "app/progress.hpp"
#include "app/run_record.hpp"
#include "core/communicator.hpp"

namespace nekbone_k {

/// The partitions that the case leaves to choose from, by the model at the order that is solved at,
/// or else the highest that is tuned; which of them to measure; the first is selected. Collective.
GridRecord list_grids(const Communicator& comm, const Case& input);

/// The partitions that tune_grid() may select.
std::vector<Partition> selectable_partitions(const GridRecord& grid);

/// Measures the partitions to be tried, where there are several: their exchanges by the first
/// strategy of the case that is available, is right and can be timed, in interleaved rounds, and
/// selects as judge_grids() says. Where they cannot be measured, the first stays selected, and
/// `grid.why` says so; where planning takes long, only the best by the model are. Where the case
/// asks for it, choices of earlier runs are taken, but one that is not the first is measured beside
/// the first, which may not be faster. The idea is cuDecomp's (Romero et al. 2022). Collective,
/// with the same result on every rank.
void tune_grid(const Communicator& comm, const Case& input, const MachineRecord& machine,
               const MemoryBudget& budget, const TuningGuard& guard, Progress& progress,
               GridRecord& grid);

/// Fills in the rest from the timings' samples and returns the position of the winner: of the
/// balanced ones that tie with the fastest of them the first by the model. They tie where the
/// interval of the median of their paired differences contains 0, or their medians are within a
/// tenth of each other, so that a run is divided as the last was unless there is much to gain. At
/// least one balanced candidate has been timed.
int judge_grids(std::vector<GridCandidate>& candidates);

/// Why candidate `kept`, the choice of an earlier run, is not taken: another one of those that have
/// been timed wins and does not tie with it (judge_grids). Empty if it may be taken.
std::string objection_to_kept(std::vector<GridCandidate>& candidates, int kept);

}  // namespace nekbone_k
