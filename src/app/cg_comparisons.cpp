// SPDX-License-Identifier: BSD-3-Clause
#include "app/cg_comparisons.hpp"

#include <algorithm>
#include <list>
#include <optional>
#include <tuple>

#include "core/errors.hpp"
#include "selection/summation_cost.hpp"
#include "solver/conjugate_gradients.hpp"
#include "solver/vector_ops.hpp"

namespace nekbone_k {
namespace {

/// Share of CG's time that the audit may take, if that exceeds the budget of a tuning stage.
constexpr double audit_share = 0.2;

/// Returns the result of `action`, or nothing if it throws UnavailableError on every rank. That
/// happens if another strategy cannot be created while CG holds its resources.
template <class Action>
auto unless_unavailable(const Action& action) -> std::optional<decltype(action())> {
  try {
    return action();
  } catch (const UnavailableError&) {
    return {};
  }
}

/// Iterations of CG for the audit. Overwrites the vectors. `current` returns the operator and the
/// vector operations.
template <class Current>
AuditedWork audited_cg(const CgProblem& cg, const Current& current) {
  return {[=, &cg] {
            // Apply A once, so that the strategy allocates its resources.
            std::get<0>(current()).apply(cg.b, cg.vectors.ap);
            Kokkos::deep_copy(cg.vectors.r, cg.b);
          },
          [=, &cg](int iterations) {
            const auto [a, ops] = current();
            conjugate_gradients(a, ops, cg.vectors, {iterations, 0});
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
class CgPerAllReduce {
 public:
  CgPerAllReduce(const CgProblem& cg, const SolveStrategies& strategies, TuningGuard& guard) {
    const auto add = [&](const AllReduceStrategy& sum) {
      m_candidates.emplace_back(guard, guarded_name(sum), [&] {
        return Operators{sum,
                         {cg.space, cg.geometry, cg.a.lambda(), sum},
                         fused_ops(cg.comm, cg.space, cg.inverse_diagonal, sum)};
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
  struct Operators {
    AllReduceStrategy sum;
    EllipticOperator a;
    FusedVectorOps ops;
  };
  std::list<Guarded<Operators>> m_candidates;  // a list, so that addresses stay valid
  const Operators* m_selected = nullptr;
};

class CgComparisons {
 public:
  CgComparisons(CgRun& run, const SolveStrategies& strategies, TuningGuard& guard)
      : m_run(run), m_cg(run.problem()), m_strategies(strategies), m_guard(guard) {}

  /// Iterations with deterministic and with ordinary sums, on the same vectors, because both number
  /// the DOFs equally. Nothing if the strategies cannot be created twice.
  std::optional<SummationCost> cost_of_determinism(double budget_seconds) {
    return unless_unavailable([&] {
      AssembledSpace ordinary(m_cg.comm, m_cg.space.mesh());
      guarded(m_guard, m_strategies.exchange.name,
              [&] { ordinary.gs().select(m_strategies.exchange); });
      const Guarded ordinary_a(m_guard, guarded_name(m_strategies.all_reduce), [&] {
        return EllipticOperator(ordinary, m_cg.geometry, m_cg.input.lambda,
                                m_strategies.all_reduce);
      });
      seconds_of(*ordinary_a, 1);  // warm up
      return compare_summations(
          m_cg.comm, [&](int iterations) { return seconds_of(m_cg.a, iterations); },
          [&](int iterations) { return seconds_of(*ordinary_a, iterations); }, budget_seconds);
    });
  }

  std::optional<Audit> audit_exchanges(double iteration_seconds, const AuditOptions& options) {
    return unless_unavailable([&] {
      return m_run.host().with_vector_ops([&](const auto& ops) {
        AuditedWork work = audited_cg(m_cg, [&] { return std::tie(m_cg.a, ops); });
        if (MultigridRun* const multigrid = m_run.multigrid())
          work.iterate = [=](int iterations) { multigrid->solve({iterations, 0}, {}); };
        return audit_choice(m_cg.comm, audited_exchanges(m_cg.space.gs(), m_strategies),
                            iteration_seconds, work, options, m_guard);
      });
    });
  }

  std::optional<Audit> audit_all_reduces(double iteration_seconds, const AuditOptions& options) {
    return unless_unavailable([&] {
      CgPerAllReduce summed(m_cg, m_strategies, m_guard);
      return audit_choice(m_cg.comm, summed.choices(), iteration_seconds,
                          audited_cg(m_cg, [&] { return summed.selected(); }), options, m_guard);
    });
  }

  /// CG with Jacobi to the same reduction as that of `record`. It gives up after twice the tuning
  /// budget, or after three times the set-up and the solve.
  JacobiComparison compare_with_jacobi(const SolveRecord& record) {
    const double enough = std::max(2 * m_cg.input.tuning.budget_seconds,
                                   3 * (record.solve_seconds + record.multigrid->setup_seconds));
    return guarded(m_guard, m_run.methods().in_use(), [&] {
      const FusedVectorOps ops =
          fused_ops(m_cg.comm, m_cg.space, m_cg.a.inverse_diagonal(), m_run.methods().all_reduce());
      const auto solve = [&](const CgOptions& options) {
        Kokkos::deep_copy(ExecutionSpace(), m_cg.vectors.r, m_cg.b);
        return timed_solve(m_cg.comm, [&] {
          return conjugate_gradients(m_cg.a, ops, m_cg.vectors, options,
                                     [&](int) { m_guard.go_on(); });
        });
      };
      constexpr int few = 5;
      solve({few, 0});  // warms up
      const double once = solve({few, 0}).seconds / few;
      const double most = std::clamp(enough / std::max(once, 1e-9), 1.0, 1e6);
      constexpr double attainable = 1e-15;
      const CgResult result =
          solve({static_cast<int>(most), std::max(record.residual / record.rhs_norm, attainable)});
      return JacobiComparison{result.iterations, result.seconds, result.converged};
    });
  }

 private:
  double seconds_of(const EllipticOperator& op, int iterations) const {
    Kokkos::deep_copy(m_cg.vectors.r, m_cg.b);
    return guarded(m_guard, m_run.methods().in_use(), [&] {
      const FusedVectorOps ops =
          fused_ops(m_cg.comm, op.space(), m_cg.inverse_diagonal, m_strategies.all_reduce);
      const CgResult cg = timed_solve(m_cg.comm, [&] {
        return conjugate_gradients(op, ops, m_cg.vectors, {iterations, 0},
                                   [&](int) { m_guard.go_on(); });
      });
      op.space().gs().check();
      return cg.seconds;
    });
  }

  CgRun& m_run;
  const CgProblem& m_cg;
  const SolveStrategies& m_strategies;
  TuningGuard& m_guard;
};

/// Seconds per iteration of CG with scalars on the host, which works with every strategy.
double host_seconds(const CgResult& cg, const CgTuning& methods) {
  double seconds = cg.seconds / cg.iterations;
  for (const CgMethodResult& candidate : methods.candidates)
    if (candidate.method.launch == CgLaunch::host && candidate.timing)
      seconds = candidate.timing->cost.median;
  return seconds;
}

}  // namespace

void compare(CgRun& run, const CgResult& cg, const SolveStrategies& strategies, TuningGuard& guard,
             const std::function<void(const SolveRecord&)>& before,
             const std::function<void(const char*)>& show_stage, SolveRecord& record) {
  CgComparisons comparisons(run, strategies, guard);
  const Case& input = run.problem().input;
  const auto begin = [&](const char* what) {
    before(record);
    show_stage(what);
  };
  const double tuning_budget = input.tuning.budget_seconds / 2;
  if (run.problem().space.is_deterministic()) {
    begin("comparing with ordinary sums");
    record.summation_cost = comparisons.cost_of_determinism(tuning_budget);
  }
  if (!input.audit) return;
  if (needs_gpu(record.method.launch) || record.strategy != strategies.exchange.name) {
    if (run.problem().comm.size() > 1 && !strategies.other_exchanges.empty())
      record.why_no_audit = "no other strategy can launch ahead of the host";
    return;
  }
  const AuditOptions options{.budget_seconds = std::max(tuning_budget, audit_share * cg.seconds),
                             .least_others = input.audit_others};
  const double iteration_seconds = host_seconds(cg, record.methods);
  if (!strategies.other_exchanges.empty()) {
    begin("comparing exchange strategies");
    record.audit = comparisons.audit_exchanges(iteration_seconds, options);
  }
  // Kokkos Kernels' products do not use these all-reduces.
  if (!strategies.other_all_reduces.empty() && input.vector_ops == VectorOps::fused &&
      !record.multigrid) {
    begin("comparing all-reduces");
    record.sum_audit = comparisons.audit_all_reduces(iteration_seconds, options);
  }
  if (record.multigrid) {
    begin("comparing multigrid with Jacobi");
    record.multigrid->jacobi = comparisons.compare_with_jacobi(record);
  }
}

}  // namespace nekbone_k
