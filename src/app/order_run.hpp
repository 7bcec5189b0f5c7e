/// @file
/// What a run does with one polynomial order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/case.hpp"
#include "app/memory.hpp"
#include "app/progress.hpp"
#include "app/run_record.hpp"
#include "core/communicator.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {

/// The strategies that the case wants tried, in its order.
std::vector<Strategy> chosen_strategies(const Case& input);

/// What one polynomial order takes on this rank: its mesh, numbered, and the factors of A.
class Discretization {
 public:
  /// Numbers the mesh and plans its halo. Collective, as is its end.
  Discretization(const Communicator& comm, const Case& input, int order)
      : space(comm, BoxMesh(input.mesh, order, comm.size(), comm.rank()), input.summation) {}

  /// The factors; computed the first time. Not collective.
  const GeometricFactors& factors() {
    if (!m_factors) m_factors.emplace(space);
    return *m_factors;
  }

  AssembledSpace space;

 private:
  std::optional<GeometricFactors> m_factors;
};

/// What tuning an order leaves.
struct TunedOrder {
  OrderRecord record;
  std::unique_ptr<Discretization> discretization;
};

/// Sets `order` up and tunes it. Overlapped strategies are timed under the real operator if that
/// fits into `budget`, with its product summed over the ranks by `all_reduce` unless that is null,
/// else under the on-rank gather-scatter. Where the case asks for it, choices of earlier runs are
/// taken. Collective.
TunedOrder tune_order(const Communicator& comm, const Case& input, const MachineRecord& machine,
                      int order, const AllReduceStrategy* all_reduce, const MemoryBudget& budget,
                      const TuningGuard& guard, Progress& progress);

/// What CG communicates by.
struct SolveStrategies {
  Strategy exchange;
  std::vector<Strategy> other_exchanges;  ///< right ones that were not chosen, the best first
  AllReduceStrategy all_reduce;
  std::vector<AllReduceStrategy> other_all_reduces;  ///< as the exchanges
};

/// Solves the case on `discretization`, of solver.order, by conjugate gradients, once the exchange
/// was verified again as CG uses it (a wrong one gives way to the best other), checks the result
/// and then, where the case asks for it, compares the exchange with the others that were not
/// chosen, and deterministic sums with ordinary ones. What goes wrong there must not cost the
/// solve, so the record is handed to `before_comparisons` before. Collective.
SolveRecord solve(const Communicator& comm, const Case& input, Discretization& discretization,
                  SolveStrategies strategies, const TuningGuard& guard, Progress& progress,
                  const std::function<void(const SolveRecord&)>& before_comparisons);

}  // namespace nekbone_k
