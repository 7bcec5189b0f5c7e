/// @file
/// What a run does with one polynomial order.
#pragma once

#include "app/case.hpp"
#include "app/memory.hpp"
#include "app/progress.hpp"
#include "app/run_record.hpp"
#include "core/communicator.hpp"

namespace nekbone_k {

/// Numbers the mesh at `order`, plans its halo, tunes, and frees all of it again. Overlapped
/// strategies are timed under the real operator if that fits into `budget`, else under the on-rank
/// gather-scatter. Collective.
OrderRecord tune_order(const Communicator& comm, const Case& input, int order,
                       const MemoryBudget& budget, Progress& progress);

/// Solves the case at solver.order by conjugate gradients that exchange by `strategy` and sum over
/// the ranks by `all_reduce`, and checks the result. Collective.
SolveRecord solve(const Communicator& comm, const Case& input, const Strategy& strategy,
                  const AllReduceStrategy& all_reduce, Progress& progress);

}  // namespace nekbone_k
