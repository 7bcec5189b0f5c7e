/// @file
/// The vector part of conjugate gradients, in two versions with one interface.
#pragma once

#include "core/communicator.hpp"
#include "core/types.hpp"
#include "gs/rank_sum.hpp"

namespace nekbone_k {

/// Entries of assembled vectors that vector kernels work on: all of [0, size), of which a rank
/// counts [first_owned, size) in dot products, so that a shared DOF counts once.
struct VectorRange {
  LocalIndex size = 0, first_owned = 0;
};

/// The two products that an iteration needs of the new residual.
struct ResidualProducts {
  double r_dot_r = 0, r_dot_z = 0;

  KOKKOS_FUNCTION ResidualProducts& operator+=(const ResidualProducts& other) {
    r_dot_r += other.r_dot_r;
    r_dot_z += other.r_dot_z;
    return *this;
  }
};

/// One kernel for each group of operations that can share its reads; the preconditioned residual
/// z = M r is formed where it is used and never stored. An empty `inverse_diagonal` means M = I.
/// Products are summed over the ranks by `all_reduce`: those who return one are collective, as are
/// the constructor and the end.
///
/// Least traffic an entry, in doubles read and written: update_residual 3 (4 with Jacobi),
/// update_solution_and_direction 5 (6): 8 (10) an iteration beside the operator.
class FusedVectorOps {
 public:
  FusedVectorOps(const Communicator& comm, VectorRange range,
                 ConstDeviceVector<double> inverse_diagonal,
                 const AllReduceStrategy& all_reduce = all_reduce_strategies().front());

  /// r·r and r·z of a residual as it is.
  ResidualProducts products(const DeviceVector<double>& r) const;
  /// r = r - alpha ap, and its products.
  ResidualProducts update_residual(double alpha, const DeviceVector<double>& ap,
                                   const DeviceVector<double>& r) const;
  /// x = x + alpha p, then p = z + beta p.
  void update_solution_and_direction(double alpha, double beta, const DeviceVector<double>& r,
                                     const DeviceVector<double>& x,
                                     const DeviceVector<double>& p) const;

  /// Doubles read and written an entry and iteration.
  int traffic() const { return m_inverse_diagonal.extent(0) > 0 ? 10 : 8; }

 private:
  VectorRange m_range;
  ConstDeviceVector<double> m_inverse_diagonal;
  DeviceVector<ResidualProducts> m_parts;  // a team each; zeros where there are fewer
  RankSum<ResidualProducts> m_sum;
};

/// The same by calls of Kokkos Kernels, one operation each, and MPI_Allreduce: what a solver
/// written on libraries does.
///
/// Traffic an entry: axpby 3 three times and nrm2 1 (as p, which aliases no z, needs no copy), 10;
/// with Jacobi z is stored: mult 3 and dot 2 more, 15.
class KokkosKernelsVectorOps {
 public:
  KokkosKernelsVectorOps(const Communicator& comm, VectorRange range,
                         ConstDeviceVector<double> inverse_diagonal);

  ResidualProducts products(const DeviceVector<double>& r) const;
  ResidualProducts update_residual(double alpha, const DeviceVector<double>& ap,
                                   const DeviceVector<double>& r) const;
  void update_solution_and_direction(double alpha, double beta, const DeviceVector<double>& r,
                                     const DeviceVector<double>& x,
                                     const DeviceVector<double>& p) const;

  int traffic() const { return m_inverse_diagonal.extent(0) > 0 ? 15 : 10; }

 private:
  const Communicator& m_comm;
  VectorRange m_range;
  ConstDeviceVector<double> m_inverse_diagonal;
  DeviceVector<double> m_z;
};

}  // namespace nekbone_k
