// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Preconditioned conjugate gradients on assembled vectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <optional>
#include <vector>

#include "core/communicator.hpp"
#include "core/region.hpp"
#include "solver/vector_ops.hpp"

namespace nekbone_k {

/// Stopping criteria.
struct CgOptions {
  int iterations = 100;  ///< at most; all of them if both tolerances are 0
  double tolerance = 0;  ///< of ‖r‖, relative to ‖b‖
  double absolute = 0;   ///< of ‖r‖; the larger of both tolerances counts
};

struct CgResult {
  int iterations = 0;
  bool converged = false;       ///< ‖r‖ met a tolerance; without one always true unless broken
  bool broke_down = false;      ///< pᵀ A p <= 0, r·z < 0, or a NaN or infinity
  std::vector<double> history;  ///< ‖r‖ before the first iteration and after each
  double seconds = 0;           ///< on the slowest rank; 0 if the solver measures no time

  double residual() const { return history.back(); }
};

/// A symmetric positive operator. apply(p, ap, before) calls before(begin, end) for ranges of
/// entries, so that every entry that is not padding is covered once before it is read. It stores A
/// p in `ap` and returns pᵀ A p, the same on every rank.
template <class Op>
concept SymmetricOperator = requires(const Op& a, const DeviceVector<double>& v,
                                     void (*before)(LocalIndex begin, LocalIndex end)) {
  { a.apply(v, v, before) } -> std::convertible_to<double>;
};

/// The vectors of one solve: x becomes the solution; r is b on input and the residual on output.
struct CgVectors {
  DeviceVector<double> x, r, p, ap;
};

/// Solves A x = b from x = 0 by preconditioned conjugate gradients (Hestenes and Stiefel 1952). The
/// operator and the vector operations make two all-reduces per iteration: one of pᵀ A p, and one of
/// r·r and r·z in one message.
///
/// If A is singular, b must have no part in its null space (remove_constants()). Residuals then
/// have none but what rounding adds, which stays far below any tolerance that doubles can reach.
/// `progress` is called after every iteration with its number. A caller that knows the products of
/// b can give them as `of_b`. Does not measure time; see timed_solve(). Collective.
template <SymmetricOperator Op, VectorOperations Ops>
CgResult conjugate_gradients(const Op& a, const Ops& ops, const CgVectors& v,
                             const CgOptions& options,
                             const std::function<void(int)>& progress = {},
                             const std::optional<ResidualProducts>& of_b = {}) {
  const Region region("CG");
  CgResult result;
  ResidualProducts products = of_b ? *of_b : ops.products(v.r);
  Kokkos::deep_copy(ExecutionSpace(), v.x, 0.0);
  Kokkos::deep_copy(ExecutionSpace(), v.p, 0.0);
  // The updates x += alpha p and p = z + beta p wait until the operator of the next iteration reads
  // p. It can then do both while an entry is in cache.
  double alpha = 0, beta = 0;
  const auto update = [&](LocalIndex first, LocalIndex last) {
    ops.update_solution_and_direction(alpha, beta, v.r, v.x, v.p, first, last);
  };
  result.history.push_back(std::sqrt(products.r_dot_r));
  const bool has_tolerance = options.tolerance > 0 || options.absolute > 0;
  const double target = std::max(options.tolerance * result.history.front(), options.absolute);
  result.broke_down = !std::isfinite(result.history.front()) || !std::isfinite(products.r_dot_z);
  // Far past convergence the products underflow, and their ratios are meaningless.
  const double negligible = 1e-200 * std::abs(products.r_dot_z);

  while (!result.broke_down && result.iterations < options.iterations) {
    if (has_tolerance && result.residual() <= target) break;
    const Region iteration("CG iteration");
    const double p_dot_ap = a.apply(v.p, v.ap, update);
    // After the residual is (almost) zero, iterations only count: alpha and beta are 0.
    const bool done = std::abs(products.r_dot_z) <= negligible;
    if (!done && !(p_dot_ap > 0 && std::isfinite(p_dot_ap) && products.r_dot_z > 0)) {
      result.broke_down = true;
      break;
    }
    alpha = done ? 0 : products.r_dot_z / p_dot_ap;
    const ResidualProducts next = ops.update_residual(alpha, v.ap, v.r);
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
  result.converged = !result.broke_down && (!has_tolerance || result.residual() <= target);
  return result;
}

/// Runs a solve, begun by all ranks together, and takes its time. Collective.
template <class Solve>
CgResult timed_solve(const Communicator& comm, const Solve& solve) {
  comm.barrier();
  const double begin = wall_seconds();
  CgResult result = solve();
  Kokkos::fence("nekbone_k: solve timed");
  result.seconds = comm.max(wall_seconds() - begin);
  return result;
}

}  // namespace nekbone_k
