// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The largest eigenvalue of a preconditioned operator.
#pragma once

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "solver/conjugate_gradients.hpp"

namespace nekbone_k {

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection. `off_diagonal[i]`
/// couples i and i + 1. Not collective.
double largest_eigenvalue(std::span<const double> diagonal, std::span<const double> off_diagonal);

/// An estimate from below of the largest eigenvalue of M A, by `steps` steps of Lanczos' method,
/// whose coefficients are those of conjugate gradients (Golub and Van Loan, Matrix Computations,
/// 2013, section 11.3). M is the preconditioner of `ops`. v.r holds the first residual, which
/// should have a part in every eigenvector. Overwrites the vectors. Collective.
template <SymmetricOperator Op, class VectorOps>
double lanczos_bound(const Op& a, const VectorOps& ops, const CgVectors& v, int steps) {
  Kokkos::deep_copy(ExecutionSpace(), v.x, 0.0);
  Kokkos::deep_copy(ExecutionSpace(), v.p, 0.0);
  double alpha = 0, beta = 0, r_dot_z = ops.products(v.r).r_dot_z;
  const double negligible = 1e-24 * r_dot_z;
  std::vector<double> diagonal, off_diagonal;
  for (int step = 0; step < steps && r_dot_z > negligible; ++step) {
    const double p_dot_ap = a.apply(v.p, v.ap, [&](LocalIndex first, LocalIndex last) {
      ops.update_solution_and_direction(alpha, beta, v.r, v.x, v.p, first, last);
    });
    if (!(p_dot_ap > 0)) break;
    const double alpha_before = std::exchange(alpha, r_dot_z / p_dot_ap);
    diagonal.push_back(1 / alpha + (step > 0 ? beta / alpha_before : 0));
    const double next = ops.update_residual(alpha, v.ap, v.r).r_dot_z;
    beta = next / r_dot_z;
    r_dot_z = next;
    off_diagonal.push_back(std::sqrt(std::abs(beta)) / alpha);
  }
  if (diagonal.empty()) return 1;  // M A is the identity on nothing
  off_diagonal.pop_back();
  return largest_eigenvalue(diagonal, off_diagonal);
}

}  // namespace nekbone_k
