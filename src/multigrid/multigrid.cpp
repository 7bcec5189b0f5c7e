// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/multigrid.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "core/errors.hpp"
#include "core/region.hpp"
#include "multigrid/dense_problem.hpp"
#include "multigrid/entry_ids.hpp"
#include "multigrid/mesh_transfer.hpp"
#include "multigrid/order_transfer.hpp"
#include "multigrid/scaled_copy.hpp"

namespace nekbone_k {
template <class T>
Multigrid<T>::Multigrid(const Communicator& comm, AssembledSpace& finest,
                        const GeometricFactors& factors, double lambda,
                        const MultigridOptions& options)
    : m_comm(comm),
      m_first_level(options.first_level),
      m_polynomial(options.polynomial),
      m_records(options.records) {
  const int order = finest.mesh().order();
  const auto orders = options.orders.empty() ? halved_orders(order) : options.orders;
  // Coarser meshes have the lowest order that has DOFs.
  int lowest = order;
  for (const int lower : orders)
    if (LevelPlan{lower, finest.mesh().spec()}.total_dofs() > 0) lowest = lower;
  const auto is_valid = [&](const MeshSpec& mesh) {
    const bool divides = mesh.total_elements() >= comm.size();
    return comm.all(!has_inverted_elements(BoxMesh(
        mesh.divided_by({}), lowest, divides ? comm.size() : 1, divides ? comm.rank() : 0)));
  };
  const bool replicates = !finest.is_deterministic();
  const auto plans = plan_levels(finest.mesh().spec(), orders, comm.size(), options.coarse_dofs,
                                 is_valid, replicates ? options.replicated_dofs : 0);
  m_coarsest = plans.back();
  if (m_coarsest.total_dofs() > most_direct_dofs)
    throw InputError(fmt::format(
        "multigrid cannot coarsen this mesh below {} DOFs; the coarse solve allows at most {}; use "
        "solver.preconditioner jacobi",
        m_coarsest.total_dofs(), most_direct_dofs));
  make_levels(finest, factors, lambda, options, plans);
}

template <class T>
void Multigrid<T>::make_levels(AssembledSpace& finest, const GeometricFactors& factors,
                               double lambda, const MultigridOptions& options,
                               const std::vector<LevelPlan>& plans) {
  m_levels.reserve(plans.size() - 1);
  std::size_t l = 0;
  for (; l + 1 < plans.size() && !plans[l].is_replicated; ++l) {
    Level& level = m_levels.emplace_back();
    level.plan = plans[l];
    if (l == 0) {
      level.space = &finest;
    } else {
      Level& finer = m_levels[l - 1];
      const bool same_mesh = finer.plan.mesh.elements == level.plan.mesh.elements;
      level.own_space = std::make_unique<AssembledSpace>(
          m_comm, BoxMesh(level.plan.mesh, level.plan.order, m_comm.size(), m_comm.rank()),
          finest.is_deterministic() ? Summation::deterministic : Summation::ordinary,
          same_mesh ? finer.space : nullptr);
      level.space = level.own_space.get();
      if (same_mesh)
        finer.to_next = std::make_unique<OrderTransfer<T>>(*finer.space, *level.space);
      else
        finer.to_next = std::make_unique<MeshTransfer<T>>(m_comm, *finer.space, *level.space);
    }
    if (l > 0) level.scale = m_levels.front().scale;
    level.set_up(m_comm, l == 0 ? &factors : nullptr, lambda, options);
  }
  make_coarse_solver(lambda, options, plans, l);
  for (const Level& level : m_levels) {
    m_all_gs.push_back(&level.space->gs());
    for (const GatherScatter* const gs : level.other_gs()) m_all_gs.push_back(gs);
  }
}

/// The V-cycle of one rank on the replicated levels. It is deterministic, so that all ranks find
/// the same bits: their copies of a DOF must be equal.
template <class T>
class Multigrid<T>::ReplicatedCycle final : public ReplicatedProblem<T> {
 public:
  /// `scale` is that of the levels above.
  ReplicatedCycle(const LevelPlan& plan, double lambda, double scale, MultigridOptions options)
      : m_alone(MPI_COMM_SELF),
        m_space(m_alone, whole_mesh(plan.mesh, plan.order), Summation::deterministic),
        m_factors(m_space) {
    options.orders = {plan.order};
    m_cycle = std::make_unique<Multigrid>(m_alone, m_space, m_factors, lambda, options);
    this->ids = entry_ids(m_space);
    this->b = m_cycle->m_levels.front().v.b;
    this->x = m_cycle->m_levels.front().v.x;
    m_unscale = static_cast<T>(m_cycle->m_levels.front().scale / scale);
  }
  void solve() override {
    m_cycle->run(0);
    // Powers of two, so that nothing rounds.
    if (m_unscale != T(1)) scaled_copy(this->x, m_unscale, this->x);
  }
  Multigrid& cycle() { return *m_cycle; }

 private:
  Communicator m_alone;
  AssembledSpace m_space;
  GeometricFactors m_factors;
  std::unique_ptr<Multigrid> m_cycle;
  T m_unscale;
};

template <class T>
void Multigrid<T>::make_coarse_solver(double lambda, const MultigridOptions& options,
                                      const std::vector<LevelPlan>& plans, std::size_t first) {
  Level& last = m_levels.back();
  const LevelPlan& plan = plans[first];
  std::unique_ptr<ReplicatedProblem<T>> problem;
  if (first + 1 == plans.size()) {
    problem = std::make_unique<DenseProblem<T>>(plan, lambda, last.scale);
  } else {
    MultigridOptions of_cycle = options;
    of_cycle.first_level += first;
    auto cycle = std::make_unique<ReplicatedCycle>(plan, lambda, last.scale, of_cycle);
    m_replicated = &cycle->cycle();
    problem = std::move(cycle);
  }
  const AssembledSpace* from = last.space;
  if (m_replicated != nullptr && plan.mesh.elements == last.plan.mesh.elements) {
    auto& landing = last.landing.emplace();
    landing.space = std::make_unique<AssembledSpace>(
        m_comm, BoxMesh(last.plan.mesh, plan.order, m_comm.size(), m_comm.rank()),
        Summation::ordinary, last.space);
    landing.transfer = std::make_unique<OrderTransfer<T>>(*last.space, *landing.space);
    landing.b = landing.space->template make_vector<T>("landing b");
    landing.x = landing.space->template make_vector<T>("landing x");
    from = landing.space.get();
  }
  last.coarse_solver = std::make_unique<CoarseSolver<T>>(m_comm, *from, plan, std::move(problem));
}

template <class T>
void Multigrid<T>::apply(const DeviceVector<double>& r, const DeviceVector<double>& z,
                         double norm) {
  const Region region("V-cycle");
  LevelVectors<T>& v = m_levels.front().v;
  if constexpr (std::is_same_v<T, double>) {
    v.b = r;
    v.x = z;
    cycle(0);
  } else {
    const double factor = norm > 0 ? 1 / norm : 1;
    scaled_copy(r, factor, v.b);
    cycle(0);
    scaled_copy(v.x, m_levels.front().scale / factor, z);
  }
}

template <class T>
void Multigrid<T>::set_polynomial(ChebyshevKind kind, int degree) {
  m_polynomial = kind;
  for (Level& level : m_levels)
    level.smoother->set_steps(chebyshev_steps(kind, degree, level.lambda_max));
  if (m_replicated != nullptr) m_replicated->set_polynomial(kind, degree);
}

template <class T>
void Multigrid<T>::check() const {
  for (const GatherScatter* const gs : m_all_gs) gs->check();
}

template <class T>
double Multigrid<T>::least_bytes() const {
  double bytes = 0;
  for (const Level& level : m_levels) {
    const int degree = level.smoother->degree();
    // Values per entry: 4 in the first step, 8 in each other one, 3 in each of the correction and
    // the residual.
    const double values = 4 + 8 * (degree - 1) + 8 * degree + 3 + 3;
    bytes += 2 * degree * level.a->least_bytes() + values * sizeof(T) * level.space->size();
  }
  return bytes + (m_replicated != nullptr ? m_replicated->least_bytes() : 0);
}

template <class T>
double Multigrid<T>::estimated_bytes(const BoxMesh& finest, const MultigridOptions& options) {
  if (finest.total_dofs() == 0) return 0;  // an error that others report
  const auto orders = options.orders.empty() ? halved_orders(finest.order()) : options.orders;
  const double vector = sizeof(double) * finest.lattice_volume();
  const double factors = FactorsOf<T>::estimated_bytes(finest);
  constexpr double size = double{sizeof(T)} / sizeof(double);
  const bool shares_factors = std::is_same_v<T, double>;
  // The finest level has the space of the problem.
  double bytes = 6 * size * vector + (shares_factors ? 0 : factors);
  double coarser = 0;
  for (std::size_t l = 1; l < orders.size(); ++l) {
    const double share = std::pow((orders[l] + 1.0) / finest.nq(), 3);
    coarser = share * (AssembledSpace::estimated_bytes(finest) + factors + 6 * size * vector);
    bytes += coarser;
  }
  if (options.smoother == SmootherKind::schwarz)
    for (const int order : orders)
      if (order >= least_schwarz_order) {
        // Results, sums of them, and lists of values.
        const double points = std::pow((order + 3.0) / finest.nq(), 3) * finest.lattice_volume();
        bytes += points * 1.5 * (2 * sizeof(T) + 2 * sizeof(LocalIndex));
      }
  // Coarser meshes halve the elements at least. During set-up, a level has vectors in double, and a
  // level in single precision also has its factors in double.
  bytes +=
      coarser + 4 * vector + (shares_factors ? 0 : GeometricFactors::estimated_bytes(finest) / 8);
  const double ranks = std::round(static_cast<double>(finest.spec().total_elements()) /
                                  static_cast<double>(finest.box().volume()));
  const auto plans = plan_levels(
      finest.spec().divided_by({}), orders, static_cast<int>(ranks), options.coarse_dofs,
      [](const MeshSpec&) { return true; }, options.replicated_dofs);
  for (std::size_t l = 0; l + 1 < plans.size(); ++l)
    if (plans[l].is_replicated) {
      const BoxMesh mesh = whole_mesh(plans[l].mesh, plans[l].order);
      bytes += AssembledSpace::estimated_bytes(mesh) + FactorsOf<T>::estimated_bytes(mesh) +
               GeometricFactors::estimated_bytes(mesh) + 12 * sizeof(T) * mesh.lattice_volume();
    }
  const auto direct = static_cast<double>(plans.back().total_dofs());
  return bytes + direct * direct * (sizeof(double) + 2 * sizeof(T));
}

template <class T>
void Multigrid<T>::cycle(std::size_t level) {
  if (level > m_levels.size()) return m_replicated->cycle(level - m_levels.size());
  if (!(KernelGraph::is_available && m_records && replay(level))) launch(level);
}

template <class T>
void Multigrid<T>::launch(std::size_t level) {
  if (level < m_levels.size() - 1 && KernelGraph::is_available && m_records) {
    // The exchanges of coarser levels may need no host.
    go_down(level);
    cycle(level + 1);
    return go_up(level);
  }
  run(level);
}

template <class T>
void Multigrid<T>::run(std::size_t level) {
  descend(level);
  {
    const Region region("coarse solve");
    coarse_solver().sum_over_ranks();
  }
  ascend(level);
}

template <class T>
void Multigrid<T>::go_down(std::size_t l) {
  const Region region("level " + std::to_string(m_first_level + l));
  m_levels[l].smoother->smooth_from_zero(m_levels[l].v);
  if (l + 1 < m_levels.size())
    m_levels[l].to_next->restrict_to(m_levels[l].v.r, m_levels[l + 1].v.b);
}

template <class T>
void Multigrid<T>::go_up(std::size_t l) {
  const Region region("level " + std::to_string(m_first_level + l));
  if (l + 1 < m_levels.size())
    m_levels[l].to_next->prolong_to(m_levels[l + 1].v.x, m_levels[l].v.z);
  m_levels[l].smoother->correct_and_smooth(m_levels[l].v);
}

template <class T>
void Multigrid<T>::descend(std::size_t first) {
  for (std::size_t l = first; l < m_levels.size(); ++l) go_down(l);
  const Region region("coarse solve");
  m_levels.back().begin_coarse_solve();
}

template <class T>
void Multigrid<T>::ascend(std::size_t first) {
  {
    const Region region("coarse solve");
    m_levels.back().end_coarse_solve();
  }
  for (std::size_t l = m_levels.size(); l-- > first;) go_up(l);
}

template <class T>
typename Multigrid<T>::Recorded Multigrid<T>::current() const {
  Recorded now{0, m_levels.front().v.b.data(), m_levels.front().v.x.data()};
  for (const GatherScatter* const gs : m_all_gs) now.n_selections += gs->n_selections();
  return now;
}

template <class T>
bool Multigrid<T>::replay(std::size_t level) {
  Recording& recording = m_recordings[{level, m_polynomial, m_levels.front().smoother->degree()}];
  if (const Recorded now = current(); recording.of != now) {
    // The next cycle makes the exchanges that are selected now, which no graph can record.
    recording = Recording{};
    recording.of = now;
    return false;
  }
  if (!recording.first) record(recording, level);
  if (!recording.is_possible) return false;
  check();
  recording.first->replay();
  if (recording.rest) {
    coarse_solver().sum_over_ranks();
    recording.rest->replay();
  }
  return true;
}

template <class T>
void Multigrid<T>::record(Recording& recording, std::size_t level) {
  const bool sums = coarse_solver().is_queued();
  for (std::size_t l = level; l < m_levels.size(); ++l)
    recording.is_possible = m_levels[l].is_queued() && recording.is_possible;
  if (!recording.is_possible) return;
  try {
    recording.first.emplace([&] {
      descend(level);
      if (!sums) return;
      coarse_solver().sum_over_ranks();
      ascend(level);
    });
    if (!sums) recording.rest.emplace([&] { ascend(level); });
  } catch (const InternalError&) {
    recording.is_possible = false;  // launches do the same
  }
}

template <class T>
bool Multigrid<T>::is_recorded(std::size_t level) const {
  if (level > m_levels.size()) return m_replicated->is_recorded(level - m_levels.size());
  const auto found = m_recordings.find({level, m_polynomial, m_levels.front().smoother->degree()});
  return found != m_recordings.end() && found->second.of == current() &&
         found->second.is_possible && found->second.first;
}

template class Multigrid<double>;
template class Multigrid<float>;

}  // namespace nekbone_k
