// SPDX-License-Identifier: BSD-3-Clause
#include "operators/geometric_factors.hpp"

#include <cmath>
#include <limits>

#include "core/errors.hpp"
#include "operators/element_metric.hpp"

namespace nekbone_k {
namespace {

using Team = ElementCoordinates::Team;

/// Calls set(c, value) for the six numbers of a factor.
template <class Set>
KOKKOS_FUNCTION void set_numbers(const LdlFactor<double>& f, const Set& set) {
  const double values[] = {f.d_r, f.d_s, f.d_t, f.l_sr, f.l_tr, f.l_ts};
  for (int c = 0; c < ElementLayout::n_factors; ++c) set(c, values[c]);
}
template <class Set>
KOKKOS_FUNCTION void set_numbers(const SymmetricFactor<double>& g, const Set& set) {
  const double values[] = {g.rr, g.rs, g.rt, g.ss, g.st, g.tt};
  for (int c = 0; c < ElementLayout::n_factors; ++c) set(c, values[c]);
}

/// Computes the values of trilinear and affine elements, one thread per element.
struct ElementFactorKernel {
  NodeCoordinates coordinates;
  DeviceVector<double> factors;
  Geometry geometry;
  int nq;
  LocalIndex n_elements;

  KOKKOS_FUNCTION void operator()(const LocalIndex position) const {
    const auto set = [&](int item, double value) {
      factors(ElementLayout::geometry_offset(
          nq, position, item, GeometricFactors::values_per_element(geometry, nq))) = value;
    };
    TrilinearMap<double> map{};
    if (position < n_elements) {
      map = trilinear_map([&](int a, int b, int c) {
        return coordinates(position, a * (nq - 1), b * (nq - 1), c * (nq - 1));
      });
    } else {
      for (int d = 0; d < 3; ++d) map.coefficients[d][d] = 1;
    }
    if (geometry == Geometry::trilinear) {
      for (int term = 0; term < map.n_coefficients; ++term)
        for (int d = 0; d < 3; ++d) set(3 * term + d, map.coefficients[term][d]);
    } else if (position < n_elements) {
      const SymmetricFactor<double> g = map.factor(0, 0, 0);
      set_numbers(as_stored(g, g.determinant()), set);
    }
  }
};

struct FactorKernel {
  NodeCoordinates coordinates;
  ConstDeviceVector<double> derivative;
  DeviceVector<double> factors;
  int nq;
  LocalIndex n_elements;

  /// One team per block, one element at a time, so that a block's factors are written while its
  /// cache lines are at hand.
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const ElementCoordinates element(team, nq);
    for (int lane = 0; lane < ElementLayout::lanes; ++lane) {
      const LocalIndex position = team.league_rank() * ElementLayout::lanes + lane;
      if (position >= n_elements) break;
      element.fill(team, [&](int i, int j, int k) { return coordinates(position, i, j, k); });
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, element.points),
                           [&](int q) { store_factors(element, position, q); });
      team.team_barrier();
    }
  }

  KOKKOS_FUNCTION void store_factors(const ElementCoordinates& element, LocalIndex position,
                                     int q) const {
    const int i = q % nq, j = q / nq % nq, k = q / (nq * nq);
    const Metric metric(element, derivative, i, j, k);
    set_numbers(as_stored(metric.factor(), metric.jacobian), [&](int c, double value) {
      factors(ElementLayout::geometry_offset(nq, position, ElementLayout::factor_item(nq, q, c),
                                             ElementLayout::n_factors * element.points)) = value;
    });
  }
};

/// Stores the scaled factors of the first `points` points of each element and lane; those of empty
/// elements are zero.
struct SingleFactorKernel {
  FactorReader from;
  DeviceVector<float> factors;
  double scale;
  int points;  ///< all, or one that stands for all
  LocalIndex n_elements;

  /// Neighbouring `at` are lanes of one point, and then the next point.
  KOKKOS_FUNCTION void operator()(const std::int64_t at) const {
    const int nq = from.nq, lane = static_cast<int>(at % lanes);
    const int q = static_cast<int>(at / lanes % points);
    const auto position = static_cast<LocalIndex>(at / lanes / points) * lanes + lane;
    if (position >= n_elements) return;
    const auto f = scaled(from.stored_factor(position, q % nq, q / nq % nq, q / (nq * nq)), scale);
    set_numbers(f, [&](int c, double value) {
      const int item = points == 1 ? c : ElementLayout::factor_item(nq, q, c);
      factors(ElementLayout::geometry_offset(
          nq, position, item, ElementLayout::n_factors * points)) = static_cast<float>(value);
    });
  }

  static constexpr int lanes = ElementLayout::lanes;
};

/// Counts the elements with a nonpositive Jacobian.
struct InversionKernel {
  MeshCoordinates coordinates;
  ConstDeviceVector<double> derivative;
  int nq;
  int begin[3], nx, ny;  // of the rank's box of elements

  /// One team per element.
  KOKKOS_FUNCTION void operator()(const Team& team, int& n_inverted) const {
    const int e = team.league_rank();
    const int ex = begin[0] + e % nx, ey = begin[1] + e / nx % ny, ez = begin[2] + e / (nx * ny);
    const ElementCoordinates element(team, nq);
    element.fill(team, [&](int i, int j, int k) { return coordinates(ex, ey, ez, i, j, k); });
    int inverted = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, element.points),
        [&](int q, int& count) {
          const Metric metric(element, derivative, q % nq, q / nq % nq, q / (nq * nq));
          count += metric.jacobian <= 0;
        },
        inverted);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { n_inverted += inverted > 0; });
  }
};

}  // namespace

ScaledBasis::ScaledBasis(const GllBasis& basis) : derivative(basis.derivative), nodes(basis.nodes) {
  for (const double w : basis.weights) root_weights.push_back(std::sqrt(w));
  const int nq = basis.nq();
  for (int i = 0; i < nq; ++i)
    for (int j = 0; j < nq; ++j) derivative[i * nq + j] *= root_weights[i] / root_weights[j];
}

bool has_inverted_elements(const BoxMesh& mesh) {
  if (mesh.spec().deformation == Deformation::none) return false;
  const ElementBox& box = mesh.box();
  const InversionKernel kernel{MeshCoordinates(mesh),
                               to_device("nekbone_k: derivative matrix", mesh.basis().derivative),
                               mesh.nq(),
                               {box.begin[0], box.begin[1], box.begin[2]},
                               box.length(0),
                               box.length(1)};
  int n_inverted = 0;
  Kokkos::parallel_reduce("nekbone_k: inverted elements",
                          element_policy(mesh.n_elements(), mesh.nq()), kernel, n_inverted);
  return n_inverted > 0;
}

GeometricFactors::GeometricFactors(const AssembledSpace& space)
    : geometry(space.mesh().spec().geometry), scaled_basis(space.mesh().basis()) {
  const ElementLayout& layout = space.layout();
  const GllBasis& basis = space.mesh().basis();
  factors = large_vector("nekbone_k: geometric factors",
                         layout.n_geometry_values(values_per_element(geometry, layout.nq)));
  derivative = to_device("nekbone_k: derivative matrix", basis.derivative);
  weights = to_device("nekbone_k: GLL weights", basis.weights);
  scaled_derivative = to_device("nekbone_k: scaled derivative matrix", scaled_basis.derivative);
  root_weights = to_device("nekbone_k: roots of GLL weights", scaled_basis.root_weights);
  nodes = to_device("nekbone_k: GLL nodes", scaled_basis.nodes);

  if (geometry != Geometry::stored) {
    Kokkos::parallel_for("nekbone_k: maps of elements",
                         Kokkos::RangePolicy<ExecutionSpace>(
                             0, static_cast<LocalIndex>(layout.n_geometry_values(1))),
                         ElementFactorKernel{NodeCoordinates(space), factors, geometry, layout.nq,
                                             layout.n_elements});
    return;
  }
  const FactorKernel kernel{NodeCoordinates(space), derivative, factors, layout.nq,
                            layout.n_elements};
  Kokkos::parallel_for("nekbone_k: geometric factors", element_policy(layout.n_blocks(), layout.nq),
                       kernel);
}

SingleFactors::SingleFactors(const GeometricFactors& from, const AssembledSpace& space,
                             double by_scale)
    : scale(by_scale), geometry(geometry_on(space.mesh().spec())), scaled_basis(from.scaled_basis) {
  const auto in_floats = [](const std::string& label, const std::vector<double>& values) {
    return to_device(label, std::vector<float>(values.begin(), values.end()));
  };
  scaled_derivative = in_floats("nekbone_k: scaled derivative floats", scaled_basis.derivative);
  root_weights = in_floats("nekbone_k: root weight floats", scaled_basis.root_weights);
  nodes = in_floats("nekbone_k: GLL node floats", scaled_basis.nodes);

  const ElementLayout& layout = space.layout();
  factors = large_vector<float>(
      "nekbone_k: geometric factor floats",
      layout.n_geometry_values(GeometricFactors::values_per_element(geometry, layout.nq)));
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  const int points = geometry == Geometry::affine ? 1 : layout.points();
  const std::int64_t items = std::int64_t{layout.n_blocks()} * ElementLayout::lanes;
  Kokkos::parallel_for(
      "nekbone_k: factors in floats", Policy(0, items * points),
      SingleFactorKernel{FactorReader(from, layout), factors, scale, points, layout.n_elements});
}

float SingleFactors::kernel_lambda(double lambda) const {
  const double scaled = lambda / scale / scale;
  require(std::abs(scaled) <= std::numeric_limits<float>::max(),
          "lambda is too large for an operator on floats with these factors");
  return static_cast<float>(scaled);
}

}  // namespace nekbone_k
