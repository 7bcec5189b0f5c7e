// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The direct solve of the coarsest level, on every rank.
#pragma once

#include "multigrid/level_plan.hpp"
#include "multigrid/sparse_rows.hpp"
#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// P A⁻¹ Pᵀ with the operator A of the coarsest level and the interpolation P from there to a finer
/// level. Every rank stores A⁻¹ as a dense matrix. One all-reduce sums the restricted vector. If A
/// is singular, A⁻¹ is the pseudo-inverse, so the mean of the solution is zero. In a periodic box
/// with a small λ, the action of A on constants is computed from λ and the volume, because rounding
/// would dominate it in the assembled matrix.
///
/// On a deterministic space, the all-reduce gathers the finer level's vector instead, and every
/// rank restricts all of it. So no sum depends on the partition.
template <class T>
class CoarseSolver {
 public:
  /// `fine` is the space of the finer level. Each rank assembles all of A = scale (stiffness +
  /// λ mass), so `coarse` needs no partition. Collective. Throws InternalError if A is neither
  /// positive definite nor singular on constants alone.
  CoarseSolver(const Communicator& comm, const AssembledSpace& fine, const LevelPlan& coarse,
               double lambda, double scale);

  /// z = P A⁻¹ Pᵀ r. Assembled vectors of the finer level, in device memory. Collective.
  void solve(const DeviceVector<T>& r, const DeviceVector<T>& z) const;

  LocalIndex n_dofs() const { return static_cast<LocalIndex>(m_solution.extent(0)); }

  /// z = matrix r; public because nvcc rejects kernels in private members.
  void multiply_by_inverse(const ConstDeviceVector<T>& r, const DeviceVector<T>& z) const;

 private:
  const Communicator& m_comm;
  SparseRows<T> m_to_sum;       // from the finer level's vector to the summed values
  SparseRows<T> m_restriction;  // from the summed values; empty if they are restricted already
  SparseRows<T> m_prolongation;
  Kokkos::View<T**, Kokkos::LayoutRight, DeviceMemory> m_inverse;
  DeviceVector<T> m_summed, m_right_hand_side, m_solution;
  typename DeviceVector<T>::HostMirror m_summed_here;
  bool m_is_deterministic;
};

}  // namespace nekbone_k
