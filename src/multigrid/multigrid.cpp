// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/multigrid.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "core/entry_loop.hpp"
#include "core/errors.hpp"
#include "core/region.hpp"
#include "multigrid/mesh_transfer.hpp"
#include "multigrid/order_transfer.hpp"
#include "operators/null_space.hpp"
#include "solver/lanczos.hpp"
#include "solver/problem.hpp"

namespace nekbone_k {
namespace {

/// Estimates the largest eigenvalue of S A, with the vectors of a level's space.
class EigenvalueEstimate {
 public:
  /// Collective.
  EigenvalueEstimate(const Communicator& comm, const EllipticOperator& a,
                     const GeometricFactors& factors)
      : m_comm(comm), m_a(a) {
    AssembledSpace& space = a.space();
    const auto vector = [&](const char* label) { return space.make_vector(label); };
    m_v = {vector("x"), vector("r"), vector("p"), vector("Ap")};
    // The right-hand side of Nekbone's problem has a part in every eigenvector.
    Problem(ProblemKind::nekbone, space.mesh().spec(), a.lambda())
        .right_hand_side(space, factors, m_v.r);
    if (a.is_singular()) remove_constants(comm, space, m_v.r);
  }
  /// With S the inverse diagonal. Overwrites the vectors. Collective.
  double with_jacobi(const DeviceVector<double>& inverse_diagonal) const {
    const FusedVectorOps ops = fused_ops(m_comm, m_a.space(), inverse_diagonal);
    return eigenvalue_margin * lanczos_bound(m_a, ops, m_v, eigenvalue_steps);
  }
  /// Overwrites the vectors. Collective.
  template <ApproximateInverse M>
  double with(M& s) const {
    const FusedVectorOps ops = fused_ops(m_comm, m_a.space(), {});
    const FlexibleCgVectors v{m_v, m_a.space().make_vector("z")};
    return eigenvalue_margin * lanczos_bound(m_a, s, ops, v, eigenvalue_steps);
  }

 private:
  const Communicator& m_comm;
  const EllipticOperator& m_a;
  CgVectors m_v;
};

/// The power of two that brings the largest entry of a diagonal to about 1, given its inverse.
/// Collective.
double scale_of(const Communicator& comm, const DeviceVector<double>& inverse_diagonal) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "nekbone_k: largest diagonal entry",
      Kokkos::RangePolicy<ExecutionSpace>(0, inverse_diagonal.extent(0)),
      KOKKOS_LAMBDA(const LocalIndex a, double& value) {
        const double inverse = inverse_diagonal(a);
        const double entry = inverse != 0 ? 1 / inverse : 0;
        if (entry > value) value = entry;
      },
      Kokkos::Max<double>(largest));
  return std::exp2(-std::round(std::log2(comm.max(largest))));
}

/// to = factor from, between precisions.
template <class From, class To>
void convert(const From& from, double factor, const DeviceVector<To>& to) {
  for_entries(
      "nekbone_k: convert", 0, static_cast<LocalIndex>(to.extent(0)),
      KOKKOS_LAMBDA(const LocalIndex a) {
        return Kokkos::Array<To, 1>{static_cast<To>(factor * from(a))};
      },
      KOKKOS_LAMBDA(const LocalIndex a, const Kokkos::Array<To, 1>& in) { to(a) = in[0]; });
}

/// Additive Schwarz on doubles. `scale` is that of its operator.
template <class T>
class SchwarzInverse {
 public:
  SchwarzInverse(AdditiveSchwarz<T>& s, const AssembledSpace& space, double scale)
      : m_s(s), m_scale(scale), m_r(space.make_vector<T>("scaled residual")) {}

  void apply(const DeviceVector<double>& r, const DeviceVector<double>& z, double norm) {
    const double factor = norm > 0 ? 1 / norm : 1;
    convert(r, factor, m_r);
    convert(m_s(m_r), m_scale / factor, z);
  }

 private:
  AdditiveSchwarz<T>& m_s;
  double m_scale;
  DeviceVector<T> m_r;
};

}  // namespace

template <class T>
Multigrid<T>::Multigrid(const Communicator& comm, AssembledSpace& finest,
                        const GeometricFactors& factors, double lambda,
                        const MultigridOptions& options)
    : m_comm(comm) {
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
  const auto plans =
      plan_levels(finest.mesh().spec(), orders, comm.size(), options.coarse_dofs, is_valid);
  m_coarsest = plans.back();
  if (m_coarsest.total_dofs() > most_direct_dofs)
    throw InputError(
        fmt::format("multigrid cannot coarsen this mesh below {} DOFs; the coarse solve allows at "
                    "most {}; use fewer ranks, or solver.preconditioner jacobi",
                    m_coarsest.total_dofs(), most_direct_dofs));
  m_levels.reserve(plans.size() - 1);
  for (std::size_t l = 0; l + 1 < plans.size(); ++l) {
    Level& level = m_levels.emplace_back();
    level.plan = plans[l];
    if (l == 0) {
      level.space = &finest;
    } else {
      Level& finer = m_levels[l - 1];
      const bool same_mesh = finer.plan.mesh.elements == level.plan.mesh.elements;
      level.own_space = std::make_unique<AssembledSpace>(
          comm, BoxMesh(level.plan.mesh, level.plan.order, comm.size(), comm.rank()),
          finest.is_deterministic() ? Summation::deterministic : Summation::ordinary,
          same_mesh ? finer.space : nullptr);
      level.space = level.own_space.get();
      if (same_mesh)
        finer.to_next = std::make_unique<OrderTransfer<T>>(*finer.space, *level.space);
      else
        finer.to_next = std::make_unique<MeshTransfer<T>>(comm, *finer.space, *level.space);
    }
    set_up(level, l == 0 ? &factors : nullptr, lambda, options);
  }
  m_coarse_solver =
      std::make_unique<CoarseSolver<T>>(comm, *m_levels.back().space, m_coarsest, lambda, m_scale);
}

template <class T>
void Multigrid<T>::set_up(Level& level, const GeometricFactors* finest, double lambda,
                          const MultigridOptions& options) {
  AssembledSpace& space = *level.space;
  std::unique_ptr<GeometricFactors> made;
  if (!finest) made = std::make_unique<GeometricFactors>(space);
  const GeometricFactors& factors = finest ? *finest : *made;
  auto in_double = std::make_unique<EllipticOperator>(space, factors, lambda);
  const DeviceVector<double> inverse_diagonal = in_double->inverse_diagonal();
  if (!std::is_same_v<T, double> && finest) {
    m_scale = scale_of(m_comm, inverse_diagonal);
    // As SingleFactors::kernel_lambda(), but before anything is made, and on every rank.
    if (!(std::abs(lambda / m_scale / m_scale) <= std::numeric_limits<float>::max()))
      throw BeyondSingle(
          fmt::format("lambda {:g} is beyond single precision on this mesh", lambda));
  }
  // The sums of Schwarz patches depend on the division among ranks.
  std::unique_ptr<AdditiveSchwarz<T>> schwarz;
  if (options.smoother == SmootherKind::schwarz && space.mesh().order() >= least_schwarz_order &&
      !space.is_deterministic()) {
    schwarz = std::make_unique<AdditiveSchwarz<T>>(m_comm, space, lambda, m_scale);
    SchwarzInverse<T> s(*schwarz, space, m_scale);
    level.lambda_max = EigenvalueEstimate(m_comm, *in_double, factors).with(s);
  } else {
    level.lambda_max =
        EigenvalueEstimate(m_comm, *in_double, factors).with_jacobi(inverse_diagonal);
  }
  DeviceVector<T> scaled_inverse;
  if constexpr (std::is_same_v<T, double>) {
    scaled_inverse = inverse_diagonal;
    level.a = std::move(in_double);
    level.own_factors = std::move(made);
  } else {
    scaled_inverse = space.template make_vector<T>("scaled inverse diagonal");
    convert(inverse_diagonal, 1 / m_scale, scaled_inverse);
    level.own_factors = std::make_unique<SingleFactors>(factors, space, m_scale);
    level.a = std::make_unique<EllipticOperatorOf<T>>(space, *level.own_factors, lambda);
  }
  auto steps = chebyshev_steps(options.polynomial, options.degree, level.lambda_max);
  level.smoother =
      schwarz
          ? std::make_unique<Smoother<T>>(*level.a, std::move(schwarz), std::move(steps))
          : std::make_unique<Smoother<T>>(*level.a, std::move(scaled_inverse), std::move(steps));
  const auto vector = [&](const char* label) { return space.template make_vector<T>(label); };
  level.v = {vector("level b"), vector("level x"), vector("level r"), vector("level z"),
             vector("level Az")};
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
    convert(r, factor, v.b);
    cycle(0);
    convert(v.x, m_scale / factor, z);
  }
}

template <class T>
void Multigrid<T>::set_polynomial(ChebyshevKind kind, int degree) {
  for (Level& level : m_levels)
    level.smoother->set_steps(chebyshev_steps(kind, degree, level.lambda_max));
}

template <class T>
std::vector<GatherScatter*> Multigrid<T>::Level::other_gs() const {
  std::vector<GatherScatter*> others;
  if (to_next) others = to_next->own_gs();
  if (smoother->schwarz()) others.push_back(&smoother->schwarz()->gs());
  return others;
}

template <class T>
void Multigrid<T>::check() const {
  for (const Level& level : m_levels) {
    level.space->gs().check();
    for (const GatherScatter* const gs : level.other_gs()) gs->check();
  }
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
  return bytes;
}

template <class T>
double Multigrid<T>::estimated_bytes(const BoxMesh& finest, const MultigridOptions& options) {
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
  const double direct =
      static_cast<double>(plan_levels(finest.spec().divided_by({}), orders, static_cast<int>(ranks),
                                      options.coarse_dofs)
                              .back()
                              .total_dofs());
  return bytes + direct * direct * (sizeof(double) + 2 * sizeof(T));
}

template <class T>
void Multigrid<T>::cycle(std::size_t l) {
  if (l == m_levels.size()) {
    const Region region("coarse solve");
    m_coarse_solver->solve(m_levels.back().v.r, m_levels.back().v.z);
    return;
  }
  const Region region("level " + std::to_string(l));
  Level& level = m_levels[l];
  level.smoother->smooth_from_zero(level.v);
  if (l + 1 == m_levels.size()) {
    cycle(l + 1);
  } else {
    const LevelVectors<T>& coarser = m_levels[l + 1].v;
    level.to_next->restrict_to(level.v.r, coarser.b);
    cycle(l + 1);
    level.to_next->prolong_to(coarser.x, level.v.z);
  }
  level.smoother->correct_and_smooth(level.v);
}

template class Multigrid<double>;
template class Multigrid<float>;

}  // namespace nekbone_k
