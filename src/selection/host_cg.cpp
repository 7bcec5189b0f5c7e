// SPDX-License-Identifier: BSD-3-Clause
#include "selection/host_cg.hpp"

#include "solver/flexible_cg.hpp"
#include "tuning/all_reduce_tuner.hpp"

namespace nekbone_k {

HostCg::HostCg(const CgProblem& problem, const AllReduceStrategy& all_reduce, TuningGuard& guard)
    : m_problem(problem) {
  if (problem.input.vector_ops != VectorOps::fused) return;
  m_fused.emplace(guard, guarded_name(all_reduce), [&] {
    return nekbone_k::fused_ops(problem.comm, problem.space, problem.inverse_diagonal, all_reduce);
  });
}

CgResult HostCg::solve(const CgOptions& options, const std::function<void(int)>& progress) {
  if (m_multigrid != nullptr) return m_multigrid->solve(options, progress);
  Kokkos::deep_copy(m_problem.vectors.r, m_problem.b);
  return with_vector_ops([&](const auto& ops) {
    return timed_solve(m_problem.comm, [&] {
      return conjugate_gradients(m_problem.a, ops, m_problem.vectors, options, progress);
    });
  });
}

int HostCg::traffic() const {
  if (m_multigrid != nullptr) return flexible_traffic;
  return with_vector_ops([](const auto& ops) { return ops.traffic(); });
}

}  // namespace nekbone_k
