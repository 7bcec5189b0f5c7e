// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <list>
#include <optional>
#include <tuple>

#include "app/order_run.hpp"
#include "app/solution_check.hpp"
#include "core/errors.hpp"
#include "core/region.hpp"
#include "core/system.hpp"
#include "machine/energy.hpp"
#include "operators/checksum.hpp"
#include "operators/elliptic_operator.hpp"
#include "operators/null_space.hpp"
#include "selection/cg_methods.hpp"
#include "selection/multigrid_run.hpp"
#include "selection/summation_cost.hpp"
#include "solver/conjugate_gradients.hpp"
#include "solver/problem.hpp"
#include "solver/vector_ops.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

/// Share of CG's time that the audit may take, if that exceeds the budget of a tuning stage.
constexpr double audit_share = 0.2;

/// Selects the first exchange that is right with CG's operands. Replaces strategies.exchange by the
/// best other one while it is wrong, and adds wrong ones to `left_out`. Returns whether one is
/// right. Throws InternalError if one fails otherwise, because messages may still be in flight.
bool select_right_exchange(GatherScatter& gs, SolveStrategies& strategies, TuningGuard& guard,
                           std::vector<LeftOut>& left_out) {
  for (;;) {
    const std::string& name = strategies.exchange.name;
    const std::string wrong = guarded(guard, name, [&] {
      gs.select(FieldKind{}, strategies.exchange);
      return wrong_sums(gs);
    });
    if (wrong.empty()) return true;
    left_out.push_back({name, wrong});
    std::vector<Strategy>& others = strategies.other_exchanges;
    if (others.empty()) return false;
    strategies.exchange = others.front();
    others.erase(others.begin());
  }
}

/// Returns the result of `action`, or nothing if it throws UnavailableError on every rank. That
/// happens if another strategy cannot be created while CG holds its resources.
template <class Action>
std::optional<Audit> unless_unavailable(const Action& action) {
  try {
    return action();
  } catch (const UnavailableError&) {
    return {};
  }
}

/// Iterations of CG for b, for the audit. Overwrites the vectors. `current` returns the operator
/// and the vector operations.
template <class Current>
AuditedWork audited_cg(const Communicator& comm, const DeviceVector<double>& b, const CgVectors& v,
                       const Current& current) {
  return {[=] {
            // Apply A once, so that the strategy allocates its resources.
            std::get<0>(current()).apply(b, v.ap);
            Kokkos::deep_copy(v.r, b);
          },
          [=, &comm](int iterations) {
            const auto [a, ops] = current();
            conjugate_gradients(comm, a, ops, v, {iterations, 0});
          }};
}

std::vector<AuditedChoice> audited_exchanges(GatherScatter& gs, const SolveStrategies& strategies) {
  std::vector<AuditedChoice> choices;
  const auto add = [&](const Strategy& strategy) {
    choices.push_back(
        {strategy.name, strategy.name, [&gs, strategy] { gs.select(FieldKind{}, strategy); }});
  };
  add(strategies.exchange);
  for (const Strategy& other : strategies.other_exchanges) add(other);
  return choices;
}

/// CG's operator and vector operations for each all-reduce, the selected one first.
class SummedCg {
 public:
  SummedCg(const Communicator& comm, const EllipticOperator& a, const GeometricFactors& geometry,
           const DeviceVector<double>& inverse_diagonal, const SolveStrategies& strategies,
           TuningGuard& guard) {
    const auto add = [&](const AllReduceStrategy& sum) {
      m_candidates.emplace_back(guard, guarded_name(sum), [&] {
        return Candidate{sum,
                         {a.space(), geometry, a.lambda(), sum},
                         fused_ops(comm, a.space(), inverse_diagonal, sum)};
      });
    };
    add(strategies.all_reduce);
    for (const AllReduceStrategy& other : strategies.other_all_reduces) add(other);
    m_selected = &*m_candidates.front();
  }

  std::vector<AuditedChoice> choices() {
    std::vector<AuditedChoice> choices;
    for (const auto& made : m_candidates)
      choices.push_back({(*made).sum.name, guarded_name((*made).sum),
                         [this, candidate = &*made] { m_selected = candidate; }});
    return choices;
  }
  std::tuple<const EllipticOperator&, const FusedVectorOps&> selected() const {
    return std::tie(m_selected->a, m_selected->ops);
  }

 private:
  struct Candidate {
    AllReduceStrategy sum;
    EllipticOperator a;
    FusedVectorOps ops;
  };
  std::list<Guarded<Candidate>> m_candidates;  // a list, so that addresses stay valid
  const Candidate* m_selected = nullptr;
};

/// The CG run of an order. solve() calls the members in the order below. All are collective.
class CgRun {
 public:
  /// Sets up the operator, the right-hand side and the vectors.
  CgRun(const Communicator& comm, const Case& input, Discretization& discretization,
        const SolveStrategies& strategies, TuningGuard& guard, Progress& progress)
      : m_comm(comm),
        m_input(input),
        m_strategies(strategies),
        m_exchange(&strategies.exchange),
        m_all_reduce(&strategies.all_reduce),
        m_guard(guard),
        m_progress(progress),
        m_begin(begin_together(comm)),
        m_space(discretization.space),
        m_geometry(discretization.factors()),
        m_a(guard, guarded_name(strategies.all_reduce),
            [&] {
              return EllipticOperator(m_space, m_geometry, input.lambda, strategies.all_reduce);
            }),
        m_problem(input.problem, input.mesh, input.lambda),
        m_v{m_space.make_vector("x"), m_space.make_vector("r"), m_space.make_vector("p"),
            m_space.make_vector("Ap")},
        m_b(m_space.make_vector("b")),
        m_inverse_diagonal(inverse_diagonal()),
        m_methods(
            {comm, input, m_space, a(), m_b, m_v, m_inverse_diagonal}, strategies,
            [this](const CgOptions& options, const std::function<void(int)>& show) {
              return host_cg(options, show);
            },
            guard) {
    if (input.vector_ops == VectorOps::fused)
      m_fused.emplace(guard, guarded_name(strategies.all_reduce), [&] {
        return fused_ops(comm, m_space, m_inverse_diagonal, strategies.all_reduce);
      });
    communicating([&] {
      m_problem.right_hand_side(m_space, m_geometry, m_b);
      if (a().is_singular()) remove_constants(m_comm, m_space, m_b);
      m_space.gs().check();
    });
    // The first application is slower, because it touches new memory and code. Do not time it.
    communicating([&] {
      a().apply(m_b, m_v.ap);
      Kokkos::fence("nekbone_k: solve set up");
    });
    m_setup_seconds = comm.max(wall_seconds() - m_begin);
  }

  /// Selects the method of CG, with a part of the tuning budget.
  CgTuning select_method(const SolveConditions& conditions) {
    CgTuning tuning = m_methods.tune(m_input.tuning.budget_seconds / 4, conditions.machine,
                                     conditions.sum_seconds, conditions.memory);
    m_exchange = &m_methods.exchange();
    m_all_reduce = &m_methods.all_reduce();
    return tuning;
  }
  const CgMethods& methods() const { return m_methods; }

  /// Selects the V-cycle; without it, CG has no multigrid.
  MultigridRecord select_multigrid(const SolveConditions& conditions) {
    m_multigrid.emplace(MultigridProblem{m_comm, m_input, m_space, m_geometry, a(), **m_fused, m_b,
                                         m_v, conditions.machine, guarded_name(*m_all_reduce)},
                        m_guard);
    return m_multigrid->select(m_input.tuning.budget_seconds, conditions.memory);
  }

  CgResult iterate() {
    EnergyMeter energy(m_comm);
    const Region region("solve");
    energy.begin();
    CgResult result = m_methods.solve({m_input.iterations, m_input.tolerance}, [&](int iteration) {
      m_progress.update(iteration);
      energy.go_on();
    });
    m_energy = energy.end();
    return result;
  }

  /// Records the result and the performance of `cg`.
  void note(const CgResult& cg, SolveRecord& record) const {
    record.iterations = cg.iterations;
    record.converged = cg.converged;
    record.broke_down = cg.broke_down;
    record.rhs_norm = cg.history.front();
    record.residual = cg.residual();
    record.history = cg.history;
    record.setup_seconds = m_setup_seconds;
    record.solve_seconds = cg.seconds;
    record.energy = m_energy;
    const double iterations_per_second = cg.iterations / std::max(cg.seconds, 1e-12);
    record.flops = static_cast<double>(record.total_local_points) *
                   (12.0 * m_space.layout().nq + 34) * iterations_per_second;
    record.dofs_per_second = static_cast<double>(record.total_dofs) * iterations_per_second;
    const int traffic = m_methods.traffic() > 0 ? m_methods.traffic() : host_traffic();
    const double bytes =
        m_comm.sum(a().least_bytes() + double{sizeof(double)} * traffic * m_space.size() +
                   (m_multigrid ? m_multigrid->least_bytes() : 0));
    record.bytes_per_dof = bytes / static_cast<double>(record.total_dofs);
    record.bandwidth = bytes * iterations_per_second;
  }

  /// Recomputes the residual, computes the checksum and, if the solution is known, the error. Sets
  /// the verdict.
  void verify(SolveRecord& record) {
    const ResidualCheck check =
        communicating([&] { return check_residual(m_comm, a(), m_b, m_v); });
    record.true_residual = check.true_residual;
    if (a().is_singular()) remove_constants(m_comm, m_space, m_v.x);
    if (m_space.is_deterministic()) record.checksum = checksum(m_comm, m_space, m_v.x);
    if (m_problem.has_exact_solution()) {
      const SolutionError error =
          m_problem.error(m_comm, m_space, m_geometry, m_v.x, a().is_singular());
      record.error = error.max;
      record.error_l2 = error.l2;
    }
    record.peak_memory = m_comm.sum(peak_memory());
    judge(m_input, check, record);
  }

  /// Compares iterations with deterministic and with ordinary sums, on the same vectors, because
  /// both number the DOFs equally. Returns nothing if the strategies cannot be created twice.
  /// Overwrites the solution, like the members below.
  std::optional<SummationCost> cost_of_determinism(double budget_seconds) {
    try {
      AssembledSpace ordinary(m_comm, m_space.mesh());
      guarded(m_guard, m_strategies.exchange.name,
              [&] { ordinary.gs().select(m_strategies.exchange); });
      const Guarded made(m_guard, guarded_name(m_strategies.all_reduce), [&] {
        return EllipticOperator(ordinary, m_geometry, m_input.lambda, m_strategies.all_reduce);
      });
      const EllipticOperator& ordinary_a = *made;
      seconds_of(ordinary_a, 1);  // warm up
      return compare_summations(
          m_comm, [&](int iterations) { return seconds_of(a(), iterations); },
          [&](int iterations) { return seconds_of(ordinary_a, iterations); }, budget_seconds);
    } catch (const UnavailableError&) {
      return {};
    }
  }

  /// Compares the exchange with the others.
  std::optional<Audit> audit_exchanges(double iteration_seconds, const AuditOptions& options) {
    return unless_unavailable([&] {
      return with_vector_ops([&](const auto& ops) {
        AuditedWork work = audited_cg(m_comm, m_b, m_v, [&] { return std::tie(a(), ops); });
        if (m_multigrid)
          work.iterate = [&](int iterations) { m_multigrid->solve({iterations, 0}, {}); };
        return audit_choice(m_comm, audited_exchanges(m_space.gs(), m_strategies),
                            iteration_seconds, work, options, m_guard);
      });
    });
  }

  /// CG with Jacobi to the same reduction as that of `record`, for comparison with multigrid. It
  /// gives up after twice the tuning budget, or after three times the set-up and the solve.
  JacobiComparison compare_with_jacobi(const SolveRecord& record) {
    const double enough = std::max(2 * m_input.tuning.budget_seconds,
                                   3 * (record.solve_seconds + record.multigrid->setup_seconds));
    return communicating([&] {
      const FusedVectorOps ops = fused_ops(m_comm, m_space, a().inverse_diagonal(), *m_all_reduce);
      const auto solve = [&](const CgOptions& options) {
        Kokkos::deep_copy(ExecutionSpace(), m_v.r, m_b);
        return conjugate_gradients(m_comm, a(), ops, m_v, options, [&](int) { m_guard.go_on(); });
      };
      constexpr int few = 5;
      solve({few, 0});  // warms up
      const double once = m_comm.max(solve({few, 0}).seconds) / few;
      const double most = std::clamp(enough / std::max(once, 1e-9), 1.0, 1e6);
      constexpr double attainable = 1e-15;
      const CgResult result =
          solve({static_cast<int>(most), std::max(record.residual / record.rhs_norm, attainable)});
      return JacobiComparison{result.iterations, m_comm.max(result.seconds), result.converged};
    });
  }

  /// Compares the all-reduce with the others.
  std::optional<Audit> audit_all_reduces(double iteration_seconds, const AuditOptions& options) {
    return unless_unavailable([&] {
      SummedCg summed(m_comm, a(), m_geometry, m_inverse_diagonal, m_strategies, m_guard);
      return audit_choice(m_comm, summed.choices(), iteration_seconds,
                          audited_cg(m_comm, m_b, m_v, [&] { return summed.selected(); }), options,
                          m_guard);
    });
  }

 private:
  static double begin_together(const Communicator& comm) {
    comm.barrier();
    return wall_seconds();
  }

  const EllipticOperator& a() const { return *m_a; }

  /// Empty without a preconditioner.
  DeviceVector<double> inverse_diagonal() const {
    if (m_input.preconditioner != Preconditioner::jacobi) return {};
    return communicating([&] { return a().inverse_diagonal(); });
  }

  /// Classic CG with scalars on the host or, with multigrid, flexible CG.
  CgResult host_cg(const CgOptions& options, const std::function<void(int)>& progress) {
    if (m_multigrid) return m_multigrid->solve(options, progress);
    Kokkos::deep_copy(m_v.r, m_b);
    return with_vector_ops([&](const auto& ops) {
      return conjugate_gradients(m_comm, a(), ops, m_v, options, progress);
    });
  }
  /// Its traffic; see CgMethods::traffic().
  int host_traffic() const {
    if (m_multigrid) return flexible_traffic;
    return with_vector_ops([](const auto& ops) { return ops.traffic(); });
  }

  /// Calls `action` under guard of the exchange and the all-reduce in use, because either may not
  /// return.
  template <class Action>
  std::invoke_result_t<Action> communicating(const Action& action) const {
    return guarded_cg(m_guard, *m_exchange, *m_all_reduce, action);
  }

  /// Calls `action` with the vector operations of the case.
  template <class Action>
  std::invoke_result_t<Action, const FusedVectorOps&> with_vector_ops(const Action& action) const {
    if (m_fused) return action(**m_fused);
    return action(KokkosKernelsVectorOps(m_comm, m_space.range(), m_inverse_diagonal));
  }

  double seconds_of(const EllipticOperator& op, int iterations) const {
    Kokkos::deep_copy(m_v.r, m_b);
    return communicating([&] {
      const CgResult cg = conjugate_gradients(
          m_comm, op, fused_ops(m_comm, op.space(), m_inverse_diagonal, m_strategies.all_reduce),
          m_v, {iterations, 0}, [&](int) { m_guard.go_on(); });
      op.space().gs().check();
      return cg.seconds;
    });
  }

  const Communicator& m_comm;
  const Case& m_input;
  const SolveStrategies& m_strategies;
  const Strategy* m_exchange;  // in use
  const AllReduceStrategy* m_all_reduce;
  TuningGuard& m_guard;
  Progress& m_progress;
  double m_begin, m_setup_seconds = 0;
  EnergyRecord m_energy;  ///< of iterate()
  AssembledSpace& m_space;
  const GeometricFactors& m_geometry;
  Guarded<EllipticOperator> m_a;
  Problem m_problem;
  CgVectors m_v;
  DeviceVector<double>
      m_b;  ///< right-hand side, kept for check_residual() because recomputing it is slow
  DeviceVector<double> m_inverse_diagonal;
  CgMethods m_methods;
  std::optional<Guarded<FusedVectorOps>> m_fused;  ///< empty with Kokkos Kernels
  std::optional<MultigridRun> m_multigrid;         ///< empty with another preconditioner
};

}  // namespace

SolveRecord solve(const Communicator& comm, const Case& input, Discretization& discretization,
                  SolveStrategies strategies, const SolveConditions& conditions, TuningGuard& guard,
                  Progress& progress,
                  const std::function<void(const SolveRecord&)>& before_comparisons) {
  SolveRecord record;
  record.order = input.solver_order;
  record.tolerance = input.tolerance;
  const auto stage = [&](const char* what) {
    progress.stage(fmt::format("order {}: {}", record.order, what));
  };
  stage("setting up CG");
  const AssembledSpace& space = discretization.space;
  record.elements = input.mesh.total_elements();
  record.total_dofs = space.mesh().total_dofs();
  record.total_local_points = record.elements * space.layout().points();
  const bool right =
      select_right_exchange(discretization.space.gs(), strategies, guard, record.left_out);
  record.strategy = strategies.exchange.name;
  record.all_reduce = strategies.all_reduce.name;
  record.kernels_sum = input.vector_ops == VectorOps::kokkos_kernels;
  if (!right) {
    record.verdict = "no exchange is right as CG would use it, so CG was not begun";
    return record;
  }
  CgRun run(comm, input, discretization, strategies, guard, progress);
  stage("selecting the method of CG");
  record.methods = run.select_method(conditions);
  record.method = run.methods().method();
  record.host_work = run.methods().host_work();
  record.strategy = run.methods().exchange().name;
  record.all_reduce = run.methods().all_reduce().name;
  if (input.preconditioner == Preconditioner::multigrid) {
    stage("selecting the V-cycle");
    record.multigrid = run.select_multigrid(conditions);
    if (record.multigrid->selected() == nullptr) {
      record.verdict = fmt::format(
          "no V-cycle helps, the default because {}; try solver.multigrid.precision double, "
          "another solver.multigrid.smoother, or solver.preconditioner jacobi",
          record.multigrid->candidates.front().failure);
      return record;
    }
  }

  progress.stage(fmt::format("order {}: CG", record.order), input.iterations);
  const CgResult cg = run.iterate();

  progress.stage("verifying the solution");
  run.note(cg, record);
  run.verify(record);
  if (!record.passed || cg.iterations == 0) return record;

  const double tuning_budget = input.tuning.budget_seconds / 2;
  if (space.is_deterministic()) {
    before_comparisons(record);
    stage("comparing with ordinary sums");
    record.summation_cost = run.cost_of_determinism(tuning_budget);
  }
  if (!input.audit) return record;
  const AuditOptions options{.budget_seconds = std::max(tuning_budget, audit_share * cg.seconds),
                             .least_others = input.audit_others};
  if (record.method.launch == CgLaunch::graph || record.strategy != strategies.exchange.name) {
    if (comm.size() > 1 && !strategies.other_exchanges.empty())
      record.why_no_audit = "no other strategy can launch ahead of the host";
    return record;
  }
  // The audit runs CG with scalars on the host, which works with every strategy.
  double iteration_seconds = cg.seconds / cg.iterations;
  for (const CgMethodResult& candidate : record.methods.candidates)
    if (candidate.method.launch == CgLaunch::host && candidate.timing)
      iteration_seconds = candidate.timing->cost.median;
  if (!strategies.other_exchanges.empty()) {
    before_comparisons(record);
    stage("comparing the choice with others");
    record.audit = run.audit_exchanges(iteration_seconds, options);
  }
  // Kokkos Kernels' products do not use these all-reduces.
  if (!strategies.other_all_reduces.empty() && input.vector_ops == VectorOps::fused &&
      !record.multigrid) {
    before_comparisons(record);
    stage("comparing the sums with others");
    record.sum_audit = run.audit_all_reduces(iteration_seconds, options);
  }
  if (record.multigrid) {
    before_comparisons(record);
    stage("comparing multigrid with Jacobi");
    record.multigrid->jacobi = run.compare_with_jacobi(record);
  }
  return record;
}

}  // namespace nekbone_k
