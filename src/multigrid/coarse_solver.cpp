// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/coarse_solver.hpp"

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "core/errors.hpp"
#include "core/lanes.hpp"
#include "multigrid/dense_inverse.hpp"
#include "multigrid/lattice_interpolation.hpp"
#include "operators/elliptic_operator.hpp"

namespace nekbone_k {
namespace {

/// Largest inverse on constants, scaled; a float holds it.
constexpr double most_inverse = 1e30;

/// The mesh as if this rank had all of it.
BoxMesh whole(const MeshSpec& mesh, int order) { return BoxMesh(mesh.divided_by({}), order, 1, 0); }

/// The DOFs of a whole mesh, by ascending id. `mesh` is on one rank.
struct WholeMesh {
  explicit WholeMesh(const BoxMesh& mesh) {
    LatticePoint p;
    for (p[2] = 0; p[2] < mesh.lattice_length(2); ++p[2])
      for (p[1] = 0; p[1] < mesh.lattice_length(1); ++p[1])
        for (p[0] = 0; p[0] < mesh.lattice_length(0); ++p[0])
          if (!mesh.is_masked(p)) ids.push_back(mesh.global_id(p));
    for (std::size_t n = 0; n < ids.size(); ++n) number[ids[n]] = static_cast<LocalIndex>(n);
  }
  LocalIndex size() const { return static_cast<LocalIndex>(ids.size()); }

  std::vector<GlobalId> ids;
  std::unordered_map<GlobalId, LocalIndex> number;
};

/// The matrix of the whole mesh, column by column, by an operator on this rank alone. Its bits are
/// the same on all ranks: the order of ordinary sums differs between GPUs, and between calls.
std::vector<double> assembled_matrix(const BoxMesh& mesh, const WholeMesh& dofs, double lambda) {
  const Communicator alone(MPI_COMM_SELF);
  AssembledSpace space(alone, mesh, Summation::deterministic);
  const GeometricFactors geometry(space);
  const EllipticOperator a(space, geometry, lambda);
  const std::vector<GlobalId> ids = entry_ids(space);
  std::vector<LocalIndex> entry_of(dofs.size());
  for (std::size_t e = 0; e < ids.size(); ++e)
    if (ids[e] >= 0) entry_of[dofs.number.at(ids[e])] = static_cast<LocalIndex>(e);
  const auto u = space.make_vector("unit vector"), au = space.make_vector("column");
  const auto u_host = Kokkos::create_mirror_view(u), au_host = Kokkos::create_mirror_view(au);
  const std::size_t n = dofs.size();
  std::vector<double> matrix(n * n);
  for (std::size_t column = 0; column < n; ++column) {
    Kokkos::deep_copy(u_host, 0.0);
    u_host(entry_of[column]) = 1;
    Kokkos::deep_copy(u, u_host);
    a.apply(u, au);
    Kokkos::deep_copy(au_host, au);
    for (std::size_t row = 0; row < n; ++row) matrix[row * n + column] = au_host(entry_of[row]);
  }
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t column = 0; column < row; ++column) {
      double &below = matrix[row * n + column], &above = matrix[column * n + row];
      below = above = (below + above) / 2;
    }
  return matrix;
}

/// The inverse of A. `energy` is 1ᵀ A 1 if constants are the null space of the stiffness: then the
/// inverse on constants is 1 / `energy`, at most `limit`, and 0 if A is singular.
std::vector<double> inverse(std::vector<double> matrix, int n, std::optional<double> energy,
                            double limit) {
  // Adding c 11ᵀ makes the matrix definite and changes only its action on constants; the inverse
  // then has 11ᵀ / (c n²) too much.
  double trace = 0;
  for (int i = 0; i < n; ++i) trace += matrix[std::size_t(i) * n + i];
  const double added = trace;  // c n²
  constexpr double negligible = 1e-8;
  if (!energy || *energy > negligible * added) {
    require(invert_by_cholesky(matrix, n), "the coarsest operator is not positive definite");
    return matrix;
  }
  const double of_constants = *energy > 0 ? std::min(1 / *energy, limit) : 0;
  if (n == 1) return {of_constants};  // the rest of the entry is rounding
  for (double& entry : matrix) entry += added / (double{1} * n * n);
  require(invert_by_cholesky(matrix, n), "the coarsest operator is not positive definite");
  for (double& entry : matrix) entry += of_constants - 1 / added;
  return matrix;
}

template <class T>
void sum_over_ranks(const Communicator& comm, T* values, LocalIndex n) {
  const MPI_Datatype type = std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values, n, type, MPI_SUM, comm.get()), "MPI_Allreduce");
}

/// Σ row[i] r[i] in SIMD lanes, with several sums so that none waits for the last addition.
template <class T>
T product_in_lanes(const T* row, const T* r, int n) {
  constexpr int lanes = static_cast<int>(LanesOf<T>::size()), sums = 4;
  LanesOf<T> parts[sums] = {T(0), T(0), T(0), T(0)};
  int i = 0;
  for (; i + sums * lanes <= n; i += sums * lanes) {
    NEKBONE_K_UNROLL
    for (int part = 0; part < sums; ++part)
      parts[part] = fused_multiply_add(read_lanes(row + i + part * lanes),
                                       read_lanes(r + i + part * lanes), parts[part]);
  }
  const LanesOf<T> all = (parts[0] + parts[1]) + (parts[2] + parts[3]);
  T sum = 0;
  for (; i < n; ++i) sum += row[i] * r[i];
  for (int lane = 0; lane < lanes; ++lane) sum += all[lane];
  return sum;
}

using RowPolicy = Kokkos::TeamPolicy<ExecutionSpace>;

/// z(row) = Σ matrix(row, column) r(column), one row per team. No lambda, because nvcc registers
/// the kernel of a lambda only if host and device use the same of what it captures.
template <class T>
struct MatrixRow {
  Kokkos::View<const T**, Kokkos::LayoutRight, DeviceMemory> matrix;
  ConstDeviceVector<T> r;
  DeviceVector<T> z;
  int n;

  KOKKOS_FUNCTION void operator()(const RowPolicy::member_type& team) const {
    const int row = team.league_rank();
    T sum = 0;
    KOKKOS_IF_ON_HOST((sum = product_in_lanes(&matrix(row, 0), r.data(), n);))
    KOKKOS_IF_ON_DEVICE(
        (Kokkos::parallel_reduce(
             Kokkos::TeamThreadRange(team, n),
             [&](int column, T& part) { part += matrix(row, column) * r(column); }, sum);))
    Kokkos::single(Kokkos::PerTeam(team), [&]() { z(row) = sum; });
  }
};

}  // namespace

template <class T>
CoarseSolver<T>::CoarseSolver(const Communicator& comm, const AssembledSpace& fine,
                              const LevelPlan& coarse, double lambda, double scale)
    : m_comm(comm), m_is_deterministic(fine.is_deterministic()) {
  const BoxMesh mesh = whole(coarse.mesh, coarse.order);
  const WholeMesh dofs(mesh);
  const LatticeInterpolation p(mesh, fine.mesh());
  const std::vector<GlobalId> fine_ids = entry_ids(fine);

  // Captured in place of its struct, whose linkage is internal.
  const auto& number = dofs.number;
  typename SparseRows<T>::Builder prolongation;
  for (const GlobalId id : fine_ids) {
    if (id >= 0)
      p.for_coarse(id, [&](GlobalId coarse_id, double weight) {
        prolongation.add(number.at(coarse_id), weight);
      });
    prolongation.end_row();
  }
  m_prolongation = SparseRows<T>(prolongation);

  // The entries that this rank owns, by id.
  std::unordered_map<GlobalId, LocalIndex> owned;
  for (std::size_t e = fine.n_not_owned(); e < fine_ids.size(); ++e)
    if (fine_ids[e] >= 0) owned[fine_ids[e]] = static_cast<LocalIndex>(e);
  typename SparseRows<T>::Builder to_sum, restriction;
  if (m_is_deterministic) {
    const WholeMesh fine_dofs(whole(fine.mesh().spec(), fine.mesh().order()));
    for (const GlobalId id : fine_dofs.ids) {
      if (const auto found = owned.find(id); found != owned.end()) to_sum.add(found->second, 1);
      to_sum.end_row();
    }
    const auto& fine_number = fine_dofs.number;
    for (const GlobalId id : dofs.ids) {
      p.for_fine(id, [&](GlobalId fine_id, double weight) {
        restriction.add(fine_number.at(fine_id), weight);
      });
      restriction.end_row();
    }
    m_restriction = SparseRows<T>(restriction);
  } else {
    for (const GlobalId id : dofs.ids) {
      p.for_fine(id, [&](GlobalId fine_id, double weight) {
        if (const auto found = owned.find(fine_id); found != owned.end())
          to_sum.add(found->second, weight);
      });
      to_sum.end_row();
    }
  }
  m_to_sum = SparseRows<T>(to_sum);
  m_summed = DeviceVector<T>("nekbone_k: coarse sums", to_sum.ends.size());
  m_summed_here = Kokkos::create_mirror_view(m_summed);
  m_right_hand_side =
      m_is_deterministic ? DeviceVector<T>("nekbone_k: coarse residual", dofs.size()) : m_summed;
  m_solution = DeviceVector<T>("nekbone_k: coarse solution", dofs.size());

  std::optional<double> energy;
  const auto& extent = mesh.spec().extent;
  if (mesh.spec().fully_periodic()) energy = lambda * extent[0] * extent[1] * extent[2];
  const std::vector<double> values = inverse(assembled_matrix(mesh, dofs, lambda), dofs.size(),
                                             energy, /*limit=*/most_inverse * scale);
  m_inverse = decltype(m_inverse)("nekbone_k: coarse inverse", dofs.size(), dofs.size());
  const auto host = Kokkos::create_mirror_view(m_inverse);
  for (std::size_t i = 0; i < values.size(); ++i)
    host.data()[i] = static_cast<T>(values[i] / scale);
  Kokkos::deep_copy(m_inverse, host);
}

template <class T>
void CoarseSolver<T>::multiply_by_inverse(const ConstDeviceVector<T>& r,
                                          const DeviceVector<T>& z) const {
  const int n = n_dofs();
  Kokkos::parallel_for("nekbone_k: coarse solve", RowPolicy(n, is_host_device ? 1 : 64),
                       MatrixRow<T>{m_inverse, r, z, n});
}

template <class T>
void CoarseSolver<T>::solve(const DeviceVector<T>& r, const DeviceVector<T>& z) const {
  m_to_sum.multiply("nekbone_k: restrict to the coarsest", r, m_summed);
  if (m_comm.size() > 1) {
    Kokkos::deep_copy(m_summed_here, m_summed);  // waits
    sum_over_ranks(m_comm, m_summed_here.data(), static_cast<LocalIndex>(m_summed.extent(0)));
    Kokkos::deep_copy(ExecutionSpace(), m_summed, m_summed_here);
  }
  if (m_is_deterministic)
    m_restriction.multiply("nekbone_k: restrict to the coarsest", m_summed, m_right_hand_side);
  multiply_by_inverse(m_right_hand_side, m_solution);
  m_prolongation.multiply("nekbone_k: prolong from the coarsest", m_solution, z);
}

template class CoarseSolver<double>;
template class CoarseSolver<float>;

}  // namespace nekbone_k
