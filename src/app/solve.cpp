// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "app/cg_comparisons.hpp"
#include "app/cg_run.hpp"
#include "app/order_run.hpp"
#include "selection/cg_methods.hpp"

namespace nekbone_k {
namespace {

/// Selects the first exchange that is right with CG's operands. Replaces strategies.exchange by the
/// best other one while it is wrong, and adds wrong ones to `excluded`. Returns whether one is
/// right. Throws InternalError if one fails otherwise, because messages may still be in flight.
bool select_right_exchange(GatherScatter& gs, SolveStrategies& strategies, TuningGuard& guard,
                           std::vector<ExcludedInCg>& excluded) {
  for (;;) {
    const std::string& name = strategies.exchange.name;
    const std::string wrong = guarded(guard, name, [&] {
      gs.select(FieldKind{}, strategies.exchange);
      return wrong_sums(gs);
    });
    if (wrong.empty()) return true;
    excluded.push_back({name, wrong});
    std::vector<Strategy>& others = strategies.other_exchanges;
    if (others.empty()) return false;
    strategies.exchange = others.front();
    others.erase(others.begin());
  }
}

/// A record with the case and the strategies, but no result yet.
SolveRecord make_record(const Case& input, const AssembledSpace& space,
                        const SolveStrategies& strategies) {
  SolveRecord record;
  record.order = input.solver_order;
  record.tolerance = input.tolerance;
  record.elements = input.mesh.total_elements();
  record.total_dofs = space.mesh().total_dofs();
  record.total_local_points = record.elements * space.layout().points();
  record.kernels_sum = input.vector_ops == VectorOps::kokkos_kernels;
  record.strategy = strategies.exchange.name;
  record.all_reduce = strategies.all_reduce.name;
  return record;
}

/// Selects the method of CG.
void select_method(CgRun& run, const SolveConditions& conditions, SolveRecord& record) {
  record.methods = run.select_method(conditions);
  record.method = run.methods().method();
  record.host_work = run.methods().host_work();
  record.strategy = run.methods().exchange().name;
  record.all_reduce = run.methods().all_reduce().name;
}

/// Selects the V-cycle. Returns whether there is one; if not, the record says why.
bool select_v_cycle(CgRun& run, const SolveConditions& conditions, SolveRecord& record) {
  record.multigrid = run.select_multigrid(conditions);
  if (record.multigrid->selected() != nullptr) return true;
  record.verdict = fmt::format(
      "no V-cycle converges; the default: {}; try solver.multigrid.precision double, "
      "another solver.multigrid.smoother, or solver.preconditioner jacobi",
      record.multigrid->candidates.front().failure);
  return false;
}

}  // namespace

SolveRecord solve(const Communicator& comm, const Case& input, Discretization& discretization,
                  SolveStrategies strategies, const SolveConditions& conditions, TuningGuard& guard,
                  Progress& progress,
                  const std::function<void(const SolveRecord&)>& before_comparisons) {
  const auto stage = [&](const char* what) {
    progress.stage(fmt::format("order {}: {}", input.solver_order, what));
  };
  stage("setting up CG");
  std::vector<ExcludedInCg> excluded;
  const bool right = select_right_exchange(discretization.space.gs(), strategies, guard, excluded);
  SolveRecord record = make_record(input, discretization.space, strategies);
  record.excluded = std::move(excluded);
  if (!right) {
    record.verdict =
        "every exchange strategy is WRONG with CG's vectors, so CG did not start; run nekbone-k "
        "doctor";
    return record;
  }
  CgRun run(comm, input, discretization, strategies, guard, progress);
  stage("selecting the method of CG");
  select_method(run, conditions, record);
  if (input.preconditioner == Preconditioner::multigrid) {
    stage("selecting the V-cycle");
    if (!select_v_cycle(run, conditions, record)) return record;
  }
  progress.stage(fmt::format("order {}: CG", record.order), input.iterations);
  const CgResult cg = run.iterate();
  progress.stage("verifying the solution");
  run.note(cg, record);
  run.verify(record);
  if (record.passed && cg.iterations > 0)
    compare(run, cg, strategies, guard, before_comparisons, stage, record);
  return record;
}

}  // namespace nekbone_k
