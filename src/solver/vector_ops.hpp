/// @file
/// The vector part of conjugate gradients, in two versions with one interface.
#pragma once

#include <optional>

#include "core/communicator.hpp"
#include "core/entry_reduction.hpp"
#include "gs/rank_sum.hpp"
#include "gs/reproducible_sum.hpp"

namespace nekbone_k {

/// The two products that an iteration needs of the new residual.
struct ResidualProducts {
  double r_dot_r = 0, r_dot_z = 0;
};

/// One kernel for each group of operations that can share its reads; the preconditioned residual
/// z = M r is formed where it is used and never stored. An empty `inverse_diagonal` means M = I.
/// Products are summed over the ranks by `all_reduce`: those who return one are collective, as are
/// the constructor and the end.
///
/// With `reproducible_terms`, the entries that are not zero on all ranks together, products do not
/// depend on the division of the entries (ReproducibleSums).
///
/// Least traffic an entry, in doubles read and written: update_residual 3 (4 with Jacobi),
/// update_solution_and_direction 5 (6): 8 (10) an iteration beside the operator. Reproducible
/// products read the residual (and the diagonal) once more.
class FusedVectorOps {
 public:
  FusedVectorOps(const Communicator& comm, VectorRange range,
                 ConstDeviceVector<double> inverse_diagonal,
                 const AllReduceStrategy& all_reduce = all_reduce_strategies().front(),
                 std::optional<double> reproducible_terms = {});

  /// r·r and r·z of a residual as it is.
  ResidualProducts products(const DeviceVector<double>& r) const;
  /// r = r - alpha ap, and its products.
  ResidualProducts update_residual(double alpha, const DeviceVector<double>& ap,
                                   const DeviceVector<double>& r) const;
  /// x = x + alpha p, then p = z + beta p, at entries [begin, end).
  void update_solution_and_direction(double alpha, double beta, const DeviceVector<double>& r,
                                     const DeviceVector<double>& x, const DeviceVector<double>& p,
                                     LocalIndex begin, LocalIndex end) const;

  /// Doubles read and written an entry and iteration.
  int traffic() const {
    const int again = m_reproducible ? 1 : 0;
    return m_inverse_diagonal.extent(0) > 0 ? 10 + 2 * again : 8 + again;
  }
  /// The same of products(), which an iteration has once more where a null space is removed.
  int products_traffic() const {
    return (m_inverse_diagonal.extent(0) > 0 ? 2 : 1) * (m_reproducible ? 2 : 1);
  }

 private:
  /// The products of `first`; `again` gives the same terms without changing anything.
  template <class First, class Again>
  ResidualProducts sum(const char* label, const First& first, const Again& again) const;

  VectorRange m_range;
  ConstDeviceVector<double> m_inverse_diagonal;
  DeviceVector<EntryValues<2>> m_parts;  // a team each
  std::optional<RankSum<EntryValues<2>>> m_sum;
  std::optional<ReproducibleSums<2>> m_reproducible;
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
                                     const DeviceVector<double>& x, const DeviceVector<double>& p,
                                     LocalIndex begin, LocalIndex end) const;

  int traffic() const { return m_inverse_diagonal.extent(0) > 0 ? 15 : 10; }
  int products_traffic() const { return m_inverse_diagonal.extent(0) > 0 ? 6 : 1; }

 private:
  const Communicator& m_comm;
  VectorRange m_range;
  ConstDeviceVector<double> m_inverse_diagonal;
  DeviceVector<double> m_z;
};

}  // namespace nekbone_k
