// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Conjugate gradients with a preconditioner that may be a whole algorithm.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/region.hpp"
#include "solver/conjugate_gradients.hpp"

namespace nekbone_k {

/// An approximate inverse M of A. apply(r, z, norm) sets z = M r, given ‖r‖. M may be symmetric and
/// linear only up to rounding. Assembled vectors in device memory. Collective.
template <class M>
concept ApproximateInverse = requires(M& m, const DeviceVector<double>& v, double norm) {
  m.apply(v, v, norm);
};

/// When to stop, and where to begin.
struct FlexibleCgOptions {
  int iterations = 100;     ///< at most; all of them if both tolerances are 0, unless r vanishes
  double tolerance = 0;     ///< of ‖r‖, relative to ‖b‖
  double absolute = 0;      ///< of ‖r‖; the larger of both tolerances counts
  bool from_guess = false;  ///< begins at the x given; otherwise at x = 0
  std::optional<double> b_dot_b{};  ///< of b, if the caller knows it
  /// Stops after an iteration if it returns true, on every rank. May be empty.
  std::function<bool(const CgResult& so_far)> enough{};
};

/// Doubles that its vector operations read and write per entry and iteration:
/// 3 for the residual, 3 for the products, 5 for the solution and the direction.
inline constexpr int flexible_traffic = 11;

/// The vectors of a flexible solve: those of CG, and z = M r.
struct FlexibleCgVectors : CgVectors {
  DeviceVector<double> z;
};

/// Solves A x = b by flexible conjugate gradients (Notay, SIAM J. Sci. Comput. 22, 2000): β is that
/// of Polak and Ribière, which stays a descent direction if M varies a little. v.r holds b on input
/// and the residual on output. `ops` are vector operations without a preconditioner.
///
/// Three all-reduces per iteration: of p·Ap, of r·r, and of z·r and z·Ap. If A is singular, b must
/// have no part in its null space, as in conjugate_gradients(). `progress` is called after every
/// iteration with its number. Does not measure time (CgResult::seconds stays 0). Collective.
template <SymmetricOperator Op, ApproximateInverse M, VectorOperations Ops>
CgResult flexible_conjugate_gradients(const Op& a, M& m, const Ops& ops, const FlexibleCgVectors& v,
                                      const FlexibleCgOptions& options,
                                      const std::function<void(int)>& progress = {}) {
  const Region region("CG");
  CgResult result;
  double r_dot_r = options.b_dot_b ? *options.b_dot_b : ops.products(v.r).r_dot_r;
  const double target = std::max(options.tolerance * std::sqrt(r_dot_r), options.absolute);
  if (options.from_guess) {
    a.apply(v.x, v.ap, [](LocalIndex, LocalIndex) {});
    r_dot_r = ops.update_residual(1, v.ap, v.r).r_dot_r;
  } else {
    Kokkos::deep_copy(ExecutionSpace(), v.x, 0.0);
  }
  Kokkos::deep_copy(ExecutionSpace(), v.p, 0.0);
  result.history.push_back(std::sqrt(r_dot_r));
  result.broke_down = !std::isfinite(result.history.front());
  // x += alpha p and p = z + beta p wait for the operator of the next iteration, as in
  // conjugate_gradients().
  double alpha = 0, beta = 0, r_dot_z = 0;
  const auto update = [&](LocalIndex first, LocalIndex last) {
    ops.update_solution_and_direction(alpha, beta, v.z, v.x, v.p, first, last);
  };
  // Far past convergence the products underflow, and their ratios are meaningless.
  const double least = std::max(target, 1e-100 * result.residual());

  while (!result.broke_down && result.iterations < options.iterations &&
         result.residual() > least) {
    const Region iteration("CG iteration");
    m.apply(v.r, v.z, result.residual());
    const FlexibleProducts products = ops.products(v.r, v.ap, v.z);
    beta = result.iterations > 0 ? -alpha * products.ap_dot_z / r_dot_z : 0;
    r_dot_z = products.r_dot_z;
    const double p_dot_ap = a.apply(v.p, v.ap, update);  // updates x even if M broke down
    if (!(r_dot_z > 0 && p_dot_ap > 0 && std::isfinite(p_dot_ap))) {
      result.broke_down = true;
      break;
    }
    alpha = r_dot_z / p_dot_ap;
    r_dot_r = ops.update_residual(alpha, v.ap, v.r).r_dot_r;
    result.history.push_back(std::sqrt(r_dot_r));
    ++result.iterations;
    if (progress) progress(result.iterations);
    result.broke_down = !std::isfinite(result.residual());
    if (options.enough && options.enough(result)) break;
  }
  if (!result.broke_down) {
    beta = 0;
    update(0, v.p.extent(0));
  }
  result.converged = !result.broke_down && (target == 0 || result.residual() <= target);
  return result;
}

}  // namespace nekbone_k
