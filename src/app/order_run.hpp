/// @file
/// What a run does with one polynomial order.
#pragma once

#include <functional>
#include <vector>

#include "app/case.hpp"
#include "app/memory.hpp"
#include "app/progress.hpp"
#include "app/run_record.hpp"
#include "core/communicator.hpp"

namespace nekbone_k {

/// The strategies that the case wants tried, in its order.
std::vector<Strategy> chosen_strategies(const Case& input);

/// Numbers the mesh at `order`, plans its halo, tunes, and frees all of it again. Overlapped
/// strategies are timed under the real operator if that fits into `budget`, else under the on-rank
/// gather-scatter. Where the case asks for it, choices of earlier runs are taken. Collective.
OrderRecord tune_order(const Communicator& comm, const Case& input, const MachineRecord& machine,
                       int order, const MemoryBudget& budget, const TuningGuard& guard,
                       Progress& progress);

/// What CG communicates by.
struct SolveStrategies {
  Strategy exchange;
  std::vector<Strategy> other_exchanges;  ///< right ones that were not chosen, the best first
  AllReduceStrategy all_reduce;
};

/// Solves the case at solver.order by conjugate gradients, checks the result and then, where the
/// case asks for it, compares the exchange with the others that were not chosen, and deterministic
/// sums with ordinary ones. What goes wrong there must not cost the solve, so the record is handed
/// to `before_comparisons` before. Collective.
SolveRecord solve(const Communicator& comm, const Case& input, const SolveStrategies& strategies,
                  Progress& progress,
                  const std::function<void(const SolveRecord&)>& before_comparisons);

}  // namespace nekbone_k
