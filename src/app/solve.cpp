#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <list>
#include <tuple>

#include "app/order_run.hpp"
#include "app/problem.hpp"
#include "app/summation_cost.hpp"
#include "core/errors.hpp"
#include "core/machine.hpp"
#include "gs/verify.hpp"
#include "operators/checksum.hpp"
#include "operators/elliptic_operator.hpp"
#include "operators/null_space.hpp"
#include "solver/conjugate_gradients.hpp"
#include "solver/vector_ops.hpp"

namespace nekbone_k {
namespace {

/// Of CG's time, what the audit may take where that is more than a stage of tuning may.
constexpr double audit_share = 0.2;

/// What `action` returns, in which ranks communicate by the exchange and the sum of CG: either may
/// be what does not come back.
template <class Action>
auto communicating(const TuningGuard& guard, const SolveStrategies& strategies,
                   const Action& action) {
  return guarded(guard, strategies.exchange.name,
                 [&] { return guarded(guard, guarded_name(strategies.all_reduce), action); });
}

/// Selects the exchange or, where its sums are wrong as CG would use it, the best other one, which
/// takes its place; those that were wrong are `left_out`. Returns whether one is right. Throws
/// InternalError where one fails otherwise, as messages may still be on their way then.
bool select_right_exchange(GatherScatter& gs, SolveStrategies& strategies, const TuningGuard& guard,
                           std::vector<LeftOut>& left_out) {
  for (;;) {
    const std::string& name = strategies.exchange.name;
    const std::string wrong = guarded(guard, name, [&] {
      gs.select(strategies.exchange);
      std::string failure = verify_in_use(gs);
      if (!failure.empty() && !failure.starts_with("WRONG"))
        throw InternalError(
            fmt::format("{}, chosen to exchange by in CG, failed there: {}", name, failure));
      return failure;
    });
    if (wrong.empty()) return true;
    left_out.push_back({name, wrong});
    std::vector<Strategy>& others = strategies.other_exchanges;
    if (others.empty()) return false;
    strategies.exchange = others.front();
    others.erase(others.begin());
  }
}

/// ‖b - A x‖ and ‖(b - A x) - r‖, over owned DOFs.
struct ResidualCheck {
  double true_residual = 0, difference = 0;
};

/// Of `b` the null space is removed; ap is overwritten with A x. Throws as GatherScatter::check().
ResidualCheck check_residual(const Communicator& comm, const EllipticOperator& a,
                             const DeviceVector<double>& b, const CgVectors& v) {
  const AssembledSpace& space = a.space();
  if (a.is_singular()) remove_constants(comm, space, b);
  a.apply(v.x, v.ap);
  std::array<double, 2> squares{};
  Kokkos::parallel_reduce(
      "nekbone_k: true residual",
      Kokkos::RangePolicy<ExecutionSpace>(space.n_not_owned(), space.size()),
      KOKKOS_LAMBDA(const LocalIndex i, double& residual, double& difference) {
        const double r = b(i) - v.ap(i);
        residual += r * r;
        difference += (r - v.r(i)) * (r - v.r(i));
      },
      squares[0], squares[1]);
  comm.sum(squares);
  space.gs().check();
  return {std::sqrt(squares[0]), std::sqrt(squares[1])};
}

/// What to change where the error is above its bound.
std::string error_advice(const Case& input, const SolveRecord& record) {
  // A residual far below the error leaves the error to the mesh.
  const bool may_go_on = record.residual > 0.1 * *record.error * record.rhs_norm;
  const std::string advice = std::string(!may_go_on            ? "raise "
                                         : input.tolerance > 0 ? "lower solver.tolerance, or raise "
                                                               : "raise solver.iterations, ") +
                             "solver.order or mesh.elements";
  // No bound that lets so large an error pass would check anything.
  return *record.error < 0.1 ? advice + ", or verification.error_bound" : advice;
}

void judge(const Case& input, const ResidualCheck& check, SolveRecord& record) {
  const double agreement = record.rhs_norm > 0 ? check.difference / record.rhs_norm : 0;
  const auto fail = [&](std::string why) {
    record.passed = false;
    record.verdict = std::move(why);
  };
  record.passed = true;
  if (record.broke_down) {
    fail("the iteration broke down: NaN, infinity or a direction of no positive energy");
  } else if (!record.converged) {
    fail(fmt::format(
        "not converged to {:.1e} in {} iterations: residual {:.2e} of |b|; raise "
        "solver.iterations or solver.tolerance{}",
        input.tolerance, record.iterations, record.residual / record.rhs_norm,
        input.preconditioner == Preconditioner::jacobi ? ""
                                                       : ", or try solver.preconditioner jacobi"));
  } else if (!(agreement <= 1e-10)) {
    fail(fmt::format(
        "the residual recomputed as b - Ax differs from the iteration's by {:.1e} of |b|",
        agreement));
  } else if (input.tolerance > 0 && check.true_residual > 10 * input.tolerance * record.rhs_norm) {
    fail(
        fmt::format("not converged to {:.1e}: the iteration says so, but b - Ax is {:.1e} of |b|, "
                    "the least that double precision reaches here; use a solver.tolerance above "
                    "that",
                    input.tolerance, check.true_residual / record.rhs_norm));
  } else if (record.error && !(*record.error <= input.error_bound)) {
    fail(fmt::format("the error {:.2e} is above verification.error_bound {:.1e}: {}", *record.error,
                     input.error_bound, error_advice(input, record)));
  } else if (record.error) {
    record.verdict =
        fmt::format("error {:.2e} within the bound {:.1e}", *record.error, input.error_bound);
  } else {
    record.verdict = fmt::format("recomputed residual agrees to {:.1e} of |b|", agreement);
  }
}

FusedVectorOps fused_ops(const Communicator& comm, const AssembledSpace& space,
                         const DeviceVector<double>& inverse_diagonal,
                         const AllReduceStrategy& all_reduce) {
  std::optional<double> reproducible_terms;
  if (space.is_deterministic()) reproducible_terms = static_cast<double>(space.mesh().total_dofs());
  return FusedVectorOps(comm, space.range(), inverse_diagonal, all_reduce, reproducible_terms);
}

/// Iterations of `a`, which is deterministic, beside those of the same operator with ordinary sums,
/// on the same vectors: they number the same DOFs alike. Nothing where the strategies cannot be had
/// twice.
std::optional<SummationCost> cost_of_determinism(
    const Communicator& comm, const EllipticOperator& a, const GeometricFactors& geometry,
    const DeviceVector<double>& b, const DeviceVector<double>& inverse_diagonal, const CgVectors& v,
    const SolveStrategies& strategies, const TuningGuard& guard, double budget_seconds) {
  const auto seconds_of = [&](const EllipticOperator& op, int iterations) {
    AssembledSpace& space = op.space();
    Kokkos::deep_copy(v.r, b);
    std::function<void(const DeviceVector<double>&)> project;
    if (op.is_singular())
      project = [&](const DeviceVector<double>& r) { remove_constants(comm, space, r); };
    return communicating(guard, strategies, [&] {
      const CgResult cg = conjugate_gradients(
          comm, op, fused_ops(comm, space, inverse_diagonal, strategies.all_reduce), v,
          {iterations, 0}, project, [&](int) { guard.go_on(); });
      space.gs().check();
      return cg.seconds;
    });
  };
  try {
    AssembledSpace ordinary(comm, a.space().mesh());
    guarded(guard, strategies.exchange.name, [&] { ordinary.gs().select(strategies.exchange); });
    const Guarded made(guard, guarded_name(strategies.all_reduce), [&] {
      return EllipticOperator(ordinary, geometry, a.lambda(), strategies.all_reduce);
    });
    const EllipticOperator& ordinary_a = *made;
    seconds_of(ordinary_a, 1);  // touches memory and code for the first time
    return compare_summations(
        comm, [&](int iterations) { return seconds_of(a, iterations); },
        [&](int iterations) { return seconds_of(ordinary_a, iterations); }, budget_seconds);
  } catch (const UnavailableError&) {
    return {};
  }
}

/// What `action` returns; nothing if it throws UnavailableError, on every rank, as another strategy
/// cannot be had beside what CG holds.
template <class Action>
std::optional<Audit> unless_unavailable(const Action& action) {
  try {
    return action();
  } catch (const UnavailableError&) {
    return {};
  }
}

/// Iterations of CG for b on the vectors of a solution that is no longer wanted; `current` gives
/// the operator and the vector operations.
template <class Current>
AuditedWork audited_cg(const Communicator& comm, const DeviceVector<double>& b, const CgVectors& v,
                       const std::function<void(const DeviceVector<double>&)>& project,
                       const Current& current) {
  return {[=] {
            // With an application of A, in which a strategy makes what it needs.
            std::get<0>(current()).apply(b, v.ap);
            Kokkos::deep_copy(v.r, b);
          },
          [=, &comm](int iterations) {
            const auto [a, ops] = current();
            conjugate_gradients(comm, a, ops, v, {iterations, 0}, project);
          }};
}

std::vector<AuditedChoice> audited_exchanges(GatherScatter& gs, const SolveStrategies& strategies) {
  std::vector<AuditedChoice> choices;
  const auto add = [&](const Strategy& strategy) {
    choices.push_back({strategy.name, strategy.name, [&gs, strategy] { gs.select(strategy); }});
  };
  add(strategies.exchange);
  for (const Strategy& other : strategies.other_exchanges) add(other);
  return choices;
}

/// The same CG with each way to sum over the ranks, the one that was chosen first.
class SummedCg {
 public:
  SummedCg(const Communicator& comm, const EllipticOperator& a, const GeometricFactors& geometry,
           const DeviceVector<double>& inverse_diagonal, const SolveStrategies& strategies,
           const TuningGuard& guard) {
    const auto add = [&](const AllReduceStrategy& sum) {
      m_ways.emplace_back(guard, guarded_name(sum), [&] {
        return Way{sum,
                   {a.space(), geometry, a.lambda(), sum},
                   fused_ops(comm, a.space(), inverse_diagonal, sum)};
      });
    };
    add(strategies.all_reduce);
    for (const AllReduceStrategy& other : strategies.other_all_reduces) add(other);
    m_selected = &*m_ways.front();
  }

  std::vector<AuditedChoice> choices() {
    std::vector<AuditedChoice> choices;
    for (const auto& made : m_ways)
      choices.push_back({(*made).sum.name, guarded_name((*made).sum),
                         [this, way = &*made] { m_selected = way; }});
    return choices;
  }
  std::tuple<const EllipticOperator&, const FusedVectorOps&> selected() const {
    return std::tie(m_selected->a, m_selected->ops);
  }

 private:
  struct Way {
    AllReduceStrategy sum;
    EllipticOperator a;
    FusedVectorOps ops;
  };
  std::list<Guarded<Way>> m_ways;  // each stays where it is
  const Way* m_selected = nullptr;
};

}  // namespace

SolveRecord solve(const Communicator& comm, const Case& input, Discretization& discretization,
                  SolveStrategies strategies, const TuningGuard& guard, Progress& progress,
                  const std::function<void(const SolveRecord&)>& before_comparisons) {
  SolveRecord record;
  record.order = input.solver_order;
  record.tolerance = input.tolerance;
  progress.stage(fmt::format("order {}: setting up CG", record.order));
  AssembledSpace& space = discretization.space;
  record.elements = input.mesh.total_elements();
  record.total_dofs = space.mesh().total_dofs();
  record.total_local_points = record.elements * space.layout().points();
  const bool right = select_right_exchange(space.gs(), strategies, guard, record.left_out);
  const auto& [strategy, others, all_reduce, other_sums] = strategies;
  record.strategy = strategy.name;
  record.all_reduce = all_reduce.name;
  record.kernels_sum = input.vector_ops == VectorOps::kokkos_kernels;
  if (!right) {
    record.verdict = "no exchange is right as CG would use it, so CG was not begun";
    return record;
  }
  comm.barrier();
  const double begin = wall_seconds();
  const GeometricFactors& geometry = discretization.factors();
  const std::string sum = guarded_name(all_reduce);
  const Guarded made(guard, sum,
                     [&] { return EllipticOperator(space, geometry, input.lambda, all_reduce); });
  const EllipticOperator& a = *made;
  const Problem problem(input.problem, input.mesh, input.lambda);
  const CgVectors v{space.make_vector("x"), space.make_vector("r"), space.make_vector("p"),
                    space.make_vector("Ap")};
  DeviceVector<double> inverse_diagonal;
  // Kept, as it takes many sines: it is needed again once r is the residual.
  const DeviceVector<double> b = space.make_vector("b");
  communicating(guard, strategies, [&] {
    if (input.preconditioner == Preconditioner::jacobi) inverse_diagonal = a.inverse_diagonal();
    guard.go_on();
    problem.right_hand_side(space, geometry, b);
    Kokkos::deep_copy(v.r, b);
    space.gs().check();
  });
  std::function<void(const DeviceVector<double>&)> project;
  if (a.is_singular())
    project = [&](const DeviceVector<double>& r) { remove_constants(comm, space, r); };
  // The first application touches memory and code for the first time; it is not the solver's time.
  communicating(guard, strategies, [&] {
    a.apply(v.r, v.ap);
    Kokkos::fence("nekbone_k: solve set up");
  });
  record.setup_seconds = comm.max(wall_seconds() - begin);

  progress.stage(fmt::format("order {}: CG", record.order), input.iterations);
  int traffic = 0;
  const auto iterate = [&](const auto& ops) {
    traffic = ops.traffic();
    if (project) traffic += projection_traffic(space) + ops.products_traffic();
    return conjugate_gradients(comm, a, ops, v, {input.iterations, input.tolerance}, project,
                               [&](int iteration) {
                                 progress.update(iteration);
                                 guard.go_on();
                               });
  };
  const auto with_vector_ops = [&](const auto& action) {
    if (input.vector_ops == VectorOps::kokkos_kernels)
      return action(KokkosKernelsVectorOps(comm, space.range(), inverse_diagonal));
    const Guarded ops(guard, sum,
                      [&] { return fused_ops(comm, space, inverse_diagonal, all_reduce); });
    return action(*ops);
  };
  const CgResult cg = with_vector_ops([&](const auto& ops) {
    return communicating(guard, strategies, [&] {
      const CgResult result = iterate(ops);
      space.gs().check();
      return result;
    });
  });

  progress.stage("verifying the solution");
  record.iterations = cg.iterations;
  record.converged = cg.converged;
  record.broke_down = cg.broke_down;
  record.rhs_norm = cg.history.front();
  record.residual = cg.residual();
  record.history = cg.history;
  record.solve_seconds = cg.seconds;
  const ResidualCheck check =
      communicating(guard, strategies, [&] { return check_residual(comm, a, b, v); });
  record.true_residual = check.true_residual;
  if (a.is_singular()) remove_constants(comm, space, v.x);
  if (space.is_deterministic()) record.checksum = checksum(comm, space, v.x);
  if (problem.has_exact_solution()) {
    const SolutionError error = problem.error(comm, space, geometry, v.x, a.is_singular());
    record.error = error.max;
    record.error_l2 = error.l2;
  }

  const ElementLayout& layout = space.layout();
  const double iterations_per_second = cg.iterations / std::max(cg.seconds, 1e-12);
  record.flops = static_cast<double>(record.total_local_points) * (12.0 * layout.nq + 34) *
                 iterations_per_second;
  record.dofs_per_second = static_cast<double>(record.total_dofs) * iterations_per_second;
  const double bytes = comm.sum(a.least_bytes() + double{sizeof(double)} * traffic * space.size());
  record.bytes_per_dof = bytes / static_cast<double>(record.total_dofs);
  record.bandwidth = bytes * iterations_per_second;
  record.peak_memory = comm.sum(peak_memory());
  judge(input, check, record);
  if (space.is_deterministic() && record.passed && cg.iterations > 0) {
    before_comparisons(record);
    progress.stage(fmt::format("order {}: comparing with ordinary sums", record.order));
    record.summation_cost = cost_of_determinism(comm, a, geometry, b, inverse_diagonal, v,
                                                strategies, guard, input.tuning.budget_seconds / 2);
  }
  if (!input.audit || !record.passed || cg.iterations == 0) return record;
  const AuditOptions options{
      .budget_seconds = std::max(input.tuning.budget_seconds / 2, audit_share * cg.seconds),
      .least_others = input.audit_others};
  const double iteration_seconds = cg.seconds / cg.iterations;
  if (!others.empty()) {
    before_comparisons(record);
    progress.stage(fmt::format("order {}: comparing the choice with others", record.order));
    record.audit = unless_unavailable([&] {
      return with_vector_ops([&](const auto& ops) {
        return audit_choice(comm, audited_exchanges(space.gs(), strategies), iteration_seconds,
                            audited_cg(comm, b, v, project, [&] { return std::tie(a, ops); }),
                            options, guard);
      });
    });
  }
  // Kokkos Kernels' products do not go by these.
  if (!other_sums.empty() && input.vector_ops == VectorOps::fused) {
    before_comparisons(record);
    progress.stage(fmt::format("order {}: comparing the sums with others", record.order));
    record.sum_audit = unless_unavailable([&] {
      SummedCg summed(comm, a, geometry, inverse_diagonal, strategies, guard);
      return audit_choice(comm, summed.choices(), iteration_seconds,
                          audited_cg(comm, b, v, project, [&] { return summed.selected(); }),
                          options, guard);
    });
  }
  return record;
}

}  // namespace nekbone_k
