// SPDX-License-Identifier: BSD-3-Clause
// Multigrid by plain loops on whole meshes, the same on every rank: interpolation, dense solves,
// polynomials of the operator, and the V-cycle.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "multigrid/chebyshev.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {

inline constexpr std::array<bool, 3> all_periodic{true, true, true},
    all_dirichlet{false, false, false}, mixed_ends{true, false, true};

// The interpolation P between two meshes of one box by positions in the undeformed box, as a full
// matrix per direction. Dirichlet points have no row and no column.
class PlainInterpolation {
 public:
  PlainInterpolation(const ReferenceMesh& coarse, const ReferenceMesh& fine);

  ById prolong(const ById& coarse) const { return multiply(coarse, false); }
  ById restrict_to(const ById& fine) const { return multiply(fine, true); }

 private:
  ById multiply(ById values, bool transposed) const;

  std::array<int, 3> m_coarse_length, m_fine_length;
  std::array<std::vector<double>, 3> m_matrix;  // (fine point, coarse point)
};

// The points that are DOFs, by ascending id.
std::vector<GlobalId> dof_ids(const ReferenceMesh& mesh);

// The inverse of the operator by Gauss–Jordan elimination on its dense matrix. If constants are its
// null space, solve() removes the mean of b and of x.
class DenseSolve {
 public:
  DenseSolve(const ReferenceOperator& a, bool is_singular);
  ById solve(const ById& b) const;

 private:
  GlobalId m_n_points;
  bool m_is_singular;
  std::vector<GlobalId> m_ids;
  std::vector<double> m_inverse;
};

// A without Dirichlet points, scaled by its inverse diagonal: D⁻¹ A. D is the sum of the diagonals
// of element matrices, which differs from that of A if an element meets itself.
class ScaledOperator {
 public:
  explicit ScaledOperator(const ReferenceOperator& a);
  ById apply(const ById& u) const;
  // The largest eigenvalue, by the power method.
  double largest_eigenvalue() const;

  const ReferenceOperator& a;
  ById inverse_diagonal;
};

// The error after a smoother's steps: p(D⁻¹ A) error, by the recurrences of the polynomials
// themselves. The weights are those of the optimised fourth kind.
ById smoothed_error(const ScaledOperator& scaled, ChebyshevKind kind, int degree, double lambda_max,
                    const ById& error);

ById operator+(ById a, const ById& b);
ById operator-(ById a, const ById& b);
ById operator*(double factor, ById a);
double mean_of_dofs(const ReferenceMesh& mesh, const ById& values);

}  // namespace nekbone_k
