// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// CG at one order: set-up, selection of its method, iterations and verification.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/order_run.hpp"
#include "machine/energy.hpp"
#include "selection/cg_methods.hpp"
#include "selection/host_cg.hpp"
#include "selection/multigrid_run.hpp"
#include "solver/problem.hpp"

namespace nekbone_k {

/// The CG run of an order. solve() calls the members in the order below. All except the accessors
/// are collective.
class CgRun {
 public:
  /// Sets up the operator, the right-hand side and the vectors. Keeps references to all but
  /// `strategies`.
  CgRun(const Communicator& comm, const Case& input, Discretization& discretization,
        const SolveStrategies& strategies, TuningGuard& guard, Progress& progress);

  /// Selects the method of CG, with a part of the tuning budget.
  CgTuning select_method(const SolveConditions& conditions);

  /// Selects the V-cycle; without it, CG has no multigrid.
  MultigridRecord select_multigrid(const SolveConditions& conditions);

  /// Solves the problem of the case.
  CgResult iterate();

  /// Records the result and the performance of `cg`.
  void note(const CgResult& cg, SolveRecord& record) const;

  /// Recomputes the residual, computes the checksum and, if the solution is known, the error. Sets
  /// the verdict.
  void verify(SolveRecord& record);

  const CgProblem& problem() const { return m_cg; }
  const CgMethods& methods() const { return m_methods; }
  /// CG with scalars on the host, which works with every strategy; for the comparisons.
  const HostCg& host() const { return m_host; }
  /// Null with another preconditioner.
  MultigridRun* multigrid() { return m_multigrid ? &*m_multigrid : nullptr; }

 private:
  /// Empty without a preconditioner.
  DeviceVector<double> inverse_diagonal(const SolveStrategies& strategies) const;
  /// Computes b, and applies the operator once.
  void set_up();

  const Communicator& m_comm;
  const Case& m_input;
  TuningGuard& m_guard;
  Progress& m_progress;
  double m_begin, m_setup_seconds = 0;
  EnergyRecord m_energy;  ///< of iterate()
  Guarded<EllipticOperator> m_a;
  Problem m_problem;
  CgProblem m_cg;
  HostCg m_host;
  CgMethods m_methods;
  std::optional<MultigridRun> m_multigrid;
};

}  // namespace nekbone_k
