#include "operators/geometric_factors.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

using Team = Kokkos::TeamPolicy<ExecutionSpace>::member_type;
using Scratch = Kokkos::View<double*, ExecutionSpace::scratch_memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

// Coordinates of one element at order 15 take 96 KB: more than the fast scratch of a GPU.
KOKKOS_FUNCTION constexpr int scratch_level() { return 1; }

struct FactorKernel {
  NodeCoordinates coordinates;
  ConstDeviceVector<double> derivative;
  DeviceVector<double> factors;
  int nq;
  LocalIndex n_elements;

  /// One team an element block, one element at a time: a block's factors are then written while its
  /// cache lines are at hand.
  KOKKOS_FUNCTION void operator()(const Team& team, int& n_inverted) const {
    const int points = nq * nq * nq;
    const Scratch x(team.team_scratch(scratch_level()), 3 * points);
    int inverted = 0;
    for (int lane = 0; lane < ElementLayout::lanes; ++lane) {
      const LocalIndex position = team.league_rank() * ElementLayout::lanes + lane;
      if (position >= n_elements) break;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, points), [&](int q) {
        const Point p = coordinates(position, q % nq, q / nq % nq, q / (nq * nq));
        x(q) = p.x;
        x(points + q) = p.y;
        x(2 * points + q) = p.z;
      });
      team.team_barrier();
      int inverted_here = 0;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, points),
          [&](int q, int& count) { count += !store_factors(team, x, lane, q); }, inverted_here);
      inverted += inverted_here;
      team.team_barrier();
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() { n_inverted += inverted; });
  }

  /// Returns whether the element is not turned inside out here.
  KOKKOS_FUNCTION bool store_factors(const Team& team, const Scratch& x, int lane, int q) const {
    const int points = nq * nq * nq, i = q % nq, j = q / nq % nq, k = q / (nq * nq);
    double dx[3][3] = {};  // dx[d][r]: coordinate d along reference direction r
    for (int d = 0; d < 3; ++d) {
      const auto at = [&](int a, int b, int c) { return x(d * points + (c * nq + b) * nq + a); };
      for (int m = 0; m < nq; ++m) {
        dx[d][0] += derivative(i * nq + m) * at(m, j, k);
        dx[d][1] += derivative(j * nq + m) * at(i, m, k);
        dx[d][2] += derivative(k * nq + m) * at(i, j, m);
      }
    }
    // Rows of the adjugate: J ∇r, J ∇s, J ∇t.
    double a[3][3];
    for (int r = 0; r < 3; ++r) {
      const int s = (r + 1) % 3, t = (r + 2) % 3;
      for (int d = 0; d < 3; ++d) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        a[r][d] = dx[e][s] * dx[f][t] - dx[f][s] * dx[e][t];
      }
    }
    const double jacobian = dx[0][0] * a[0][0] + dx[1][0] * a[0][1] + dx[2][0] * a[0][2];
    const double scale = 1 / jacobian;
    int c = 0;
    for (int r = 0; r < 3; ++r)
      for (int s = r; s < 3; ++s, ++c)
        factors(ElementLayout::offset(team.league_rank(), c * points + q,
                                      ElementLayout::n_factors * points) +
                lane) = scale * (a[r][0] * a[s][0] + a[r][1] * a[s][1] + a[r][2] * a[s][2]);
    return !(jacobian <= 0);  // a NaN is no fold: the iteration will tell
  }
};

}  // namespace

ScaledBasis::ScaledBasis(const GllBasis& basis) : derivative(basis.derivative) {
  for (const double w : basis.weights) root_weights.push_back(std::sqrt(w));
  const int nq = basis.nq();
  for (int i = 0; i < nq; ++i)
    for (int j = 0; j < nq; ++j) derivative[i * nq + j] *= root_weights[i] / root_weights[j];
}

void GeometricFactors::require_positive(const Communicator& comm, const BoxMesh& mesh) const {
  if (comm.all(positive)) return;
  throw InputError(
      fmt::format("mesh.deformation turns elements of order {} inside out with mesh.epsilon {}; "
                  "use {} epsilon, "
                  "more elements or a higher order",
                  mesh.order(), mesh.spec().epsilon,
                  mesh.spec().deformation == Deformation::kershaw ? "a larger" : "a smaller"));
}

GeometricFactors::GeometricFactors(const AssembledSpace& space) {
  const ElementLayout& layout = space.layout();
  const GllBasis& basis = space.mesh().basis();
  factors = DeviceVector<double>("nekbone_k: geometric factors", layout.n_factor_values());
  derivative = to_device("nekbone_k: derivative matrix", basis.derivative);
  weights = to_device("nekbone_k: GLL weights", basis.weights);
  const ScaledBasis scaled(basis);
  scaled_derivative = to_device("nekbone_k: scaled derivative matrix", scaled.derivative);
  root_weights = to_device("nekbone_k: roots of GLL weights", scaled.root_weights);

  const FactorKernel kernel{NodeCoordinates(space), derivative, factors, layout.nq,
                            layout.n_elements};
  Kokkos::TeamPolicy<ExecutionSpace> policy(layout.n_blocks(), Kokkos::AUTO);
  policy.set_scratch_size(scratch_level(),
                          Kokkos::PerTeam(Scratch::shmem_size(3 * layout.points())));
  int n_inverted = 0;
  Kokkos::parallel_reduce("nekbone_k: geometric factors", policy, kernel, n_inverted);
  positive = n_inverted == 0;
}

}  // namespace nekbone_k
