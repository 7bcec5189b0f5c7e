// SPDX-License-Identifier: BSD-3-Clause
#include "app/cg_run.hpp"

#include <algorithm>

#include "app/solution_check.hpp"
#include "core/region.hpp"
#include "core/system.hpp"
#include "operators/checksum.hpp"
#include "operators/null_space.hpp"

namespace nekbone_k {
namespace {

double begin_together(const Communicator& comm) {
  comm.barrier();
  return wall_seconds();
}

std::vector<std::string> names_of(const Strategy& exchange, const AllReduceStrategy& all_reduce) {
  return {exchange.name, guarded_name(all_reduce)};
}

}  // namespace

CgRun::CgRun(const Communicator& comm, const Case& input, Discretization& discretization,
             const SolveStrategies& strategies, TuningGuard& guard, Progress& progress)
    : m_comm(comm),
      m_input(input),
      m_guard(guard),
      m_progress(progress),
      m_begin(begin_together(comm)),
      m_a(guard, guarded_name(strategies.all_reduce),
          [&] {
            return EllipticOperator(discretization.space, discretization.factors(), input.lambda,
                                    strategies.all_reduce);
          }),
      m_problem(input.problem, input.mesh, input.lambda),
      m_cg{comm,
           input,
           discretization.space,
           discretization.factors(),
           *m_a,
           discretization.space.make_vector("b"),
           {discretization.space.make_vector("x"), discretization.space.make_vector("r"),
            discretization.space.make_vector("p"), discretization.space.make_vector("Ap")},
           inverse_diagonal(strategies)},
      m_host(m_cg, strategies.all_reduce, guard),
      m_methods(m_cg, strategies, m_host, guard) {
  guarded(m_guard, names_of(strategies.exchange, strategies.all_reduce), [&] { set_up(); });
  m_setup_seconds = comm.max(wall_seconds() - m_begin);
}

DeviceVector<double> CgRun::inverse_diagonal(const SolveStrategies& strategies) const {
  if (m_input.preconditioner != Preconditioner::jacobi) return {};
  return guarded(m_guard, names_of(strategies.exchange, strategies.all_reduce),
                 [&] { return (*m_a).inverse_diagonal(); });
}

void CgRun::set_up() {
  m_problem.right_hand_side(m_cg.space, m_cg.geometry, m_cg.b);
  if (m_cg.a.is_singular()) remove_constants(m_comm, m_cg.space, m_cg.b);
  m_cg.space.gs().check();
  m_guard.go_on();
  // The first application is slower, because it touches new memory and code. Do not time it.
  m_cg.a.apply(m_cg.b, m_cg.vectors.ap);
  Kokkos::fence("nekbone_k: solve set up");
}

CgTuning CgRun::select_method(const SolveConditions& conditions) {
  return m_methods.tune(m_input.tuning.budget_seconds / 4, conditions.machine,
                        conditions.sum_seconds, conditions.memory);
}

MultigridRecord CgRun::select_multigrid(const SolveConditions& conditions) {
  m_multigrid.emplace(MultigridProblem{m_comm, m_input, m_cg.space, m_cg.geometry, m_cg.a,
                                       m_host.fused_ops(), m_cg.b, m_cg.vectors, conditions.machine,
                                       guarded_name(m_methods.all_reduce())},
                      m_guard);
  m_host.precondition_by(*m_multigrid);
  return m_multigrid->select(m_input.tuning.budget_seconds, conditions.memory);
}

CgResult CgRun::iterate() {
  EnergyMeter energy(m_comm);
  const Region region("solve");
  energy.begin();
  CgResult result = m_methods.solve({m_input.iterations, m_input.tolerance}, [&](int iteration) {
    m_progress.update(iteration);
    energy.go_on();
  });
  m_energy = energy.end();
  return result;
}

void CgRun::note(const CgResult& cg, SolveRecord& record) const {
  record.iterations = cg.iterations;
  record.converged = cg.converged;
  record.broke_down = cg.broke_down;
  record.rhs_norm = cg.history.front();
  record.residual = cg.residual();
  record.history = cg.history;
  record.setup_seconds = m_setup_seconds;
  record.solve_seconds = cg.seconds;
  record.energy = m_energy;
  const double iterations_per_second = cg.iterations / std::max(cg.seconds, 1e-12);
  record.flops = static_cast<double>(record.total_local_points) *
                 (12.0 * m_cg.space.layout().nq + 34) * iterations_per_second;
  record.dofs_per_second = static_cast<double>(record.total_dofs) * iterations_per_second;
  const double vector_bytes = double{sizeof(double)} * m_methods.traffic() * m_cg.space.size();
  const double bytes = m_comm.sum(m_cg.a.least_bytes() + vector_bytes +
                                  (m_multigrid ? m_multigrid->least_bytes() : 0));
  record.bytes_per_dof = bytes / static_cast<double>(record.total_dofs);
  record.bandwidth = bytes * iterations_per_second;
}

void CgRun::verify(SolveRecord& record) {
  const ResidualCheck check = guarded(m_guard, m_methods.in_use(), [&] {
    return check_residual(m_comm, m_cg.a, m_cg.b, m_cg.vectors);
  });
  record.true_residual = check.true_residual;
  const DeviceVector<double>& x = m_cg.vectors.x;
  if (m_cg.a.is_singular()) remove_constants(m_comm, m_cg.space, x);
  if (m_cg.space.is_deterministic()) record.checksum = checksum(m_comm, m_cg.space, x);
  if (m_problem.has_exact_solution()) {
    const SolutionError error =
        m_problem.error(m_comm, m_cg.space, m_cg.geometry, x, m_cg.a.is_singular());
    record.error = error.max;
    record.error_l2 = error.l2;
  }
  record.peak_memory = m_comm.sum(peak_memory());
  judge(m_input, check, record);
}

}  // namespace nekbone_k
