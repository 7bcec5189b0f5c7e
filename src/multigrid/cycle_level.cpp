// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/cycle_level.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "multigrid/scaled_copy.hpp"
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

/// Additive Schwarz on doubles. `scale` is that of its operator.
template <class T>
class SchwarzInverse {
 public:
  SchwarzInverse(AdditiveSchwarz<T>& s, const AssembledSpace& space, double scale)
      : m_s(s), m_scale(scale), m_r(space.make_vector<T>("scaled residual")) {}

  void apply(const DeviceVector<double>& r, const DeviceVector<double>& z, double norm) {
    const double factor = norm > 0 ? 1 / norm : 1;
    scaled_copy(r, factor, m_r);
    scaled_copy(m_s(m_r), m_scale / factor, z);
  }

 private:
  AdditiveSchwarz<T>& m_s;
  double m_scale;
  DeviceVector<T> m_r;
};

}  // namespace

template <class T>
void CycleLevel<T>::set_up(const Communicator& comm, const GeometricFactors* finest, double lambda,
                           const MultigridOptions& options) {
  std::unique_ptr<GeometricFactors> made;
  if (!finest) made = std::make_unique<GeometricFactors>(*space);
  const GeometricFactors& factors = finest ? *finest : *made;
  auto in_double = std::make_unique<EllipticOperator>(*space, factors, lambda);
  const DeviceVector<double> inverse_diagonal = in_double->inverse_diagonal();
  if (!std::is_same_v<T, double> && finest) {
    scale = scale_of(comm, inverse_diagonal);
    // As SingleFactors::kernel_lambda(), but before anything is made, and on every rank.
    if (!(std::abs(lambda / scale / scale) <= std::numeric_limits<float>::max()))
      throw BeyondSingle(
          fmt::format("lambda {:g} is beyond single precision on this mesh", lambda));
  }
  // The sums of Schwarz patches depend on the division among ranks.
  std::unique_ptr<AdditiveSchwarz<T>> schwarz;
  if (options.smoother == SmootherKind::schwarz && space->mesh().order() >= least_schwarz_order &&
      !space->is_deterministic()) {
    schwarz = std::make_unique<AdditiveSchwarz<T>>(comm, *space, lambda, scale);
    SchwarzInverse<T> s(*schwarz, *space, scale);
    lambda_max = EigenvalueEstimate(comm, *in_double, factors).with(s);
  } else {
    lambda_max = EigenvalueEstimate(comm, *in_double, factors).with_jacobi(inverse_diagonal);
  }
  DeviceVector<T> scaled_inverse;
  if constexpr (std::is_same_v<T, double>) {
    scaled_inverse = inverse_diagonal;
    a = std::move(in_double);
    own_factors = std::move(made);
  } else {
    scaled_inverse = space->template make_vector<T>("scaled inverse diagonal");
    scaled_copy(inverse_diagonal, 1 / scale, scaled_inverse);
    own_factors = std::make_unique<SingleFactors>(factors, *space, scale);
    a = std::make_unique<EllipticOperatorOf<T>>(*space, *own_factors, lambda);
  }
  auto steps = chebyshev_steps(options.polynomial, options.degree, lambda_max);
  smoother = schwarz
                 ? std::make_unique<Smoother<T>>(*a, std::move(schwarz), std::move(steps))
                 : std::make_unique<Smoother<T>>(*a, std::move(scaled_inverse), std::move(steps));
  const auto vector = [&](const char* label) { return space->template make_vector<T>(label); };
  v = {vector("level b"), vector("level x"), vector("level r"), vector("level z"),
       vector("level Az")};
}

template <class T>
void CycleLevel<T>::begin_coarse_solve() const {
  if (landing) {
    landing->transfer->restrict_to(v.r, landing->b);
    coarse_solver->restrict_here(landing->b);
  } else {
    coarse_solver->restrict_here(v.r);
  }
}

template <class T>
void CycleLevel<T>::end_coarse_solve() const {
  if (landing) {
    coarse_solver->finish(landing->x);
    landing->transfer->prolong_to(landing->x, v.z);
  } else {
    coarse_solver->finish(v.z);
  }
}

template <class T>
std::vector<GatherScatter*> CycleLevel<T>::other_gs() const {
  std::vector<GatherScatter*> others;
  if (to_next) others = to_next->own_gs();
  if (smoother->schwarz()) others.push_back(&smoother->schwarz()->gs());
  if (landing) others.push_back(&landing->space->gs());
  if (coarse_solver && coarse_solver->gs()) others.push_back(coarse_solver->gs());
  return others;
}

template <class T>
bool CycleLevel<T>::is_queued() const {
  bool all = a->is_queued();
  if (to_next)
    for (GatherScatter* const gs : to_next->own_gs()) all = gs->template is_queued<T>() && all;
  if (smoother->schwarz()) all = smoother->schwarz()->gs().template is_queued<T>() && all;
  if (landing) all = landing->space->gs().template is_queued<T>() && all;
  return all;
}

template struct CycleLevel<double>;
template struct CycleLevel<float>;

}  // namespace nekbone_k
