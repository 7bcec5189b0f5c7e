// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The vector operations of conjugate gradients, in two versions with one interface.
#pragma once

#include <concepts>
#include <optional>

#include "core/communicator.hpp"
#include "core/entry_reduction.hpp"
#include "operators/assembled_space.hpp"
#include "reduce/product_sums.hpp"

namespace nekbone_k {

/// The two products of the new residual that an iteration needs.
struct ResidualProducts {
  double r_dot_r = 0, r_dot_z = 0;
};

/// The two products of a preconditioned residual z that flexible CG needs.
struct FlexibleProducts {
  double r_dot_z = 0, ap_dot_z = 0;
};

/// The vector operations of conjugate gradients on one preconditioner. Members that return products
/// are collective; update_solution_and_direction() works on entries [begin, end).
template <class Ops>
concept VectorOperations = requires(const Ops& ops, const DeviceVector<double>& v, double factor,
                                    LocalIndex entry) {
  { ops.products(v) } -> std::same_as<ResidualProducts>;
  { ops.update_residual(factor, v, v) } -> std::same_as<ResidualProducts>;
  ops.update_solution_and_direction(factor, factor, v, v, v, entry, entry);
};

/// Fused vector operations: one kernel per group of operations that can share its reads. The
/// preconditioned residual z = M r is computed where it is used and never stored. An empty
/// `inverse_diagonal` means M = I. Members that return products are collective, because they use
/// `all_reduce`; so are the constructor and the destructor.
///
/// For `reproducible_terms` see ProductSums.
///
/// Minimum traffic per entry, in doubles read and written:
/// - update_residual: 3 (4 with Jacobi),
/// - update_solution_and_direction: 5 (6),
/// - per iteration, without the operator: 8 (10).
///
/// Reproducible products read the residual (and the diagonal) once more.
class FusedVectorOps {
 public:
  FusedVectorOps(const Communicator& comm, VectorRange range,
                 ConstDeviceVector<double> inverse_diagonal,
                 const AllReduceStrategy& all_reduce = all_reduce_strategies().front(),
                 std::optional<double> reproducible_terms = {});

  /// r·r and r·z of an unchanged residual.
  ResidualProducts products(const DeviceVector<double>& r) const;
  /// r·z and ap·z of a z that is stored.
  FlexibleProducts products(const DeviceVector<double>& r, const DeviceVector<double>& ap,
                            const DeviceVector<double>& z) const;
  /// r = r - alpha ap, and the products of the new r.
  ResidualProducts update_residual(double alpha, const DeviceVector<double>& ap,
                                   const DeviceVector<double>& r) const;
  /// x = x + alpha p, then p = z + beta p, at entries [begin, end).
  void update_solution_and_direction(double alpha, double beta, const DeviceVector<double>& r,
                                     const DeviceVector<double>& x, const DeviceVector<double>& p,
                                     LocalIndex begin, LocalIndex end) const;

  /// Doubles read and written per entry and iteration.
  int traffic() const {
    const int again = m_sums.is_reproducible() ? 1 : 0;
    return m_inverse_diagonal.extent(0) > 0 ? 10 + 2 * again : 8 + again;
  }

 private:
  VectorRange m_range;
  ConstDeviceVector<double> m_inverse_diagonal;
  ProductSums<2> m_sums;
};

/// The operations on vectors of a space; reproducible if the space is deterministic. Collective.
FusedVectorOps fused_ops(const Communicator& comm, const AssembledSpace& space,
                         const ConstDeviceVector<double>& inverse_diagonal,
                         const AllReduceStrategy& all_reduce = all_reduce_strategies().front());

/// The same operations by Kokkos Kernels, one call each, and MPI_Allreduce, as in a solver built on
/// libraries.
///
/// Traffic per entry, in doubles: axpby 3 three times and nrm2 1 (p needs no copy, because it
/// aliases no z), in total 10. With Jacobi z is stored: mult 3 and dot 2 more, in total 15.
/// update_solution_and_direction() then reads the z that the last products() or update_residual()
/// stored.
class KokkosKernelsVectorOps {
 public:
  KokkosKernelsVectorOps(const Communicator& comm, VectorRange range,
                         const ConstDeviceVector<double>& inverse_diagonal);

  ResidualProducts products(const DeviceVector<double>& r) const;
  ResidualProducts update_residual(double alpha, const DeviceVector<double>& ap,
                                   const DeviceVector<double>& r) const;
  void update_solution_and_direction(double alpha, double beta, const DeviceVector<double>& r,
                                     const DeviceVector<double>& x, const DeviceVector<double>& p,
                                     LocalIndex begin, LocalIndex end) const;

  int traffic() const { return m_inverse_diagonal.extent(0) > 0 ? 15 : 10; }

 private:
  const Communicator& m_comm;
  VectorRange m_range;
  ConstDeviceVector<double> m_inverse_diagonal;
  DeviceVector<double> m_z;
};

}  // namespace nekbone_k
