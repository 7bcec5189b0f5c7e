// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Set-up, tuning and CG at one polynomial order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/run_plan.hpp"
#include "core/communicator.hpp"
#include "input/case.hpp"
#include "operators/geometric_factors.hpp"
#include "report/progress.hpp"
#include "report/run_record.hpp"
#include "selection/cg_methods.hpp"
#include "selection/memory.hpp"

namespace nekbone_k {

/// This rank's part of one polynomial order: the numbered mesh and the geometric factors of A.
class Discretization {
 public:
  /// Numbers the mesh and plans its halo exchange. The destructor is collective, too. Collective.
  Discretization(const Communicator& comm, const MeshSpec& mesh, int order, Summation summation)
      : space(comm, BoxMesh(mesh, order, comm.size(), comm.rank()), summation) {}

  /// Computes the factors at the first call. Not collective.
  const GeometricFactors& factors() {
    if (!m_factors) m_factors.emplace(space);
    return *m_factors;
  }

  AssembledSpace space;

 private:
  std::optional<GeometricFactors> m_factors;
};

/// Result of tuning an order.
struct TunedOrder {
  OrderRecord record;
  std::unique_ptr<Discretization> discretization;
};

/// Sets up the order of `field` on `mesh`, divided by the selected process grid, and tunes its
/// exchange with `options`. Overlapped strategies are timed with the operator if that fits into the
/// memory of the plan, else with the on-rank gather–scatter. The operator's dot product uses
/// `all_reduce`; null: no product. In tuning mode cached, may take the choice of an earlier run.
/// Collective.
TunedOrder tune_order(const Communicator& comm, const RunPlan& plan, const MeshSpec& mesh,
                      const TunedField& field, const TunerOptions& options,
                      const MachineRecord& machine, const AllReduceStrategy* all_reduce,
                      TuningGuard& guard, Progress& progress);

/// Inputs of the selection of the method of CG.
struct SolveConditions {
  const MachineRecord& machine;
  const MemoryBudget& memory;
  double sum_seconds = 0;  ///< of one all-reduce; 0 on one rank
};

/// Solves the case by CG on `discretization`, which must have order solver.order. Collective.
///
/// 1. Verifies the exchange with CG's operands. If it is wrong, takes the best other one.
/// 2. Selects the method of CG.
/// 3. Solves and checks the result.
/// 4. Calls `before_comparisons` with the record, so that a crash in step 5 does not lose it.
/// 5. If the case requests it, compares deterministic with ordinary sums, the exchange and the
///    all-reduce with others, and multigrid with Jacobi.
SolveRecord solve(const Communicator& comm, const Case& input, Discretization& discretization,
                  SolveStrategies strategies, const SolveConditions& conditions, TuningGuard& guard,
                  Progress& progress,
                  const std::function<void(const SolveRecord&)>& before_comparisons);

}  // namespace nekbone_k
