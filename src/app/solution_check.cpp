// SPDX-License-Identifier: BSD-3-Clause
#include "app/solution_check.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace nekbone_k {

ResidualCheck check_residual(const Communicator& comm, const EllipticOperator& a,
                             const DeviceVector<double>& b, const CgVectors& v) {
  const AssembledSpace& space = a.space();
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

namespace {

/// Advice if the error exceeds its bound.
std::string error_advice(const Case& input, const SolveRecord& record) {
  // If the residual is far below the error, the error comes from the mesh.
  const bool may_go_on = record.residual > 0.1 * *record.error * record.rhs_norm;
  const std::string advice = std::string(!may_go_on            ? "raise "
                                         : input.tolerance > 0 ? "lower solver.tolerance, or raise "
                                                               : "raise solver.iterations, ") +
                             "solver.order or mesh.elements";
  // Do not advise a bound so high that it checks nothing.
  return *record.error < 0.1 ? advice + ", or verification.error_bound" : advice;
}

}  // namespace

void judge(const Case& input, const ResidualCheck& check, SolveRecord& record) {
  const double agreement = record.rhs_norm > 0 ? check.difference / record.rhs_norm : 0;
  const auto fail = [&](std::string why) {
    record.passed = false;
    record.verdict = std::move(why);
  };
  record.passed = true;
  if (record.rhs_norm == 0) {
    fail(
        "the right-hand side is 0 at every DOF, so nothing was solved: raise solver.order or "
        "mesh.elements");
  } else if (record.broke_down) {
    fail(std::string("the iteration broke down: NaN, infinity or a direction of no positive "
                     "energy") +
         (input.preconditioner == Preconditioner::multigrid
              ? "; try solver.multigrid.precision double, another solver.multigrid.smoother, or "
                "solver.preconditioner jacobi"
              : ""));
  } else if (!record.converged) {
    fail(fmt::format(
        "not converged to {:.1e} in {} iterations: residual {:.2e} of |b|; raise "
        "solver.iterations or solver.tolerance{}",
        input.tolerance, record.iterations, record.residual / record.rhs_norm,
        input.preconditioner == Preconditioner::none ? ", or try solver.preconditioner jacobi"
                                                     : ""));
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

}  // namespace nekbone_k
