// SPDX-License-Identifier: BSD-3-Clause
#include "solver/vector_ops.hpp"

#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_mult.hpp>
#include <KokkosBlas1_nrm2_squared.hpp>
#include <array>
#include <type_traits>

#include "core/entry_reduction.hpp"
#include "solver/cg_terms.hpp"
#include "solver/point_preconditioner.hpp"

namespace nekbone_k {
namespace {

using Range = Kokkos::RangePolicy<ExecutionSpace>;

/// An alpha that the host knows.
struct GivenAlpha {
  double alpha;
  KOKKOS_FORCEINLINE_FUNCTION double operator()() const { return alpha; }
};

/// The products r·r and r·z of an unchanged residual.
template <class Preconditioner>
struct ResidualTerms {
  static constexpr int n_products = 2;
  const double* r;
  Preconditioner preconditioner;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&x)[2], Value (&y)[2]) const {
    const Value value = load_entry<Value>(r + a);
    x[0] = x[1] = y[0] = value;
    y[1] = preconditioner(a, value);
  }
};

/// The products of two vectors with a third.
struct ProductsWith {
  static constexpr int n_products = 2;
  const double *first, *second, *with;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&x)[2], Value (&y)[2]) const {
    x[0] = load_entry<Value>(first + a);
    x[1] = load_entry<Value>(second + a);
    y[0] = y[1] = load_entry<Value>(with + a);
  }
};

template <class Preconditioner>
void update_solution_and_direction_with(LocalIndex begin, LocalIndex end, const Preconditioner& z,
                                        double alpha, double beta, const DeviceVector<double>& r,
                                        const DeviceVector<double>& x,
                                        const DeviceVector<double>& p) {
  Kokkos::parallel_for(
      "nekbone_k: update solution and direction", Range(begin, end),
      KOKKOS_LAMBDA(const LocalIndex a) {
        const double direction = p(a);
        x(a) = fused_multiply_add(alpha, direction, x(a));
        p(a) = fused_multiply_add(beta, direction, z(a, r(a)));
      });
}

}  // namespace

FusedVectorOps::FusedVectorOps(const Communicator& comm, VectorRange range,
                               ConstDeviceVector<double> inverse_diagonal,
                               const AllReduceStrategy& all_reduce,
                               std::optional<double> reproducible_terms)
    : m_range(range),
      m_inverse_diagonal(std::move(inverse_diagonal)),
      m_sums(comm, range, all_reduce, reproducible_terms) {}

ResidualProducts FusedVectorOps::products(const DeviceVector<double>& r) const {
  return with_preconditioner(m_inverse_diagonal, [&](const auto& z) {
    const ResidualTerms<std::decay_t<decltype(z)>> terms{r.data(), z};
    const auto [r_dot_r, r_dot_z] = m_sums.sum("nekbone_k: products", terms);
    return ResidualProducts{r_dot_r, r_dot_z};
  });
}

FlexibleProducts FusedVectorOps::products(const DeviceVector<double>& r,
                                          const DeviceVector<double>& ap,
                                          const DeviceVector<double>& z) const {
  const ProductsWith terms{r.data(), ap.data(), z.data()};
  const auto [r_dot_z, ap_dot_z] = m_sums.sum("nekbone_k: flexible products", terms);
  return {r_dot_z, ap_dot_z};
}

ResidualProducts FusedVectorOps::update_residual(double alpha, const DeviceVector<double>& ap,
                                                 const DeviceVector<double>& r) const {
  return with_preconditioner(m_inverse_diagonal, [&](const auto& z) {
    using M = std::decay_t<decltype(z)>;
    const auto [r_dot_r, r_dot_z] =
        m_sums.sum("nekbone_k: update residual",
                   UpdateResidual<M, GivenAlpha>{{alpha}, z, ap.data(), r.data()},
                   ResidualTerms<M>{r.data(), z});
    return ResidualProducts{r_dot_r, r_dot_z};
  });
}

void FusedVectorOps::update_solution_and_direction(double alpha, double beta,
                                                   const DeviceVector<double>& r,
                                                   const DeviceVector<double>& x,
                                                   const DeviceVector<double>& p, LocalIndex begin,
                                                   LocalIndex end) const {
  with_preconditioner(m_inverse_diagonal, [&](const auto& z) {
    update_solution_and_direction_with(begin, end, z, alpha, beta, r, x, p);
  });
}

FusedVectorOps fused_ops(const Communicator& comm, const AssembledSpace& space,
                         const ConstDeviceVector<double>& inverse_diagonal,
                         const AllReduceStrategy& all_reduce) {
  return FusedVectorOps(comm, space.range(), inverse_diagonal, all_reduce,
                        space.reproducible_terms());
}

KokkosKernelsVectorOps::KokkosKernelsVectorOps(const Communicator& comm, VectorRange range,
                                               const ConstDeviceVector<double>& inverse_diagonal)
    : m_comm(comm), m_range(range), m_inverse_diagonal(inverse_diagonal) {
  if (inverse_diagonal.extent(0) > 0)
    m_z = DeviceVector<double>("nekbone_k: preconditioned residual", inverse_diagonal.extent(0));
}

ResidualProducts KokkosKernelsVectorOps::products(const DeviceVector<double>& r) const {
  const std::pair<LocalIndex, LocalIndex> owned(m_range.first_owned, m_range.size);
  const auto r_owned = Kokkos::subview(r, owned);
  std::array<double, 2> products{KokkosBlas::nrm2_squared(r_owned)};
  if (m_z.extent(0) == 0) {
    products[1] = products[0];
  } else {
    KokkosBlas::mult(0.0, m_z, 1.0, m_inverse_diagonal, r);
    products[1] = KokkosBlas::dot(r_owned, Kokkos::subview(m_z, owned));
  }
  m_comm.sum(products);
  return {products[0], products[1]};
}

ResidualProducts KokkosKernelsVectorOps::update_residual(double alpha,
                                                         const DeviceVector<double>& ap,
                                                         const DeviceVector<double>& r) const {
  KokkosBlas::axpby(-alpha, ap, 1.0, r);
  return products(r);
}

void KokkosKernelsVectorOps::update_solution_and_direction(double alpha, double beta,
                                                           const DeviceVector<double>& r,
                                                           const DeviceVector<double>& x,
                                                           const DeviceVector<double>& p,
                                                           LocalIndex begin, LocalIndex end) const {
  const auto part = [&](const DeviceVector<double>& v) {
    return Kokkos::subview(v, std::pair(begin, end));
  };
  KokkosBlas::axpby(alpha, part(p), 1.0, part(x));
  KokkosBlas::axpby(1.0, part(m_z.extent(0) == 0 ? r : m_z), beta, part(p));
}

}  // namespace nekbone_k
