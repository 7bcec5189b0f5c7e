// SPDX-License-Identifier: BSD-3-Clause
#include "flow/navier_stokes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "flow/flow_archive.hpp"
#include "flow/flow_field.hpp"
#include "multigrid/multigrid.hpp"
#include "support/reference_flow.hpp"

namespace nekbone_k {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

MeshSpec flow_box(const std::array<int, 3>& elements, double epsilon = 0,
                  const std::array<double, 3>& extent = {two_pi, two_pi, two_pi}) {
  MeshSpec spec;
  spec.elements = elements;
  spec.extent = extent;
  if (epsilon > 0) {
    spec.deformation = Deformation::sine;
    spec.epsilon = epsilon;
  } else {
    spec.geometry = Geometry::affine;
  }
  return spec;
}

/// A flow on a communicator, with multigrid for the pressure.
struct FlowRun {
  FlowRun(MPI_Comm parent, const MeshSpec& spec, int order, const FlowOptions& options,
          Summation summation = Summation::ordinary)
      : comm(parent),
        mesh(spec, order),
        space(comm, BoxMesh(spec, order, comm.size(), comm.rank()), summation),
        factors(space),
        stiffness(space, factors, 0),
        multigrid(comm, space, factors, 0, {.orders = {}, .degree = 2, .coarse_dofs = 200}),
        elements(comm, space, factors, options.dealiasing),
        flow(
            comm, elements, factors, stiffness,
            [this](const auto& r, const auto& z, double norm) { multigrid.apply(r, z, norm); },
            options),
        time_order(options.time_order) {}

  /// Begins with a field at a time. Collective, as the others are.
  void begin(const FlowField& field, double time = 0) {
    flow.begin(time);
    set_velocity(elements, factors, field, time, flow.velocity());
  }
  /// Begins with a velocity given by id.
  void begin(const VectorById& u) {
    flow.begin(0);
    Kokkos::deep_copy(flow.velocity().values, to_vector_field(space, mesh, u).values);
  }
  /// Takes steps of dt, after those of starting_steps() if asked for.
  void advance(double dt, int n_steps) {
    for (int step = 0; step < n_steps; ++step) take(dt);
  }
  void advance_from_start(double dt, int n_steps) {
    const std::vector<double> first = starting_steps(time_order, dt);
    for (const double step : first) take(step);
    advance(dt, n_steps - (first.empty() ? 0 : 2));
  }
  FlowStep take(double dt) {
    steps.push_back(flow.step(dt));
    return steps.back();
  }
  void expect_converged() const {
    for (const FlowStep& step : steps) EXPECT_TRUE(step.converged()) << "step " << step.number;
  }
  /// Relative to the field at the time of the flow.
  FlowError error(const FlowField& field) {
    const VectorField exact("exact", space);
    set_velocity(elements, factors, field, flow.time(), exact);
    return difference(comm, elements, flow.velocity(), exact);
  }
  VectorById velocity() const { return to_ids(comm, space, mesh, flow.velocity()); }
  FlowSums sums() { return elements.sums(flow.velocity()); }
  int iterations() const {
    int sum = 0;
    for (const FlowStep& step : steps) sum += step.pressure.iterations + step.velocity.iterations;
    return sum;
  }

  Communicator comm;
  ReferenceMesh mesh;
  AssembledSpace space;
  GeometricFactors factors;
  EllipticOperator stiffness;
  Multigrid<float> multigrid;
  FlowElements elements;
  NavierStokes flow;
  int time_order;
  std::vector<FlowStep> steps;
};

/// A flow that decays while a constant velocity carries it along.
FlowField carried(FlowKind kind, int normal, const MeshSpec& spec, double viscosity) {
  return {.kind = kind,
          .normal = normal,
          .viscosity = viscosity,
          .extent = spec.extent,
          .carried = {0.5, -0.25, 0.3}};
}

FlowOptions accurate(double viscosity) {
  FlowOptions options;
  options.viscosity = viscosity;
  options.pressure.absolute = 1e-9;
  options.velocity.absolute = 1e-10;
  return options;
}

/// Most tests run on one rank, because several give the same flow, see EqualsTheFlowOfOneRank.
bool has_one_rank() { return Communicator(MPI_COMM_WORLD).size() == 1; }

// ---- Accuracy ----------------------------------------------------------------------------------

struct ExactCase {
  const char* name;
  FlowKind kind;
  int normal;
  std::array<int, 3> elements;
  double epsilon;  ///< of the deformation
  bool dealiasing;
  std::vector<int> orders;
  double least_fall;  ///< of the error from one order to the next
  std::array<double, 3> extent{two_pi, two_pi, two_pi};
};

void PrintTo(const ExactCase& c, std::ostream* out) { *out << c.name; }

class NavierStokesExact : public testing::TestWithParam<ExactCase> {};

TEST_P(NavierStokesExact, ErrorFallsExponentiallyWithTheOrder) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const ExactCase& c = GetParam();
  for (const int order : c.orders)
    if (!has_flow_kernels(order)) GTEST_SKIP() << "order " << order << " is not compiled";
  const MeshSpec spec = flow_box(c.elements, c.epsilon, c.extent);
  const double nu = 0.05;
  const FlowField field = carried(c.kind, c.normal, spec, nu);
  FlowOptions options = accurate(nu);
  options.dealiasing = c.dealiasing;
  double error = 0.2 * c.least_fall, divergence = 2;
  for (const int order : c.orders) {
    FlowRun run(MPI_COMM_WORLD, spec, order, options);
    run.begin(field);
    run.advance_from_start(0.025, 4);
    run.expect_converged();
    const double finer = run.error(field).l2, less = run.sums().divergence;
    EXPECT_LE(finer, error / c.least_fall) << "order " << order;
    EXPECT_LE(less, divergence / 2) << "order " << order;
    error = finer;
    divergence = less;
    if (order != c.orders.back()) continue;
    // The convective form keeps the momentum as far as the flow is resolved.
    for (int d = 0; d < 3; ++d)
      EXPECT_NEAR(run.sums().momentum[d], field.carried[d], 1e-6) << "component " << d;
  }
}

constexpr FlowKind plane = FlowKind::taylor_green_2d, abc = FlowKind::abc;
INSTANTIATE_TEST_SUITE_P(
    Flows, NavierStokesExact,
    testing::Values(
        ExactCase{"AlongX", plane, 0, {2, 2, 2}, 0, true, {3, 5, 7}, 20},
        ExactCase{"AlongY", plane, 1, {2, 1, 3}, 0, true, {2, 4}, 20},
        ExactCase{"AlongZ", plane, 2, {3, 2, 1}, 0, true, {2, 4}, 20},
        ExactCase{"AlongZDeformed", plane, 2, {2, 2, 2}, 0.15, true, {3, 5, 7}, 8},
        ExactCase{"AlongXDeformedNodal", plane, 0, {2, 2, 2}, 0.15, false, {3, 5}, 8},
        ExactCase{"AlongYNodal", plane, 1, {2, 1, 2}, 0, false, {3, 5}, 20},
        ExactCase{
            "UnequalExtents", plane, 2, {2, 3, 1}, 0, true, {2, 4}, 20, {two_pi, 1.5 * two_pi, 1}},
        ExactCase{"OneElement", plane, 1, {1, 1, 1}, 0, true, {5, 8}, 8},
        ExactCase{"Abc", abc, 2, {2, 2, 2}, 0, true, {3, 5}, 20},
        ExactCase{"AbcDeformed", abc, 2, {2, 2, 2}, 0.15, true, {3, 5, 7}, 8},
        ExactCase{"AbcNodal", abc, 2, {2, 2, 2}, 0, false, {3, 5}, 20}),
    [](const auto& instance) { return std::string(instance.param.name); });

// Each order in time on a mesh whose error in space is far smaller.
TEST(NavierStokes, HasItsOrderInTime) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const double nu = 0.05, end = 0.8;
  const MeshSpec spec = flow_box({2, 2, 2});
  const FlowField field = carried(abc, 2, spec, nu);
  for (int time_order = 1; time_order <= max_time_order; ++time_order) {
    const int order = 4 + 2 * time_order, n_steps = time_order == 1 ? 8 : 16;
    if (!has_flow_kernels(order)) GTEST_SKIP() << "order " << order << " is not compiled";
    FlowOptions options;
    options.viscosity = nu;
    options.time_order = time_order;
    const auto error = [&](int steps) {
      FlowRun run(MPI_COMM_WORLD, spec, order, options);
      run.begin(field);
      run.advance_from_start(end / steps, steps);
      run.expect_converged();
      EXPECT_NEAR(run.flow.time(), end, 1e-13);
      return run.error(field).l2;
    };
    const double coarse = error(n_steps), fine = error(2 * n_steps);
    EXPECT_GE(std::log2(coarse / fine), time_order - 0.2)
        << "order " << time_order << ", errors " << coarse << " and " << fine;
    // The errors that each order should have.
    EXPECT_LE(fine, time_order == 1 ? 4e-3 : time_order == 2 ? 3e-5 : 4e-7);
  }
}

// Of the Taylor–Green vortex, which has no exact solution: -dE/dt = 2 ν enstrophy.
TEST(NavierStokes, LosesTheEnergyThatViscosityDissipates) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const double nu = 0.1, dt = 0.04;
  FlowRun run(MPI_COMM_WORLD, flow_box({2, 2, 2}), 7, accurate(nu));
  FlowField field;
  field.viscosity = nu;
  field.extent = {two_pi, two_pi, two_pi};
  run.begin(field);
  EXPECT_NEAR(run.sums().energy, 0.125, 1e-7);
  run.advance_from_start(dt, 4);
  const double before = run.sums().energy;
  // Simpson's rule.
  double dissipated = 0;
  for (const double weight : {1, 4, 2, 4, 1}) {
    dissipated += weight * dt / 3 * 2 * nu * run.sums().enstrophy;
    if (run.steps.size() < 25) run.advance(dt, 1);
  }
  const double lost = before - run.sums().energy;
  EXPECT_NEAR(lost, dissipated, 1e-4 * dissipated);
}

// ---- On several ranks --------------------------------------------------------------------------

/// A box that divides into up to 12 ranks.
MeshSpec divided_box() { return flow_box({3, 2, 2}, 0.15); }

// Steps of several lengths, and projection spaces that are full after two of them.
TEST(NavierStokes, EqualsTheFlowOfOneRank) {
  const MeshSpec spec = divided_box();
  const FlowField field = carried(abc, 2, spec, 0.05);
  const auto velocity = [&](MPI_Comm parent) {
    FlowOptions options = accurate(0.05);
    options.time_order = 2;
    options.projection = 2;
    FlowRun run(parent, spec, 2, options);
    run.begin(field);
    for (const double dt : {0.01, 0.02, 0.02, 0.02}) run.take(dt);
    run.expect_converged();
    EXPECT_LE(run.error(field).l2, 0.1);
    return run.velocity();
  };
  const VectorById together = velocity(MPI_COMM_WORLD);
  if (!Communicator(MPI_COMM_WORLD).is_root()) return;
  EXPECT_LE(relative_difference(together, velocity(MPI_COMM_SELF)), 1e-9);
}

TEST(NavierStokes, HasTheSameBitsAtAnyNumberOfRanksOnDeterministicSpaces) {
  const MeshSpec spec = divided_box();
  FlowOptions options;
  options.viscosity = 0.05;
  options.pressure.absolute = options.velocity.absolute = 1e-4;  // few iterations
  const auto run_twice = [&](MPI_Comm parent) {
    FlowRun run(parent, spec, 2, options, Summation::deterministic);
    std::array<VectorById, 2> velocities;
    for (VectorById& velocity : velocities) {
      run.begin(carried(plane, 2, spec, 0.05));
      run.advance(0.02, 2);
      velocity = run.velocity();
    }
    run.expect_converged();
    EXPECT_TRUE(velocities[1] == velocities[0]);
    return velocities[0];
  };
  const VectorById together = run_twice(MPI_COMM_WORLD);
  if (!Communicator(MPI_COMM_WORLD).is_root()) return;
  EXPECT_TRUE(run_twice(MPI_COMM_SELF) == together);
}

// A CFL number of about 10000: the flow grows until products overflow. The steps go on, and say
// that they did not converge.
TEST(NavierStokes, SaysThatAFlowBlewUp) {
  FlowOptions options = accurate(0.001);
  options.most_iterations = 2;
  const MeshSpec spec = divided_box();
  FlowRun run(MPI_COMM_WORLD, spec, 2, options);
  run.begin(carried(FlowKind::taylor_green, 2, spec, 0.001));
  const double dt = 1e4 / run.sums().speed;
  run.advance(dt, 4);
  EXPECT_FALSE(run.sums().energy < 1e50);
  const FlowStep last = run.take(dt);
  EXPECT_FALSE(last.pressure.converged);
  EXPECT_FALSE(last.velocity.converged);
  EXPECT_FALSE(last.converged());
}

TEST(NavierStokes, SaysThatNumbersAreNone) {
  FlowRun run(MPI_COMM_WORLD, divided_box(), 2, accurate(0.05));
  VectorById u{run.mesh.random(1), run.mesh.random(2), run.mesh.random(3)};
  u[1][0] = std::nan("");
  run.begin(u);
  for (int step = 0; step < 2; ++step) {
    const FlowStep after = run.take(0.01);
    EXPECT_FALSE(after.pressure.converged);
    EXPECT_FALSE(after.velocity.converged);
    EXPECT_EQ(after.pressure.iterations, 0);
  }
  EXPECT_TRUE(std::isnan(run.sums().energy));
}

// ---- The run -----------------------------------------------------------------------------------

// On a GPU, ordinary sums add in any order.
constexpr Summation same_bits_at_every_call =
    is_host_device ? Summation::ordinary : Summation::deterministic;

// A second beginning has nothing of the first flow, even if that ended in NaN.
TEST(NavierStokes, RepeatsItselfWhenItBeginsAgain) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const MeshSpec spec = divided_box();
  for (int time_order = 1; time_order <= max_time_order; ++time_order) {
    FlowOptions options = accurate(0.05);
    options.time_order = time_order;
    options.projection = 4;
    FlowRun run(MPI_COMM_WORLD, spec, 2, options, same_bits_at_every_call);
    const auto velocity = [&] {
      run.begin(carried(plane, 2, spec, 0.05), 0.5);
      run.steps.clear();
      run.advance(0.02, 4);
      run.expect_converged();
      EXPECT_NEAR(run.flow.time(), 0.58, 1e-14);
      return run.velocity();
    };
    const VectorById first = velocity();
    EXPECT_TRUE(velocity() == first) << "order in time " << time_order;
    const ById nan(run.mesh.n_points(), std::nan(""));
    run.begin({nan, nan, nan});
    EXPECT_FALSE(run.take(0.1).converged());
    EXPECT_TRUE(velocity() == first) << "order in time " << time_order << ", after NaN";
  }
}

/// Keeps the state of a flow in memory.
class MemoryArchive final : public FlowArchive {
 public:
  bool restores = false;

  void number(const std::string& name, double& value) override {
    std::vector<double> one{value};
    numbers(name, one);
    value = one.at(0);
  }
  void numbers(const std::string& name, std::vector<double>& values) override {
    if (restores)
      values = m_kept.at(name);
    else
      EXPECT_TRUE(m_kept.emplace(name, values).second) << name << " is there twice";
  }
  void field(const std::string& name, const DeviceVector<double>& values) override {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
    std::vector<double> kept(host.data(), host.data() + host.extent(0));
    numbers(name, kept);
    std::copy(kept.begin(), kept.end(), host.data());
    if (restores) Kokkos::deep_copy(values, host);
  }

 private:
  std::map<std::string, std::vector<double>> m_kept;
};

// At any step: of lower order at the beginning, with a projection space that is empty, growing,
// full, and emptied, and with steps that change their length. With ordinary sums the space is large
// enough that nobody asks whether it is worth its time.
TEST(NavierStokes, GoesOnWithTheSameBitsFromAnArchive) {
  const MeshSpec spec = divided_box();
  for (const Summation summation : {same_bits_at_every_call, Summation::deterministic})
    for (int time_order = 1; time_order <= max_time_order; ++time_order) {
      FlowOptions options = accurate(0.05);
      options.pressure.absolute = options.velocity.absolute = 1e-6;
      options.time_order = time_order;
      options.projection = summation == Summation::ordinary ? 3 : 2;  // full within the run
      FlowRun run(MPI_COMM_WORLD, spec, 2, options, summation);
      run.begin(carried(plane, 2, spec, 0.05), 0.5);
      constexpr int n_steps = 4;
      static_assert(n_steps > max_time_order);
      const std::array<double, n_steps> lengths{0.01, 0.02, 0.02, 0.03};
      std::array<MemoryArchive, n_steps> archives;
      for (int step = 0; step < n_steps; ++step) {
        run.flow.archive(archives[step]);
        run.take(lengths[step]);
      }
      run.expect_converged();
      const VectorById expected = run.velocity();
      FlowRun other(MPI_COMM_WORLD, spec, 2, options, summation);
      for (int first = 1; first < n_steps; ++first) {
        archives[first].restores = true;
        other.flow.begin(0);
        other.flow.archive(archives[first]);
        EXPECT_EQ(other.take(lengths[first]).number, first + 1);
        for (int step = first + 1; step < n_steps; ++step) other.take(lengths[step]);
        EXPECT_TRUE(other.velocity() == expected)
            << "order in time " << time_order << ", from step " << first;
        EXPECT_EQ(other.flow.time(), run.flow.time());
      }
    }
}

// The λ of these steps is the one that a flow has before its first step.
TEST(NavierStokes, GoesOnFromAnArchiveWithTheFirstLambda) {
  const MeshSpec spec = divided_box();
  FlowOptions options = accurate(8);
  options.time_order = 1;
  FlowRun run(MPI_COMM_WORLD, spec, 2, options, same_bits_at_every_call);
  run.begin(carried(plane, 2, spec, 8));
  run.take(0.125);
  MemoryArchive archive;
  run.flow.archive(archive);
  run.take(0.125);
  run.expect_converged();
  FlowRun other(MPI_COMM_WORLD, spec, 2, options, same_bits_at_every_call);
  archive.restores = true;
  other.flow.archive(archive);
  other.take(0.125);
  other.expect_converged();
  EXPECT_TRUE(other.velocity() == run.velocity());
}

TEST(NavierStokes, ProjectionSavesIterationsAndKeepsTheFlow) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const MeshSpec spec = divided_box();
  VectorById without;
  int iterations = 0;
  double first_residual = 0;
  for (const int projection : {0, 20}) {
    FlowOptions options = accurate(0.05);
    options.projection = projection;
    FlowRun run(MPI_COMM_WORLD, spec, 2, options);
    run.begin(carried(plane, 0, spec, 0.05));
    run.advance(0.02, 16);
    run.expect_converged();
    int of_last = 0;
    for (int last = 1; last <= 4; ++last) {
      const FlowStep& step = run.steps[run.steps.size() - last];
      of_last += step.pressure.iterations + step.velocity.iterations;
    }
    const double residual = run.steps.back().pressure.first_residual;
    if (projection == 0) {
      without = run.velocity();
      iterations = of_last;
      first_residual = residual;
    } else {
      EXPECT_LE(relative_difference(run.velocity(), without), 1e-8);
      EXPECT_LE(of_last, 0.8 * iterations);
      EXPECT_LE(residual, 1e-2 * first_residual);
    }
  }
}

// A space of few vectors is full, and then emptied, within the run.
TEST(NavierStokes, KeepsTheFlowWhenAProjectionSpaceIsFull) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const MeshSpec spec = divided_box();
  const auto velocity = [&](int projection) {
    FlowOptions options = accurate(0.05);
    options.projection = projection;
    options.time_order = 2;
    FlowRun run(MPI_COMM_WORLD, spec, 2, options);
    run.begin(carried(plane, 0, spec, 0.05));
    run.advance(0.02, 7);
    run.expect_converged();
    return run.velocity();
  };
  const VectorById without = velocity(0);
  for (const int projection : {1, 3})
    EXPECT_LE(relative_difference(velocity(projection), without), 1e-8) << projection;
}

// A constant acceleration moves the whole fluid, as in a falling frame.
TEST(NavierStokes, ForcingAcceleratesTheMean) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  for (int time_order = 1; time_order <= max_time_order; ++time_order) {
    const MeshSpec spec = flow_box({3, 2, 2});
    FlowOptions options = accurate(0.05);
    options.time_order = time_order;
    options.forcing = {0.3, -2, 1};
    FlowRun run(MPI_COMM_WORLD, spec, 2, options);
    run.flow.begin(0);  // at rest
    for (const double dt : {0.1, 0.2, 0.15, 0.2}) run.take(dt);
    run.expect_converged();
    const VectorById u = run.velocity();
    for (int c = 0; c < 3; ++c)
      for (const double value : u[c]) ASSERT_NEAR(value, 0.65 * options.forcing[c], 1e-9);
  }
}

// The sum of the equations of a component: pressure and viscosity have no part in the momentum, so
// that a step of order 1 changes it by the integral of advection alone.
TEST(NavierStokes, AdvectionAndForcingAloneChangeTheMomentum) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const int order = 3;
  const double dt = 0.05;
  FlowOptions options = accurate(0.05);
  options.time_order = 1;
  options.forcing = {0.1, 0, -0.2};
  FlowRun run(MPI_COMM_WORLD, flow_box({3, 2, 2}), order, options);
  const VectorById u{run.mesh.random(1), run.mesh.random(2), run.mesh.random(3)};
  run.begin(u);
  const FlowSums before = run.sums();
  run.take(dt);
  run.expect_converged();
  const FlowSums after = run.sums();
  const ReferenceFlow quadrature(run.mesh, gauss_quadrature(6));
  const VectorById advection = quadrature.advection(run.comm, u);
  for (int c = 0; c < 3; ++c) {
    double integral = 0;
    for (const double value : advection[c]) integral += value;
    const double expected = dt * (options.forcing[c] - integral / run.elements.volume());
    EXPECT_NEAR(after.momentum[c] - before.momentum[c], expected, 1e-11);
  }
}

// A uniform flow of any speed stays as it is, also where elements are deformed.
TEST(NavierStokes, KeepsAUniformFlow) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  FlowRun run(MPI_COMM_WORLD, divided_box(), 3, accurate(0.05));
  const ById ones(run.mesh.n_points(), 1.5);
  const VectorById uniform{ones, ones, ones};
  run.begin(uniform);
  run.advance(0.05, 4);
  run.expect_converged();
  EXPECT_LE(relative_difference(run.velocity(), uniform), 1e-9);
  EXPECT_LE(run.sums().divergence, 1e-7);
}

// ---- The record of a step ----------------------------------------------------------------------

TEST(NavierStokes, RecordsItsSteps) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const MeshSpec spec = divided_box();
  FlowRun run(MPI_COMM_WORLD, spec, 2, accurate(0.05));
  run.begin(carried(plane, 2, spec, 0.05), 2);
  EXPECT_EQ(run.flow.time(), 2);
  double time = 2;
  for (int number = 1; number <= 5; ++number) {
    const double dt = 0.01 * number;
    const FlowStep step = run.take(dt);
    time += dt;
    EXPECT_EQ(step.number, number);
    EXPECT_EQ(step.order, std::min(number, 3));
    EXPECT_EQ(step.dt, dt);
    EXPECT_NEAR(step.time, time, 1e-14);
    EXPECT_EQ(step.time, run.flow.time());
    EXPECT_TRUE(step.converged());
    EXPECT_LE(step.pressure.residual, 1e-9 * (1 + 1e-12));
    EXPECT_LE(step.velocity.residual, 1e-10 * (1 + 1e-12));
    EXPECT_GE(step.pressure.first_residual, step.pressure.residual);
    EXPECT_GE(step.velocity.first_residual, step.velocity.residual);
    EXPECT_GE(step.seconds(), 0);
  }
}

// The first guess of the pressure is zero, so that the residual is the right-hand side.
TEST(NavierStokes, FirstPressureSourceIsThatOfTheFirstStep) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const MeshSpec spec = divided_box();
  const double dt = 0.02;
  FlowRun run(MPI_COMM_WORLD, spec, 3, accurate(0.05));
  run.begin(carried(plane, 2, spec, 0.05));
  const ById b = to_ids(run.comm, run.space, run.mesh, run.flow.first_pressure_source(dt));
  EXPECT_NEAR(run.take(dt).pressure.first_residual, std::sqrt(dot(b, b) / run.elements.volume()),
              1e-12);
  const ReferenceOperator stiffness(spec, 3, 0);
  const ById p = to_ids(run.comm, run.space, run.mesh, run.flow.pressure());
  EXPECT_LE(relative_difference(stiffness.apply(p), b), 1e-6);
}

// Residuals are relative to the right-hand side or absolute; the larger tolerance counts.
TEST(NavierStokes, StopsAtTheLargerTolerance) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const MeshSpec spec = divided_box();
  FlowOptions options = accurate(0.05);
  options.projection = 0;
  const auto step = [&] {
    FlowRun run(MPI_COMM_WORLD, spec, 2, options);
    run.begin(carried(plane, 2, spec, 0.05));
    return run.take(0.02);
  };
  const FlowStep absolute = step();
  options.pressure = {1e-9, 1e-2};
  options.velocity = {1e-10, 1e-2};
  const FlowStep relative = step();
  EXPECT_LE(relative.pressure.residual, 1e-2 * relative.pressure.first_residual);
  EXPECT_GT(relative.pressure.residual, 1e-9);
  EXPECT_LT(relative.pressure.iterations, absolute.pressure.iterations);
  EXPECT_LT(relative.velocity.iterations, absolute.velocity.iterations);
  options.pressure = {1e10, 0};
  options.velocity = {1e10, 0};
  const FlowStep nothing = step();
  EXPECT_EQ(nothing.pressure.iterations, 0);
  EXPECT_EQ(nothing.velocity.iterations, 0);
  EXPECT_TRUE(nothing.converged());
}

TEST(NavierStokes, SaysWhichSolveDidNotConverge) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  const MeshSpec spec = divided_box();
  FlowOptions options = accurate(0.05);
  options.most_iterations = 1;
  options.velocity.absolute = 1e3;
  FlowRun run(MPI_COMM_WORLD, spec, 3, options);
  run.begin(carried(plane, 2, spec, 0.05));
  const FlowStep step = run.take(0.02);
  EXPECT_EQ(step.pressure.iterations, 1);
  EXPECT_FALSE(step.pressure.converged);
  EXPECT_TRUE(step.velocity.converged);
  EXPECT_FALSE(step.converged());
}

TEST(NavierStokes, RefusesUnknownOrdersInTime) {
  if (!has_one_rank()) GTEST_SKIP() << "several ranks give the same flow";
  for (const int time_order : {0, 4}) {
    FlowOptions options;
    options.time_order = time_order;
    EXPECT_THROW(FlowRun(MPI_COMM_WORLD, divided_box(), 1, options), InternalError);
  }
}

// What the kernels of a step must at least read and write, counted from the mesh. Element kernels
// also move the shares of element surfaces, and blocks of elements have padding.
TEST(NavierStokes, CountsItsTraffic) {
  constexpr int order = 7, points = order + 1, gauss = 12;
  for (const bool dealiasing : {true, false}) {
    const MeshSpec spec = flow_box({4, 4, 4}, 0.1);
    FlowOptions options{.viscosity = 0.05, .dealiasing = dealiasing};
    options.projection = 4;
    FlowRun run(MPI_COMM_WORLD, spec, order, options);
    const auto sum = [&](double bytes) { return run.comm.sum(bytes); };
    run.begin(carried(FlowKind::abc, 2, spec, options.viscosity));
    const double elements = 64, dofs = elements * std::pow(order, 3);
    const int n = dealiasing ? gauss : points;
    const double metric = 10 * elements * std::pow(n, 3);
    for (const int known : {1, 2, 3}) {  // levels in time
      const FlowStep step = run.take(1e-3);
      ASSERT_TRUE(step.converged());
      const double least = 8 * (metric + dofs * (3 + 3 + 1 + 6 * known + 9));
      EXPECT_GE(sum(step.advection_bytes), least);
      EXPECT_LE(sum(step.advection_bytes), 1.8 * least);
    }
    // A solve reads the factors of the operator in each iteration, and some vectors.
    const FlowStep step = run.take(1e-3);
    const double factors = 6 * elements * std::pow(points, 3);
    const double least = 8 * step.pressure.iterations * (factors + 11 * dofs);
    EXPECT_GE(sum(step.pressure_bytes), least);
    EXPECT_LE(sum(step.pressure_bytes), 1.8 * least + 8 * 2 * (factors + 40 * dofs));
    EXPECT_GE(sum(step.velocity_bytes),
              8 * 3 * (step.velocity.iterations + 1) * (factors + 2 * dofs));
    EXPECT_GE(sum(step.other_bytes), 8 * (2 * 10 * elements * std::pow(points, 3) + 10 * dofs));
  }
}

}  // namespace
}  // namespace nekbone_k
