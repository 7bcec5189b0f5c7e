// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Selects the process grid by the cost model and by measuring the best few grids.
#pragma once

#include "core/communicator.hpp"
#include "report/progress.hpp"
#include "report/run_record.hpp"
#include "selection/memory.hpp"

namespace nekbone_k {

/// Lists the partitions that the case allows, sorted by predicted time at the solver's order, or at
/// the highest tuned order without a problem to solve. Marks those to measure and selects the
/// first. Collective.
GridRecord list_grids(const Communicator& comm, const Case& input);

/// The partitions that tune_grid() may select.
std::vector<Partition> selectable_partitions(const GridRecord& grid);

/// Measures the marked partitions for `seconds`, if there are several, and selects one by
/// judge_grids(). The idea is from cuDecomp (Romero et al. 2022). Collective, with the same result
/// on every rank.
///
/// - Times exchanges in interleaved rounds, with the case's first strategy that is available, right
///   and timeable.
/// - If none can be measured, the first partition stays selected, and `grid.why` says so.
/// - If planning takes long, measures only the partitions with the best predictions.
/// - In tuning mode cached, may take the choice of an earlier run. If that is not the first
///   partition, measures both and takes the choice if it is faster or they tie.
void tune_grid(const Communicator& comm, const Case& input, double seconds,
               const MachineRecord& machine, const MemoryBudget& budget, TuningGuard& guard,
               Progress& progress, GridRecord& grid);

/// Computes costs and ties from the timings' samples. Returns the position of the winner: the first
/// balanced candidate that ties with the fastest balanced one. At least one must have been timed.
///
/// Two candidates tie if the interval of the median of their paired differences contains 0, or if
/// their medians differ by at most 10 %. The tolerance keeps the grid the same from run to run
/// unless another is much faster.
int judge_grids(std::vector<GridCandidate>& candidates);

/// Why candidate `kept`, the choice of an earlier run, cannot be taken: another timed candidate
/// wins by judge_grids() and does not tie with it. Empty if it may be taken.
std::string objection_to_kept(std::vector<GridCandidate>& candidates, int kept);

}  // namespace nekbone_k
