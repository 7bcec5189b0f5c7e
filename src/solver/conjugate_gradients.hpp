/// @file
/// Preconditioned conjugate gradients on assembled vectors.
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <vector>

#include "core/communicator.hpp"
#include "solver/vector_ops.hpp"

namespace nekbone_k {

/// When to stop.
struct CgOptions {
  int iterations = 100;  ///< at most; exactly with tolerance 0
  double tolerance = 0;  ///< relative to ‖b‖
};

struct CgResult {
  int iterations = 0;
  bool converged = false;  ///< ‖r‖ <= tolerance ‖b‖; always true with tolerance 0 unless broken
  bool broke_down = false;      ///< pᵀ A p <= 0, r·z < 0, or a NaN or infinity
  std::vector<double> history;  ///< ‖r‖ before the first iteration and after each
  double seconds = 0;           ///< slowest rank

  double residual() const { return history.back(); }
};

/// A symmetric positive operator: apply(p, ap, before) calls before(begin, end) for ranges of
/// entries, so that each that is not padding has its turn once before it is read, stores A p and
/// returns pᵀ A p, the same on every rank.
template <class Op>
concept SymmetricOperator = requires(const Op& a, const DeviceVector<double>& v,
                                     void (*before)(LocalIndex begin, LocalIndex end)) {
  { a.apply(v, v, before) } -> std::convertible_to<double>;
};

/// The vectors of one solve: x is the solution, r comes in as b and ends as the residual.
struct CgVectors {
  DeviceVector<double> x, r, p, ap;
};

/// Solves A x = b from x = 0 (Hestenes and Stiefel 1952, with a preconditioner). Two all-reduces an
/// iteration, by operator and vector operations: pᵀ A p, and r·r with r·z in one message.
/// `project`, where given, removes the null space from a vector (collective); it is applied to b
/// and, so that rounding cannot bring the null space back, to every residual. `progress` is called
/// after every iteration with its number. Collective.
template <SymmetricOperator Op, class VectorOps>
CgResult conjugate_gradients(const Communicator& comm, const Op& a, const VectorOps& ops,
                             const CgVectors& v, const CgOptions& options,
                             const std::function<void(const DeviceVector<double>&)>& project = {},
                             const std::function<void(int)>& progress = {}) {
  CgResult result;
  comm.barrier();
  const double begin = wall_seconds();

  if (project) project(v.r);
  ResidualProducts products = ops.products(v.r);
  Kokkos::deep_copy(ExecutionSpace(), v.x, 0.0);
  Kokkos::deep_copy(ExecutionSpace(), v.p, 0.0);
  // Of an iteration, x += alpha p and p = z + beta p wait until the next one reads p, as the
  // operator can then do both while an entry is in a cache.
  double alpha = 0, beta = 0;
  const auto update = [&](LocalIndex first, LocalIndex last) {
    ops.update_solution_and_direction(alpha, beta, v.r, v.x, v.p, first, last);
  };
  result.history.push_back(std::sqrt(products.r_dot_r));
  const double target = options.tolerance * result.history.front();
  result.broke_down = !std::isfinite(result.history.front());
  // Far past convergence the products underflow and their ratios mean nothing.
  const double negligible = 1e-200 * std::abs(products.r_dot_z);

  while (!result.broke_down && result.iterations < options.iterations) {
    if (options.tolerance > 0 && result.residual() <= target) break;
    const double p_dot_ap = a.apply(v.p, v.ap, update);
    // A residual of (almost) zero leaves nothing to do but count: alpha and beta are then 0.
    const bool done = std::abs(products.r_dot_z) <= negligible;
    if (!done && !(p_dot_ap > 0 && std::isfinite(p_dot_ap) && products.r_dot_z > 0)) {
      result.broke_down = true;
      break;
    }
    alpha = done ? 0 : products.r_dot_z / p_dot_ap;
    ResidualProducts next = ops.update_residual(alpha, v.ap, v.r);
    if (project) {
      project(v.r);
      next = ops.products(v.r);
    }
    beta = done ? 0 : next.r_dot_z / products.r_dot_z;
    products = next;
    result.history.push_back(std::sqrt(products.r_dot_r));
    ++result.iterations;
    if (progress) progress(result.iterations);
    if (!std::isfinite(result.residual())) {
      result.broke_down = true;
      break;
    }
  }
  if (!result.broke_down) update(0, v.p.extent(0));
  Kokkos::fence("nekbone_k: conjugate gradients timed");
  result.seconds = comm.max(wall_seconds() - begin);
  result.converged = !result.broke_down && (options.tolerance == 0 || result.residual() <= target);
  return result;
}

}  // namespace nekbone_k
