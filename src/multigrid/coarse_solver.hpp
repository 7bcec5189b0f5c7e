// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The direct solve of the coarsest level, on every rank.
#pragma once

#include "multigrid/level_plan.hpp"
#include "multigrid/sparse_rows.hpp"
#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// P A⁻¹ Pᵀ with the operator A of the coarsest level and the interpolation P from there to a finer
/// level. Every rank has A⁻¹, a dense matrix. One all-reduce sums the restricted vector. If A is
/// singular, its pseudo-inverse is used, so that the mean of the solution is zero. In a periodic
/// box with a small λ, the inverse on constants is that of their energy, which rounding cannot
/// spoil.
///
/// On a deterministic space, the all-reduce copies values of the finer level instead, and each rank
/// restricts all of them, so no sum depends on the division among ranks.
template <class T>
class CoarseSolver {
 public:
  /// `fine` is the space of the finer level, whose part of the elements of `coarse` is not needed:
  /// each rank assembles all of A = scale (stiffness + λ mass). Collective. Throws InternalError if
  /// A is not positive definite.
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
