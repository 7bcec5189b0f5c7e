// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Connects the levels that ranks divide with those that every rank holds.
#pragma once

#include <memory>

#include "gs/gather_scatter.hpp"
#include "multigrid/level_plan.hpp"
#include "multigrid/replicated_problem.hpp"
#include "multigrid/sparse_rows.hpp"
#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// z = P M Pᵀ r, with the M ≈ A⁻¹ of a replicated problem, and the interpolation P from there to a
/// finer level, by position. One all-reduce sums the restricted vector; on a few GPUs, a
/// gather–scatter sums it if its strategy needs no host.
///
/// On a deterministic space, the all-reduce gathers the finer level's vector instead, and every
/// rank restricts all of it. So no sum depends on the partition.
template <class T>
class CoarseSolver {
 public:
  /// `fine` is the space of the finer level, and `coarse` the level of `problem`. Collective, and
  /// so is destruction.
  CoarseSolver(const Communicator& comm, const AssembledSpace& fine, const LevelPlan& coarse,
               std::unique_ptr<ReplicatedProblem<T>> problem);

  /// In turn: the share of this rank in Pᵀ r, the sum of all shares, and z = P M Pᵀ r. Assembled
  /// vectors of the finer level, in device memory. Only the sum is collective, and waits for the
  /// device unless it is_queued().
  void restrict_here(const DeviceVector<T>& r) const;
  void sum_over_ranks() const;
  void finish(const DeviceVector<T>& z) const;
  /// Whether sum_over_ranks() launches kernels alone. See GatherScatter::is_queued().
  bool is_queued() const {
    return m_comm.size() == 1 || (m_gs != nullptr && m_gs->template is_queued<T>());
  }
  /// The gather–scatter of the sum; null if MPI_Allreduce always sums.
  GatherScatter* gs() const { return m_gs.get(); }
  const ReplicatedProblem<T>& problem() const { return *m_problem; }

 private:
  const Communicator& m_comm;
  bool m_is_deterministic;
  std::unique_ptr<ReplicatedProblem<T>> m_problem;
  SparseRows<T> m_to_sum;       // from the finer level's vector to the summed values
  SparseRows<T> m_restriction;  // from the summed values; empty if they are restricted already
  SparseRows<T> m_prolongation;
  DeviceVector<T> m_summed;
  typename DeviceVector<T>::HostMirror m_summed_here;
  std::unique_ptr<GatherScatter> m_gs;
};

}  // namespace nekbone_k
