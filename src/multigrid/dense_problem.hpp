// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The direct solve of a level.
#pragma once

#include "multigrid/level_plan.hpp"
#include "multigrid/replicated_problem.hpp"

namespace nekbone_k {

/// x = A⁻¹ b by the dense inverse of A = scale (stiffness + λ mass). If A is singular, A⁻¹ is the
/// pseudo-inverse, so the mean of x is zero. In a periodic box with a small λ, the action of A on
/// constants is computed from λ and the volume, because rounding would dominate it in the assembled
/// matrix.
template <class T>
class DenseProblem final : public ReplicatedProblem<T> {
 public:
  /// This rank assembles all of A, so `level` needs no partition. Not collective. Throws
  /// InternalError if A is neither positive definite nor singular on constants alone.
  DenseProblem(const LevelPlan& level, double lambda, double scale);

  // Not inline, because nvcc registers no kernel of an inline virtual member.
  void solve() override;

 private:
  Kokkos::View<T**, Kokkos::LayoutRight, DeviceMemory> m_inverse;
};

}  // namespace nekbone_k
