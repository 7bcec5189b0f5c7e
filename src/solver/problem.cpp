// SPDX-License-Identifier: BSD-3-Clause
#include "solver/problem.hpp"

#include <array>
#include <numbers>

#include "operators/node_ids.hpp"

namespace nekbone_k {
namespace {

/// A mode with integer wave numbers; bit d of `cosines` makes direction d a cosine.
struct WaveNumbers {
  double amplitude;
  std::array<int, 3> k;
  unsigned cosines;
};

SineModes make_modes(const MeshSpec& mesh, std::span<const WaveNumbers> waves) {
  SineModes sum;
  for (int d = 0; d < 3; ++d)
    sum.wave[d] = (mesh.periodic[d] ? 2 : 1) * std::numbers::pi / mesh.extent[d];
  for (const WaveNumbers& w : waves) {
    SineModes::Mode& mode = sum.modes[sum.count++];
    mode.amplitude = w.amplitude;
    for (int d = 0; d < 3; ++d) {
      mode.k[d] = w.k[d];
      mode.cosine[d] = (w.cosines >> d & 1) != 0;
    }
  }
  return sum;
}

// The two components of the Taylor–Green velocity, and two shorter waves.
constexpr std::array taylor_green_waves{
    WaveNumbers{1.0, {1, 1, 1}, 0b110}, WaveNumbers{-1.0, {1, 1, 1}, 0b101},
    WaveNumbers{0.5, {2, 1, 1}, 0b011}, WaveNumbers{0.25, {1, 2, 2}, 0b110}};
constexpr std::array manufactured_waves{WaveNumbers{1.0, {1, 1, 1}, 0},
                                        WaveNumbers{0.5, {2, 1, 1}, 0},
                                        WaveNumbers{-0.25, {1, 3, 2}, 0}};

using PointRange = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

/// Mass-weighted sums over all local points of the mesh.
struct ErrorSums {
  double mass = 0, error = 0, error_squared = 0, exact_squared = 0;
};

}  // namespace

Problem::Problem(ProblemKind kind, const MeshSpec& mesh, double lambda)
    : m_kind(kind), m_lambda(lambda) {
  if (kind == ProblemKind::taylor_green) m_modes = make_modes(mesh, taylor_green_waves);
  if (kind == ProblemKind::manufactured) m_modes = make_modes(mesh, manufactured_waves);
}

void Problem::right_hand_side(AssembledSpace& space, const GeometricFactors& geometry,
                              const DeviceVector<double>& b) const {
  if (m_kind == ProblemKind::nekbone) {
    const NodeIds ids(space);
    space.assemble(
        KOKKOS_LAMBDA(LocalIndex e, int i, int j, int k) {
          const double g = static_cast<double>(ids(e, i, j, k));
          return Kokkos::sin(1e9 * Kokkos::cos(1e9 * g * g));
        },
        b);
    return;
  }
  const FactorReader factors(geometry, space.layout());
  const NodeCoordinates coordinates(space);
  const SineModes modes = m_modes;
  const double lambda = m_lambda;
  space.assemble(
      KOKKOS_LAMBDA(LocalIndex e, int i, int j, int k) {
        return factors.mass(e, i, j, k) * modes.forcing(coordinates(e, i, j, k), lambda);
      },
      b);
}

SolutionError Problem::error(const Communicator& comm, const AssembledSpace& space,
                             const GeometricFactors& geometry, const DeviceVector<double>& x,
                             bool remove_mean) const {
  const FactorReader factors(geometry, space.layout());
  const NodeCoordinates coordinates(space);
  const NodeReader nodes(space);
  const SineModes modes = m_modes;
  const int nq = space.layout().nq, points = space.layout().points();
  const PointRange range(0, std::int64_t{space.layout().n_elements} * points);

  // Two passes, because small errors can be squared without cancellation only once the mean is
  // known.
  double mean = 0, largest = 0, largest_exact = 0;
  ErrorSums sums;
  for (int pass = remove_mean ? 0 : 1; pass < 2; ++pass) {
    sums = {};
    Kokkos::parallel_reduce(
        "nekbone_k: error", range,
        KOKKOS_LAMBDA(const std::int64_t at, double& mass, double& error, double& error_squared,
                      double& exact_squared, double& max_error, double& max_exact) {
          const auto e = static_cast<LocalIndex>(at / points);
          const int q = static_cast<int>(at % points), i = q % nq, j = q / nq % nq,
                    k = q / (nq * nq);
          const LocalIndex entry =
              nodes.entry(e / ElementLayout::lanes, e % ElementLayout::lanes, i, j, k);
          const double exact = modes.solution(coordinates(e, i, j, k));
          const double difference = x(entry) - exact - mean;
          const double weight = factors.mass(e, i, j, k);
          mass += weight;
          error += weight * difference;
          error_squared += weight * difference * difference;
          exact_squared += weight * exact * exact;
          // The negated comparison is also true for a NaN.
          if (!(Kokkos::abs(difference) <= max_error)) max_error = Kokkos::abs(difference);
          if (Kokkos::abs(exact) > max_exact) max_exact = Kokkos::abs(exact);
        },
        sums.mass, sums.error, sums.error_squared, sums.exact_squared, Kokkos::Max<double>(largest),
        Kokkos::Max<double>(largest_exact));
    std::array<double, 4> totals{sums.mass, sums.error, sums.error_squared, sums.exact_squared};
    comm.sum(totals);
    sums = {totals[0], totals[1], totals[2], totals[3]};
    mean += sums.error / sums.mass;
  }
  const double l2 = std::sqrt(sums.error_squared / sums.exact_squared);
  const double max = comm.max(largest) / comm.max(largest_exact);
  // The L2 norm is NaN if any error is; the maxima of MPI and Kokkos may drop a NaN.
  return {std::isfinite(l2) ? max : l2, l2};
}

}  // namespace nekbone_k
