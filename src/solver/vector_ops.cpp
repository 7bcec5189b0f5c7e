#include "solver/vector_ops.hpp"

#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_mult.hpp>
#include <KokkosBlas1_nrm2_squared.hpp>

namespace nekbone_k {
namespace {

using Range = Kokkos::RangePolicy<ExecutionSpace>;

/// z = M r at entry a, for the two M there are. Types, so that no kernel branches on which it is.
struct Identity {
  KOKKOS_FUNCTION double operator()(LocalIndex, double r) const { return r; }
};
struct Diagonal {
  ConstDeviceVector<double> entries;
  KOKKOS_FUNCTION double operator()(LocalIndex a, double r) const { return entries(a) * r; }
};

template <class Preconditioner>
ResidualProducts products_with(VectorRange range, const Preconditioner& z,
                               const DeviceVector<double>& r) {
  ResidualProducts products;
  Kokkos::parallel_reduce(
      "nekbone_k: products", Range(range.first_owned, range.size),
      KOKKOS_LAMBDA(const LocalIndex a, double& rr, double& rz) {
        rr += r(a) * r(a);
        rz += r(a) * z(a, r(a));
      },
      products.r_dot_r, products.r_dot_z);
  return products;
}

template <class Preconditioner>
ResidualProducts update_residual_with(VectorRange range, const Preconditioner& z, double alpha,
                                      const DeviceVector<double>& ap,
                                      const DeviceVector<double>& r) {
  // Entries owned elsewhere are few and come first: a loop of their own keeps the main loop free of
  // a test.
  Kokkos::parallel_for(
      "nekbone_k: update residual, not owned", Range(0, range.first_owned),
      KOKKOS_LAMBDA(const LocalIndex a) { r(a) -= alpha * ap(a); });
  ResidualProducts products;
  Kokkos::parallel_reduce(
      "nekbone_k: update residual", Range(range.first_owned, range.size),
      KOKKOS_LAMBDA(const LocalIndex a, double& rr, double& rz) {
        const double value = r(a) - alpha * ap(a);
        r(a) = value;
        rr += value * value;
        rz += value * z(a, value);
      },
      products.r_dot_r, products.r_dot_z);
  return products;
}

template <class Preconditioner>
void update_solution_and_direction_with(VectorRange range, const Preconditioner& z, double alpha,
                                        double beta, const DeviceVector<double>& r,
                                        const DeviceVector<double>& x,
                                        const DeviceVector<double>& p) {
  Kokkos::parallel_for(
      "nekbone_k: update solution and direction", Range(0, range.size),
      KOKKOS_LAMBDA(const LocalIndex a) {
        const double direction = p(a);
        x(a) += alpha * direction;
        p(a) = z(a, r(a)) + beta * direction;
      });
}

}  // namespace

ResidualProducts FusedVectorOps::products(const DeviceVector<double>& r) const {
  return is_jacobi() ? products_with(m_range, Diagonal{m_inverse_diagonal}, r)
                     : products_with(m_range, Identity{}, r);
}

ResidualProducts FusedVectorOps::update_residual(double alpha, const DeviceVector<double>& ap,
                                                 const DeviceVector<double>& r) const {
  return is_jacobi() ? update_residual_with(m_range, Diagonal{m_inverse_diagonal}, alpha, ap, r)
                     : update_residual_with(m_range, Identity{}, alpha, ap, r);
}

void FusedVectorOps::update_solution_and_direction(double alpha, double beta,
                                                   const DeviceVector<double>& r,
                                                   const DeviceVector<double>& x,
                                                   const DeviceVector<double>& p) const {
  if (is_jacobi())
    update_solution_and_direction_with(m_range, Diagonal{m_inverse_diagonal}, alpha, beta, r, x, p);
  else
    update_solution_and_direction_with(m_range, Identity{}, alpha, beta, r, x, p);
}

KokkosKernelsVectorOps::KokkosKernelsVectorOps(VectorRange range,
                                               ConstDeviceVector<double> inverse_diagonal)
    : m_range(range), m_inverse_diagonal(inverse_diagonal) {
  if (inverse_diagonal.extent(0) > 0)
    m_z = DeviceVector<double>("nekbone_k: preconditioned residual", inverse_diagonal.extent(0));
}

ResidualProducts KokkosKernelsVectorOps::products(const DeviceVector<double>& r) const {
  const std::pair<LocalIndex, LocalIndex> owned(m_range.first_owned, m_range.size);
  const auto r_owned = Kokkos::subview(r, owned);
  ResidualProducts products;
  products.r_dot_r = KokkosBlas::nrm2_squared(r_owned);
  if (m_z.extent(0) == 0) {
    products.r_dot_z = products.r_dot_r;
  } else {
    KokkosBlas::mult(0.0, m_z, 1.0, m_inverse_diagonal, r);
    products.r_dot_z = KokkosBlas::dot(r_owned, Kokkos::subview(m_z, owned));
  }
  return products;
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
                                                           const DeviceVector<double>& p) const {
  KokkosBlas::axpby(alpha, p, 1.0, x);
  KokkosBlas::axpby(1.0, m_z.extent(0) == 0 ? r : m_z, beta, p);
}

}  // namespace nekbone_k
