// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/dense_problem.hpp"

#include <mpi.h>

#include <algorithm>
#include <optional>

#include "core/errors.hpp"
#include "core/lanes.hpp"
#include "multigrid/dense_inverse.hpp"
#include "multigrid/entry_ids.hpp"
#include "operators/elliptic_operator.hpp"

namespace nekbone_k {
namespace {

/// Largest inverse on constants, scaled; a float holds it.
constexpr double most_inverse = 1e30;

/// The matrix of the whole mesh, column by column, by an operator on this rank alone. Its bits are
/// the same on all ranks: the order of ordinary sums differs between GPUs, and between calls.
/// `dofs` are the ids of its rows, ascending.
std::vector<double> assembled_matrix(const BoxMesh& mesh, const std::vector<GlobalId>& dofs,
                                     double lambda) {
  const Communicator alone(MPI_COMM_SELF);
  AssembledSpace space(alone, mesh, Summation::deterministic);
  const GeometricFactors geometry(space);
  const EllipticOperator a(space, geometry, lambda);
  const std::vector<GlobalId> ids = entry_ids(space);
  std::vector<LocalIndex> entry_of(dofs.size());
  for (std::size_t e = 0; e < ids.size(); ++e)
    if (ids[e] >= 0)
      entry_of[std::lower_bound(dofs.begin(), dofs.end(), ids[e]) - dofs.begin()] =
          static_cast<LocalIndex>(e);
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
DenseProblem<T>::DenseProblem(const LevelPlan& level, double lambda, double scale) {
  const BoxMesh mesh = whole_mesh(level.mesh, level.order);
  this->ids = dof_ids(mesh);
  const auto n = static_cast<int>(this->ids.size());
  std::optional<double> energy;
  const auto& extent = mesh.spec().extent;
  if (mesh.spec().fully_periodic()) energy = lambda * extent[0] * extent[1] * extent[2];
  const std::vector<double> values = inverse(assembled_matrix(mesh, this->ids, lambda), n, energy,
                                             /*limit=*/most_inverse * scale);
  m_inverse = decltype(m_inverse)("nekbone_k: coarse inverse", n, n);
  const auto host = Kokkos::create_mirror_view(m_inverse);
  for (std::size_t i = 0; i < values.size(); ++i)
    host.data()[i] = static_cast<T>(values[i] / scale);
  Kokkos::deep_copy(m_inverse, host);
  this->b = DeviceVector<T>("nekbone_k: coarse residual", n);
  this->x = DeviceVector<T>("nekbone_k: coarse solution", n);
}

template <class T>
void DenseProblem<T>::solve() {
  const auto n = static_cast<int>(this->ids.size());
  Kokkos::parallel_for("nekbone_k: coarse solve", RowPolicy(n, is_host_device ? 1 : 64),
                       MatrixRow<T>{m_inverse, this->b, this->x, n});
}

template class DenseProblem<double>;
template class DenseProblem<float>;

}  // namespace nekbone_k
