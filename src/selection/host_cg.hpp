// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// CG with scalars on the host.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>

#include "input/case.hpp"
#include "operators/elliptic_operator.hpp"
#include "selection/multigrid_run.hpp"
#include "solver/conjugate_gradients.hpp"
#include "solver/vector_ops.hpp"
#include "tuning/tuning_guard.hpp"

namespace nekbone_k {

/// The problem that all methods of CG solve.
struct CgProblem {
  const Communicator& comm;
  const Case& input;
  AssembledSpace& space;
  const GeometricFactors& geometry;
  const EllipticOperator& a;
  DeviceVector<double> b;
  CgVectors vectors;
  DeviceVector<double> inverse_diagonal;  ///< empty: no preconditioner
};

/// Classic CG with the vector operations of the case or, with multigrid, flexible CG. It works with
/// every exchange and every all-reduce. Construction, solve() and destruction are collective.
class HostCg {
 public:
  /// Sums by `all_reduce`, unless the case takes Kokkos Kernels.
  HostCg(const CgProblem& problem, const AllReduceStrategy& all_reduce, TuningGuard& guard);

  /// Preconditions by a V-cycle from now on. `multigrid` must live while solve() is called.
  void precondition_by(MultigridRun& multigrid) { m_multigrid = &multigrid; }

  /// Solves the problem, without a guard.
  CgResult solve(const CgOptions& options, const std::function<void(int)>& progress);

  /// The operations of a case with solver.vector_ops fused.
  const FusedVectorOps& fused_ops() const { return **m_fused; }

  /// Doubles that vector operations read and write per DOF and iteration.
  int traffic() const;

  /// Calls `action` with the vector operations of the case.
  template <class Action>
  std::invoke_result_t<Action, const FusedVectorOps&> with_vector_ops(const Action& action) const {
    if (m_fused) return action(**m_fused);
    return action(KokkosKernelsVectorOps(m_problem.comm, m_problem.space.range(),
                                         m_problem.inverse_diagonal));
  }

 private:
  CgProblem m_problem;
  std::optional<Guarded<FusedVectorOps>> m_fused;  ///< empty with Kokkos Kernels
  MultigridRun* m_multigrid = nullptr;             ///< null with another preconditioner
};

}  // namespace nekbone_k
