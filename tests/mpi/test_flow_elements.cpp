// SPDX-License-Identifier: BSD-3-Clause
#include "flow/flow_elements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "flow/flow_field.hpp"
#include "support/available_strategies.hpp"
#include "support/reference_flow.hpp"
#include "support/typed_vectors.hpp"

namespace nekbone_k {
namespace {

MeshSpec flow_box(const std::array<int, 3>& elements, Deformation deformation) {
  MeshSpec spec;
  spec.elements = elements;
  spec.extent = {2, 1, 1.5};
  spec.deformation = deformation;
  spec.epsilon = 0.3;
  if (deformation == Deformation::none) spec.geometry = Geometry::affine;
  return spec;
}

/// The operators of a mesh, and references with the same quadrature.
struct FlowElementsCase {
  FlowElementsCase(const MeshSpec& spec, int order, bool dealiasing,
                   Summation summation = Summation::ordinary, MPI_Comm parent = MPI_COMM_WORLD)
      : comm(parent),
        mesh(spec, order),
        space(comm, BoxMesh(spec, order, comm.size(), comm.rank()), summation),
        factors(space),
        elements(comm, space, factors, dealiasing),
        nodal(mesh, gll_quadrature(mesh)),
        over(mesh, gauss_quadrature(gauss_points(order))) {}

  /// Exact to degree 3 N, the degree of advection on affine elements.
  static int gauss_points(int order) { return (3 * order + 4) / 2; }

  VectorById random(unsigned seed) const {
    return {mesh.random(seed), mesh.random(seed + 1), mesh.random(seed + 2)};
  }
  /// Nodal values of f(coordinates).
  template <class Function>
  VectorById sample(const Function& f) const {
    VectorById values;
    values.fill(ById(mesh.n_points(), 0));
    mesh.for_each_node([&](int e, int i, int j, int k) {
      const std::array<double, 3> at_node = f(mesh.coordinates(e, i, j, k));
      for (int c = 0; c < 3; ++c) values[c][mesh.id(e, i, j, k)] = at_node[c];
    });
    return values;
  }
  VectorField field(const VectorById& values) const { return to_vector_field(space, mesh, values); }
  DeviceVector<double> vector(const ById& values) const {
    return to_assembled(space, mesh, values);
  }

  // The operators by id. Results are NaN before. All are collective.
  VectorById advection(const VectorById& u) {
    const VectorField out = nan_vector_field(space, mesh);
    elements.advection(field(u), out);
    return to_ids(comm, space, mesh, out);
  }
  VectorById curl(const VectorById& u) {
    const VectorField out = nan_vector_field(space, mesh);
    elements.curl(field(u), out);
    return to_ids(comm, space, mesh, out);
  }
  VectorById gradient(const ById& p) {
    const VectorField out = nan_vector_field(space, mesh);
    elements.gradient(vector(p), out);
    return to_ids(comm, space, mesh, out);
  }
  ById pressure_source(const VectorById& f, const VectorById& vorticity, double nu) {
    const auto out = nan_vector<double>(space, mesh);
    elements.pressure_source(field(f), field(vorticity), nu, out);
    return to_ids(comm, space, mesh, out);
  }

  Communicator comm;
  ReferenceMesh mesh;
  AssembledSpace space;
  GeometricFactors factors;
  FlowElements elements;
  ReferenceFlow nodal, over;
};

/// Adds a number to all values of each component.
VectorById plus(VectorById u, const std::array<double, 3>& carried) {
  for (int c = 0; c < 3; ++c)
    for (double& value : u[c]) value += carried[c];
  return u;
}

struct FlowBox {
  const char* name;
  std::array<int, 3> elements;
  Deformation deformation;
  int order;
};

void PrintTo(const FlowBox& box, std::ostream* out) { *out << box.name; }

class FlowElementsOfBox : public testing::TestWithParam<FlowBox> {
 protected:
  void SetUp() override {
    if (!has_flow_kernels(GetParam().order)) GTEST_SKIP() << "the order is not compiled";
  }
  static MeshSpec spec() { return flow_box(GetParam().elements, GetParam().deformation); }
};

constexpr double tolerance = 1e-12;

TEST_P(FlowElementsOfBox, EqualThePlainLoops) {
  FlowElementsCase flow(spec(), GetParam().order, true);
  const VectorById u = flow.random(1), v = flow.random(4);
  const ById p = flow.mesh.random(7);
  EXPECT_LE(relative_difference(flow.advection(u), flow.over.advection(flow.comm, u)), tolerance);
  EXPECT_LE(relative_difference(flow.curl(u), flow.nodal.curl(flow.comm, u)), tolerance);
  EXPECT_LE(relative_difference(flow.gradient(p), flow.nodal.gradient(flow.comm, p)), tolerance);
  const double nu = 0.07;
  EXPECT_LE(relative_difference(flow.pressure_source(u, v, nu),
                                flow.nodal.pressure_source(flow.comm, u, v, nu)),
            tolerance);
  EXPECT_LE(relative_difference(to_ids(flow.comm, flow.space, flow.mesh, flow.elements.mass()),
                                flow.nodal.mass(flow.comm)),
            tolerance);
}

TEST_P(FlowElementsOfBox, EqualThePlainLoopsWithoutDealiasing) {
  FlowElementsCase flow(spec(), GetParam().order, false);
  const VectorById u = flow.random(1);
  const VectorById expected = flow.nodal.advection(flow.comm, u);
  EXPECT_LE(relative_difference(flow.advection(u), expected), tolerance);
  // The quadratures differ, or the tests could not tell them apart.
  FlowElementsCase dealiased(spec(), GetParam().order, true);
  EXPECT_GE(relative_difference(dealiased.advection(u), expected), 1e-3);
}

TEST_P(FlowElementsOfBox, SumsEqualThePlainLoops) {
  FlowElementsCase flow(spec(), GetParam().order, true);
  const VectorById u = plus(flow.random(1), {0.5, -0.25, 2});
  const FlowSums found = flow.elements.sums(flow.field(u));
  FlowSums expected;
  double volume = 0;
  const std::vector<double>& nodes = flow.mesh.nodes();
  const int last = flow.mesh.order();
  flow.nodal.for_each_point(flow.comm, {&u[0], &u[1], &u[2]}, [&](int, int, const PointValues& p) {
    volume += p.weight;
    double divergence = 0, speed = 0;
    const std::array<double, 3> curl = curl_of(p);
    for (int d = 0; d < 3; ++d) {
      expected.energy += p.weight * p.value[d] * p.value[d] / 2;
      expected.enstrophy += p.weight * curl[d] * curl[d] / 2;
      expected.momentum[d] += p.weight * p.value[d];
      divergence += p.gradient[d][d];
      // The nearest node along reference direction d.
      const int i = p.point[d];
      const double gap =
          std::min(i > 0 ? nodes[i] - nodes[i - 1] : 2, i < last ? nodes[i + 1] - nodes[i] : 2);
      double along = 0;
      for (int c = 0; c < 3; ++c) along += p.along[d][c] * p.value[c];
      speed += std::abs(along) / gap;
    }
    expected.divergence = std::max(expected.divergence, std::abs(divergence));
    expected.speed = std::max(expected.speed, speed);
  });
  std::vector<double> sums{volume,
                           expected.energy,
                           expected.enstrophy,
                           expected.momentum[0],
                           expected.momentum[1],
                           expected.momentum[2]};
  std::vector<double> largest{expected.divergence, expected.speed};
  flow.comm.sum(sums);
  flow.comm.max(largest);
  volume = sums[0];
  EXPECT_NEAR(flow.elements.volume(), volume, tolerance * volume);
  EXPECT_NEAR(found.energy, sums[1] / volume, tolerance * sums[1] / volume);
  EXPECT_NEAR(found.enstrophy, sums[2] / volume, tolerance * sums[2] / volume);
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(found.momentum[c], sums[3 + c] / volume, tolerance);
  EXPECT_NEAR(found.divergence, largest[0], tolerance * largest[0]);
  EXPECT_NEAR(found.speed, largest[1], tolerance * largest[1]);
}

// Odd numbers of elements, and boxes of one element that meets itself in two directions.
INSTANTIATE_TEST_SUITE_P(Boxes, FlowElementsOfBox,
                         testing::Values(FlowBox{"AffineN1", {3, 2, 2}, Deformation::none, 1},
                                         FlowBox{"AffineN2", {3, 3, 1}, Deformation::none, 2},
                                         FlowBox{"AffineN3", {1, 1, 7}, Deformation::none, 3},
                                         FlowBox{"AffineN5", {7, 1, 1}, Deformation::none, 5},
                                         FlowBox{"SineN1", {3, 3, 3}, Deformation::sine, 1},
                                         FlowBox{"SineN2", {3, 5, 2}, Deformation::sine, 2},
                                         FlowBox{"SineN3", {3, 2, 2}, Deformation::sine, 3},
                                         FlowBox{"SineN5", {2, 2, 2}, Deformation::sine, 5}),
                         [](const auto& instance) { return std::string(instance.param.name); });

// u of degree N in each direction: the integrand has the degree 3 N.
TEST(FlowElements, AdvectionOfAffineElementsIsExact) {
  for (const int order : {1, 2, 3}) {
    if (!has_flow_kernels(order)) continue;
    FlowElementsCase flow(flow_box({3, 2, 2}, Deformation::none), order, true);
    const VectorById u = flow.random(1);
    const ReferenceFlow exact(flow.mesh,
                              gauss_quadrature(FlowElementsCase::gauss_points(order) + 3));
    EXPECT_LE(relative_difference(flow.advection(u), exact.advection(flow.comm, u)), tolerance)
        << "order " << order;
  }
}

// Every strategy sums three components in one exchange.
TEST(FlowElements, EqualThePlainLoopsByEveryStrategy) {
  FlowElementsCase flow(flow_box({3, 2, 2}, Deformation::sine), 3, true);
  const VectorById u = flow.random(1);
  const VectorById expected = flow.nodal.curl(flow.comm, u);
  const ById source = flow.nodal.pressure_source(flow.comm, u, u, 0.1);
  for (const Strategy& strategy : available_strategies(flow.comm)) {
    flow.space.gs().select(strategy);
    EXPECT_LE(relative_difference(flow.curl(u), expected), tolerance) << strategy.name;
    EXPECT_LE(relative_difference(flow.pressure_source(u, u, 0.1), source), tolerance)
        << strategy.name;
  }
}

/// The inverse mass times a weak result: its nodal mean.
VectorById mean(const FlowElementsCase& flow, VectorById weak) {
  const ById inverse = to_ids(flow.comm, flow.space, flow.mesh, flow.elements.inverse_mass());
  for (ById& component : weak)
    for (std::size_t i = 0; i < component.size(); ++i) component[i] *= inverse[i];
  return weak;
}

TEST(FlowElements, InverseMassInvertsTheMass) {
  const FlowElementsCase flow(flow_box({3, 2, 2}, Deformation::sine), 3, true);
  const ById mass = to_ids(flow.comm, flow.space, flow.mesh, flow.elements.mass());
  const ById inverse = to_ids(flow.comm, flow.space, flow.mesh, flow.elements.inverse_mass());
  for (std::size_t i = 0; i < mass.size(); ++i) ASSERT_NEAR(mass[i] * inverse[i], 1, 1e-14);
}

// (∇q, f) is the transpose of (f, ∇q).
TEST(FlowElements, PressureSourceIsTheAdjointOfTheGradient) {
  for (const Deformation deformation : {Deformation::none, Deformation::sine}) {
    FlowElementsCase flow(flow_box({3, 2, 2}, deformation), 3, true);
    const VectorById f = flow.random(1);
    const ById q = flow.mesh.random(7);
    const double expected = dot(flow.gradient(q), f);
    EXPECT_NEAR(dot(flow.pressure_source(f, f, 0), q), expected, 1e-12 * std::abs(expected));
  }
}

// (v, ∇×u) = (∇×v, u) on a periodic box, exactly so where the quadrature is exact: on affine
// elements.
TEST(FlowElements, CurlIsSymmetricOnAffineElements) {
  FlowElementsCase flow(flow_box({3, 2, 2}, Deformation::none), 3, true);
  const VectorById u = flow.random(1), v = flow.random(4);
  const double expected = dot(flow.curl(u), v);
  EXPECT_NEAR(dot(flow.curl(v), u), expected, 1e-12 * std::abs(expected));
}

// (∇q, ∇×ω) = 0 on a periodic box, if the quadrature is exact: the divergence of a curl.
TEST(FlowElements, CurlHasNoPressureSourceOnAffineElements) {
  FlowElementsCase flow(flow_box({3, 2, 2}, Deformation::none), 3, true);
  VectorById zero = flow.random(1);
  const VectorById vorticity = flow.random(4);
  for (ById& component : zero) std::fill(component.begin(), component.end(), 0);
  // The flux of a rough field that is no curl.
  const double size = max_abs(flow.pressure_source(vorticity, zero, 0));
  EXPECT_LE(max_abs(flow.pressure_source(zero, vorticity, 1)), 1e-11 * size);
}

TEST(FlowElements, ConstantsHaveNoDerivatives) {
  for (const Deformation deformation : {Deformation::none, Deformation::sine})
    for (const bool dealiasing : {false, true}) {
      FlowElementsCase flow(flow_box({3, 2, 2}, deformation), 3, dealiasing);
      const VectorById u = flow.sample([](const auto&) {
        return std::array<double, 3>{1, -2, 0.5};
      });
      const double size = max_abs(flow.advection(flow.random(1)));
      EXPECT_LE(max_abs(flow.advection(u)), 1e-13 * size);
      EXPECT_LE(max_abs(flow.curl(u)), 1e-13 * max_abs(flow.curl(flow.random(1))));
      EXPECT_LE(max_abs(flow.gradient(u[0])), 1e-13 * max_abs(flow.gradient(flow.mesh.random(1))));
      const FlowSums sums = flow.elements.sums(flow.field(u));
      EXPECT_LE(sums.divergence, 1e-11);
      EXPECT_LE(sums.enstrophy, 1e-22);
      EXPECT_NEAR(sums.energy, 2.625, 1e-13);
      EXPECT_NEAR(sums.momentum[0], 1, 1e-13);
      EXPECT_NEAR(sums.momentum[1], -2, 1e-13);
      EXPECT_NEAR(sums.momentum[2], 0.5, 1e-13);
    }
}

constexpr double pi = std::numbers::pi;

/// 2π times a fraction of the extent.
double phase(double x, double extent) { return 2 * pi * x / extent; }

// Weak curls of gradients and gradients of smooth fields, against formulas.
TEST(FlowElements, DerivativesOfSmoothFieldsConverge) {
  if (!has_flow_kernels(7)) GTEST_SKIP() << "order 7 is not compiled";
  const auto value = [](const std::array<double, 3>& x) {
    return std::sin(phase(x[0], 2)) * std::cos(phase(x[1], 1)) + std::sin(phase(x[2], 1.5));
  };
  const auto gradient = [](const std::array<double, 3>& x) {
    const double a = phase(x[0], 2), b = phase(x[1], 1), c = phase(x[2], 1.5);
    return std::array<double, 3>{pi * std::cos(a) * std::cos(b),
                                 -2 * pi * std::sin(a) * std::sin(b), 2 * pi / 1.5 * std::cos(c)};
  };
  const auto errors = [&](int order) {
    FlowElementsCase flow(flow_box({3, 3, 2}, Deformation::sine), order, true);
    const VectorById values = flow.sample([&](const auto& x) {
      return std::array<double, 3>{value(x), 0, 0};
    });
    const VectorById expected = flow.sample(gradient);
    return std::array{relative_difference(mean(flow, flow.gradient(values[0])), expected),
                      max_abs(mean(flow, flow.curl(expected))) / max_abs(expected)};
  };
  const auto coarse = errors(3), fine = errors(7);
  EXPECT_LE(fine[0], coarse[0] / 20);
  EXPECT_LE(fine[1], coarse[1] / 20);
  EXPECT_LE(fine[0], 5e-3);
  EXPECT_LE(fine[1], 1e-2);
}

// A box whose elements are not cubes, so that each has its own CFL number.
TEST(FlowElements, SpeedIsTheCflNumberOfUnitSteps) {
  MeshSpec spec = flow_box({4, 2, 3}, Deformation::none);
  FlowElementsCase flow(spec, 1, true);  // nodes are an element apart
  const VectorById u = flow.sample([](const auto&) { return std::array<double, 3>{1, 2, -3}; });
  EXPECT_NEAR(flow.elements.sums(flow.field(u)).speed, 1 / 0.5 + 2 / 0.5 + 3 / 0.5, 1e-11);
}

// Whether a copy of some node with that speed is at `at`.
bool is_at_node(const FlowElementsCase& flow, const VectorById& u, double speed,
                const std::array<double, 3>& at) {
  bool found = false;
  flow.mesh.for_each_node([&](int e, int i, int j, int k) {
    const int id = flow.mesh.id(e, i, j, k);
    const double here = std::hypot(u[0][id], u[1][id], u[2][id]);
    const auto x = flow.mesh.coordinates(e, i, j, k);
    if (std::abs(here - speed) <= 1e-12 || !(std::isfinite(here) || std::isfinite(speed)))
      found = found || std::hypot(x[0] - at[0], x[1] - at[1], x[2] - at[2]) <= 1e-12;
  });
  return found;
}

TEST(FlowElements, FastestNodeIsThatOfAPlainLoop) {
  FlowElementsCase flow(flow_box({3, 2, 2}, Deformation::sine), 3, true);
  VectorById u = flow.random(1);
  double largest = 0;
  for (int id = 0; id < flow.mesh.n_points(); ++id)
    largest = std::max(largest, std::hypot(u[0][id], u[1][id], u[2][id]));
  const FastestNode fastest = fastest_node(flow.comm, flow.elements, flow.field(u));
  EXPECT_NEAR(fastest.speed, largest, 1e-12);
  EXPECT_TRUE(is_at_node(flow, u, largest, fastest.at));

  u[1][7] = std::nan("");
  const FastestNode none = fastest_node(flow.comm, flow.elements, flow.field(u));
  EXPECT_TRUE(std::isinf(none.speed));
  EXPECT_TRUE(is_at_node(flow, u, none.speed, none.at));
}

TEST(FlowElements, HaveTheSameBitsAtAnyNumberOfRanksOnDeterministicSpaces) {
  const MeshSpec spec = flow_box({3, 2, 2}, Deformation::sine);
  FlowElementsCase together(spec, 3, true, Summation::deterministic);
  const VectorById u = together.random(1), v = together.random(4);
  const VectorById advection = together.advection(u), curl = together.curl(u),
                   gradient = together.gradient(u[0]);
  const ById source = together.pressure_source(u, v, 0.1);
  if (!together.comm.is_root()) return;
  FlowElementsCase alone(spec, 3, true, Summation::deterministic, MPI_COMM_SELF);
  EXPECT_EQ(alone.advection(u), advection);
  EXPECT_EQ(alone.curl(u), curl);
  EXPECT_EQ(alone.gradient(u[0]), gradient);
  EXPECT_EQ(alone.pressure_source(u, v, 0.1), source);
}

TEST(FlowElements, HaveKernelsForTheOrdersOfTheBuildAlone) {
  EXPECT_TRUE(has_flow_kernels(1));
  EXPECT_TRUE(has_flow_kernels(3));
  EXPECT_FALSE(has_flow_kernels(17));
  const Communicator comm(MPI_COMM_WORLD);
  AssembledSpace space(
      comm, BoxMesh(flow_box({3, 3, 1}, Deformation::none), 17, comm.size(), comm.rank()));
  const GeometricFactors factors(space);
  EXPECT_THROW(FlowElements(comm, space, factors, true), InputError);
}

// ---- Initial velocities ------------------------------------------------------------------------

// The formulas of the flows, written for a point (x, y, z) at time t.
TEST(FlowElements, InitialVelocitiesEqualTheirFormulas) {
  const double t = 0.3, nu = 0.05;
  const std::array<double, 3> carried{0.5, -0.25, 0.125};
  const MeshSpec spec = flow_box({3, 2, 2}, Deformation::sine);
  FlowElementsCase flow(spec, 3, true);
  FlowField f;
  f.viscosity = nu;
  f.extent = spec.extent;
  f.carried = carried;
  const auto expect = [&](const char* what, const auto& formula) {
    const VectorField out = nan_vector_field(flow.space, flow.mesh);
    set_velocity(flow.elements, flow.factors, f, t, out);
    const VectorById found = to_ids(flow.comm, flow.space, flow.mesh, out);
    const VectorById expected = flow.sample([&](const std::array<double, 3>& x) {
      std::array<double, 3> phases;
      for (int d = 0; d < 3; ++d) phases[d] = phase(x[d] - carried[d] * t, spec.extent[d]);
      std::array<double, 3> u = formula(phases);
      for (int d = 0; d < 3; ++d) u[d] += carried[d];
      return u;
    });
    EXPECT_LE(relative_difference(found, expected), 1e-13) << what;
  };
  const double kx = phase(1, 2), ky = phase(1, 1), kz = phase(1, 1.5);
  using Vector = std::array<double, 3>;
  f.kind = FlowKind::taylor_green_2d;
  f.normal = 2;
  EXPECT_TRUE(f.is_exact());
  expect("plane vortex along z", [&](const Vector& p) {
    const double decay = std::exp(-nu * (kx * kx + ky * ky) * t);
    return Vector{decay * std::sin(p[0]) * std::cos(p[1]),
                  -decay * kx / ky * std::cos(p[0]) * std::sin(p[1]), 0};
  });
  f.normal = 0;
  expect("plane vortex along x", [&](const Vector& p) {
    const double decay = std::exp(-nu * (ky * ky + kz * kz) * t);
    return Vector{0, decay * std::sin(p[1]) * std::cos(p[2]),
                  -decay * ky / kz * std::cos(p[1]) * std::sin(p[2])};
  });
  f.normal = 1;
  expect("plane vortex along y", [&](const Vector& p) {
    const double decay = std::exp(-nu * (kz * kz + kx * kx) * t);
    return Vector{-decay * kz / kx * std::cos(p[2]) * std::sin(p[0]), 0,
                  decay * std::sin(p[2]) * std::cos(p[0])};
  });
  f.kind = FlowKind::taylor_green;
  EXPECT_FALSE(f.is_exact());
  expect("Taylor-Green vortex", [&](const Vector& p) {
    return Vector{std::sin(p[0]) * std::cos(p[1]) * std::cos(p[2]),
                  -kx / ky * std::cos(p[0]) * std::sin(p[1]) * std::cos(p[2]), 0};
  });
}

TEST(FlowElements, InitialVelocityOfTheAbcFlowEqualsItsFormula) {
  MeshSpec spec = flow_box({2, 2, 3}, Deformation::sine);
  spec.extent = {2, 2, 2};
  FlowElementsCase flow(spec, 3, true);
  const FlowField f{.kind = FlowKind::abc,
                    .normal = 2,
                    .viscosity = 0.05,
                    .extent = spec.extent,
                    .carried = {0, 0, 0}};
  const VectorField out = nan_vector_field(flow.space, flow.mesh);
  set_velocity(flow.elements, flow.factors, f, 0.3, out);
  const VectorById expected = flow.sample([&](const std::array<double, 3>& x) {
    const double decay = std::exp(-0.05 * pi * pi * 0.3);
    const double a = pi * x[0], b = pi * x[1], c = pi * x[2];
    return std::array<double, 3>{decay * (std::sin(c) + std::cos(b)),
                                 decay * (std::sin(a) + std::cos(c)),
                                 decay * (std::sin(b) + std::cos(a))};
  });
  EXPECT_LE(relative_difference(to_ids(flow.comm, flow.space, flow.mesh, out), expected), 1e-13);
}

TEST(FlowElements, DifferencesOfVelocitiesAreRelativeToTheField) {
  FlowElementsCase flow(flow_box({3, 2, 2}, Deformation::sine), 3, true);
  const VectorById exact = flow.sample([](const auto&) { return std::array<double, 3>{0, 4, 3}; });
  VectorById u = plus(exact, {0, 0, 0.5});
  FlowError error = difference(flow.comm, flow.elements, flow.field(u), flow.field(exact));
  EXPECT_NEAR(error.max, 0.5 / 4, 1e-13);
  EXPECT_NEAR(error.l2, 0.5 / 5, 1e-13);
  // One DOF, which several ranks share: the L2 norm counts it once.
  u = exact;
  u[1][0] += 1;
  error = difference(flow.comm, flow.elements, flow.field(u), flow.field(exact));
  const double mass = to_ids(flow.comm, flow.space, flow.mesh, flow.elements.mass())[0];
  EXPECT_NEAR(error.max, 0.25, 1e-13);
  EXPECT_NEAR(error.l2, std::sqrt(mass / flow.elements.volume()) / 5, 1e-13);
}

}  // namespace
}  // namespace nekbone_k
