// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/coarse_solver.hpp"

#include <mpi.h>

#include <numeric>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "multigrid/entry_ids.hpp"
#include "multigrid/lattice_interpolation.hpp"

namespace nekbone_k {
namespace {

/// Most ranks whose shares a gather–scatter sums: every rank sends all values to every other.
constexpr int most_ranks_of_gs = 8;

/// The entry of each id; padding has none.
std::unordered_map<GlobalId, LocalIndex> entries_by_id(const std::vector<GlobalId>& ids) {
  std::unordered_map<GlobalId, LocalIndex> entries;
  for (std::size_t e = 0; e < ids.size(); ++e)
    if (ids[e] >= 0) entries[ids[e]] = static_cast<LocalIndex>(e);
  return entries;
}

}  // namespace

template <class T>
CoarseSolver<T>::CoarseSolver(const Communicator& comm, const AssembledSpace& fine,
                              const LevelPlan& coarse,
                              std::unique_ptr<ReplicatedProblem<T>> problem)
    : m_comm(comm), m_is_deterministic(fine.is_deterministic()), m_problem(std::move(problem)) {
  const LatticeInterpolation p(whole_mesh(coarse.mesh, coarse.order), fine.mesh());
  const std::vector<GlobalId> fine_ids = entry_ids(fine);
  const std::vector<GlobalId>& ids = m_problem->ids;

  const auto number = entries_by_id(ids);
  typename SparseRows<T>::Builder prolongation;
  for (const GlobalId id : fine_ids) {
    if (id >= 0)
      p.for_coarse(id, [&](GlobalId coarse_id, double weight) {
        prolongation.add(number.at(coarse_id), weight);
      });
    prolongation.end_row();
  }
  m_prolongation = SparseRows<T>(prolongation);

  std::unordered_map<GlobalId, LocalIndex> owned;
  for (std::size_t e = fine.n_not_owned(); e < fine_ids.size(); ++e)
    if (fine_ids[e] >= 0) owned[fine_ids[e]] = static_cast<LocalIndex>(e);
  typename SparseRows<T>::Builder to_sum, restriction;
  if (m_is_deterministic) {
    const std::vector<GlobalId> all = dof_ids(whole_mesh(fine.mesh().spec(), fine.mesh().order()));
    for (const GlobalId id : all) {
      if (const auto found = owned.find(id); found != owned.end()) to_sum.add(found->second, 1);
      to_sum.end_row();
    }
    const auto fine_number = entries_by_id(all);
    for (const GlobalId id : ids) {
      if (id >= 0)
        p.for_fine(id, [&](GlobalId fine_id, double weight) {
          restriction.add(fine_number.at(fine_id), weight);
        });
      restriction.end_row();
    }
    m_restriction = SparseRows<T>(restriction);
    m_summed = DeviceVector<T>("nekbone_k: residual of the finer level", all.size());
  } else {
    for (const GlobalId id : ids) {
      if (id >= 0)
        p.for_fine(id, [&](GlobalId fine_id, double weight) {
          if (const auto found = owned.find(fine_id); found != owned.end())
            to_sum.add(found->second, weight);
        });
      to_sum.end_row();
    }
    m_summed = m_problem->b;
  }
  m_to_sum = SparseRows<T>(to_sum);
  m_summed_here = Kokkos::create_mirror_view(m_summed);
  if (!is_host_device && !m_is_deterministic && comm.size() > 1 &&
      comm.size() <= most_ranks_of_gs) {
    std::vector<GlobalId> places(ids.size());
    std::iota(places.begin(), places.end(), GlobalId{0});
    m_gs = std::make_unique<GatherScatter>(comm, places);
  }
}

template <class T>
void CoarseSolver<T>::restrict_here(const DeviceVector<T>& r) const {
  m_to_sum.multiply("nekbone_k: restrict to replicated levels", r, m_summed);
}

template <class T>
void CoarseSolver<T>::sum_over_ranks() const {
  if (m_comm.size() == 1) return;
  if (is_queued()) return m_gs->gs_op(as_field(m_summed), Reduction::add);
  Kokkos::deep_copy(m_summed_here, m_summed);  // waits
  const MPI_Datatype type = std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, m_summed_here.data(), static_cast<int>(m_summed.extent(0)),
                          type, MPI_SUM, m_comm.get()),
            "MPI_Allreduce");
  Kokkos::deep_copy(ExecutionSpace(), m_summed, m_summed_here);
}

template <class T>
void CoarseSolver<T>::finish(const DeviceVector<T>& z) const {
  if (m_is_deterministic)
    m_restriction.multiply("nekbone_k: restrict to replicated levels", m_summed, m_problem->b);
  m_problem->solve();
  m_prolongation.multiply("nekbone_k: prolong from replicated levels", m_problem->x, z);
}

template class CoarseSolver<double>;
template class CoarseSolver<float>;

}  // namespace nekbone_k
