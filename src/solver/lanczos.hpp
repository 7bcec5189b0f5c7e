// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The largest eigenvalue of a preconditioned operator.
#pragma once

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "solver/flexible_cg.hpp"

namespace nekbone_k {

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection. `off_diagonal[i]`
/// couples i and i + 1. Not collective.
double largest_eigenvalue(std::span<const double> diagonal, std::span<const double> off_diagonal);

/// The tridiagonal matrix of Lanczos' method for M A, from the coefficients of preconditioned
/// conjugate gradients (Golub and Van Loan, Matrix Computations, 2013, section 11.3).
class LanczosMatrix {
 public:
  /// Adds an iteration: its alpha, and the beta of the next.
  void add(double alpha, double beta) {
    m_diagonal.push_back(1 / alpha + (m_diagonal.empty() ? 0 : m_beta / m_alpha));
    m_off_diagonal.push_back(std::sqrt(std::abs(beta)) / alpha);
    m_alpha = alpha;
    m_beta = beta;
  }
  /// Returns 1 if no iteration was added, as for a zero residual.
  double largest_eigenvalue() const {
    if (m_diagonal.empty()) return 1;
    return nekbone_k::largest_eigenvalue(
        m_diagonal, std::span(m_off_diagonal).first(m_off_diagonal.size() - 1));
  }

 private:
  double m_alpha = 0, m_beta = 0;
  std::vector<double> m_diagonal, m_off_diagonal;
};

/// Lanczos' method ends when r·z falls below this fraction of its first value.
inline constexpr double lanczos_negligible = 1e-24;

/// The steps of both lanczos_bound(). Directions are made of `z`. `r_dot_z` returns r·z of the new
/// residual, whose products it gets.
template <SymmetricOperator Op, class VectorOps, class Product>
double lanczos_steps(const Op& a, const VectorOps& ops, const CgVectors& v,
                     const DeviceVector<double>& z, int steps, const Product& r_dot_z) {
  Kokkos::deep_copy(ExecutionSpace(), v.x, 0.0);
  Kokkos::deep_copy(ExecutionSpace(), v.p, 0.0);
  LanczosMatrix matrix;
  double alpha = 0, beta = 0, product = r_dot_z(ops.products(v.r));
  const double negligible = lanczos_negligible * product;
  for (int step = 0; step < steps && product > negligible; ++step) {
    const double p_dot_ap = a.apply(v.p, v.ap, [&](LocalIndex first, LocalIndex last) {
      ops.update_solution_and_direction(alpha, beta, z, v.x, v.p, first, last);
    });
    if (!(p_dot_ap > 0)) break;
    alpha = product / p_dot_ap;
    const double next = r_dot_z(ops.update_residual(alpha, v.ap, v.r));
    beta = next / product;
    product = next;
    matrix.add(alpha, beta);
  }
  return matrix.largest_eigenvalue();
}

/// An estimate from below of the largest eigenvalue of M A, by `steps` steps of Lanczos' method. M
/// is the preconditioner of `ops`. v.r holds the first residual, which should have a part in every
/// eigenvector. Overwrites the vectors. Collective.
template <SymmetricOperator Op, class VectorOps>
double lanczos_bound(const Op& a, const VectorOps& ops, const CgVectors& v, int steps) {
  // `ops` form M r where they read r.
  return lanczos_steps(a, ops, v, v.r, steps,
                       [](const ResidualProducts& products) { return products.r_dot_z; });
}

/// The same for any symmetric M. `ops` are vector operations without a preconditioner.
template <SymmetricOperator Op, ApproximateInverse M, class VectorOps>
double lanczos_bound(const Op& a, M& m, const VectorOps& ops, const FlexibleCgVectors& v,
                     int steps) {
  return lanczos_steps(a, ops, v, v.z, steps, [&](const ResidualProducts& products) {
    m.apply(v.r, v.z, std::sqrt(products.r_dot_r));
    return ops.products(v.r, v.ap, v.z).r_dot_z;
  });
}

}  // namespace nekbone_k
