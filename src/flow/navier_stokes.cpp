// SPDX-License-Identifier: BSD-3-Clause
#include "flow/navier_stokes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/errors.hpp"
#include "core/region.hpp"
#include "operators/null_space.hpp"

namespace nekbone_k {
namespace {

using Range = Kokkos::RangePolicy<ExecutionSpace>;

// A velocity that a projection brings just below its tolerance has errors that change from step to
// step. The pressure then needs up to an iteration more, which costs more than one of the velocity.
constexpr double least_velocity_saving = 1;

/// The terms of a step that need no solve. Sets the newest advection to values.
struct ExplicitTerms {
  TimeCoefficients c;
  double forcing[n_components];
  ConstDeviceVector<double> inverse_mass;
  Kokkos::Array<const double*, max_time_order> u;
  Kokkos::Array<double*, max_time_order> advection;
  double *u_hat, *extrapolated;
  LocalIndex size;

  KOKKOS_FUNCTION void operator()(const LocalIndex at) const {
    const double inverse = inverse_mass(at);
    const bool is_node = inverse != 0;  // not padding
    for (int d = 0; d < n_components; ++d) {
      const LocalIndex a = at + d * size;
      const double newest = inverse * advection[0][a];
      advection[0][a] = newest;
      double hat =
          (is_node ? forcing[d] : 0) + c.b[0] / c.dt * u[0][a] - c.extrapolation[0] * newest;
      double velocity = c.extrapolation[0] * u[0][a];
      for (int level = 1; level < c.order; ++level) {
        hat += c.b[level] / c.dt * u[level][a] - c.extrapolation[level] * advection[level][a];
        velocity += c.extrapolation[level] * u[level][a];
      }
      u_hat[a] = hat;
      extrapolated[a] = velocity;
    }
  }
};

/// to = x - y.
void subtract(const DeviceVector<double>& x, const DeviceVector<double>& y,
              const DeviceVector<double>& to) {
  Kokkos::parallel_for(
      "nekbone_k: subtract", Range(0, to.extent(0)),
      KOKKOS_LAMBDA(const LocalIndex a) { to(a) = x(a) - y(a); });
}

/// to += x.
void add(const DeviceVector<double>& x, const DeviceVector<double>& to) {
  Kokkos::parallel_for(
      "nekbone_k: add", Range(0, to.extent(0)),
      KOKKOS_LAMBDA(const LocalIndex a) { to(a) += x(a); });
}

/// to = a x + b y.
void combine(double a, const DeviceVector<double>& x, double b, const DeviceVector<double>& y,
             const DeviceVector<double>& to) {
  Kokkos::parallel_for(
      "nekbone_k: combine", Range(0, to.extent(0)),
      KOKKOS_LAMBDA(const LocalIndex i) { to(i) = a * x(i) + b * y(i); });
}

/// The inverse of stiffness + λ mass on the diagonal, for all components; 0 at padding.
void invert_diagonal(const ConstDeviceVector<double>& stiffness, double lambda,
                     const ConstDeviceVector<double>& mass, const VectorField& inverse) {
  double* const to = inverse.values.data();
  const LocalIndex size = inverse.size();
  Kokkos::parallel_for(
      "nekbone_k: Helmholtz diagonal", Range(0, size), KOKKOS_LAMBDA(const LocalIndex a) {
        const double diagonal = stiffness(a) + lambda * mass(a);
        for (int d = 0; d < n_components; ++d) to[a + d * size] = diagonal != 0 ? 1 / diagonal : 0;
      });
}

/// b = scale (mass û - gradient).
void viscous_source(double scale, const ConstDeviceVector<double>& mass, const VectorField& u_hat,
                    const VectorField& gradient, const VectorField& b) {
  const double *const hat = u_hat.values.data(), *const slope = gradient.values.data();
  double* const to = b.values.data();
  const LocalIndex size = b.size();
  Kokkos::parallel_for(
      "nekbone_k: viscous right-hand side", Range(0, size), KOKKOS_LAMBDA(const LocalIndex a) {
        for (int d = 0; d < n_components; ++d) {
          const LocalIndex at = a + d * size;
          to[at] = scale * (mass(a) * hat[at] - slope[at]);
        }
      });
}

/// The diagonal of A without λ, from its inverse.
DeviceVector<double> diagonal_of(const EllipticOperator& a) {
  const DeviceVector<double> diagonal = a.inverse_diagonal();
  Kokkos::parallel_for(
      "nekbone_k: diagonal", Range(0, diagonal.extent(0)), KOKKOS_LAMBDA(const LocalIndex i) {
        if (diagonal(i) != 0) diagonal(i) = 1 / diagonal(i);
      });
  return diagonal;
}

}  // namespace

NavierStokes::NavierStokes(const Communicator& comm, FlowElements& elements,
                           const GeometricFactors& factors, const EllipticOperator& stiffness,
                           PressurePreconditioner preconditioner, const FlowOptions& options,
                           const AllReduceStrategy& all_reduce)
    : m_comm(comm),
      m_elements(elements),
      m_space(elements.space()),
      m_stiffness(stiffness),
      m_preconditioner(std::move(preconditioner)),
      m_options(options),
      m_helmholtz(m_space, factors, 1, all_reduce),
      m_velocity_operator(comm, m_helmholtz, all_reduce),
      m_pressure_ops(fused_ops(comm, m_space, {}, all_reduce)),
      m_stiff_diagonal(diagonal_of(stiffness)),
      m_inverse_diagonal(VectorField("inverse diagonal", m_space).values),
      m_velocity_ops(comm, vector_range(m_space), m_inverse_diagonal, all_reduce,
                     m_space.reproducible_terms(n_components)),
      m_pressure_guess(comm, m_space.range(), {}, all_reduce, m_space.reproducible_terms()),
      m_velocity_guess(comm, vector_range(m_space), m_inverse_diagonal, all_reduce,
                       m_space.reproducible_terms(n_components)),
      m_pressure_space(comm, "earlier pressures", m_space.range(), options.projection, all_reduce,
                       m_space.reproducible_terms()),
      m_velocity_space(comm, "earlier velocities", vector_range(m_space), options.projection,
                       all_reduce, m_space.reproducible_terms(n_components)),
      m_pressure_policy(options.projection, m_space.is_deterministic()),
      m_velocity_policy(options.projection, m_space.is_deterministic(), least_velocity_saving),
      m_root_volume(std::sqrt(elements.volume())),
      m_u_hat("u hat", m_space),
      m_extrapolated("extrapolated u", m_space),
      m_work("work on u", m_space) {
  require(options.time_order >= 1 && options.time_order <= max_time_order, "unknown order in time");
  for (int level = 0; level < options.time_order; ++level) {
    m_u[level] = VectorField("u", m_space);
    m_advection[level] = VectorField("advection", m_space);
    m_p[level] = m_space.make_vector("p");
  }
  const auto vectors = [](const auto& make) {
    SolveVectors v{make("b"), make("A guess"), {}};
    v.v.x = make("x");
    v.v.r = make("r");
    v.v.p = make("p");
    v.v.ap = make("Ap");
    return v;
  };
  m_pressure_vectors = vectors([&](const char* label) { return m_space.make_vector(label); });
  m_pressure_vectors.v.z = m_space.make_vector("z");
  m_velocity_vectors =
      vectors([&](const char* label) { return VectorField(label, m_space).values; });
  set_lambda(m_helmholtz.lambda());
}

void NavierStokes::begin(double time) {
  m_time = time;
  m_n_steps = 0;
  m_steps.clear();
  m_pressure_space.clear();
  m_velocity_space.clear();
  m_pressure_policy.begin();
  m_velocity_policy.begin();
  // The first step takes one of them as its guess.
  for (int level = 0; level < m_options.time_order; ++level)
    Kokkos::deep_copy(ExecutionSpace(), m_p[level], 0.0);
}

void NavierStokes::archive(FlowArchive& archive) {
  archive.number("time", m_time);
  archive.count("steps", m_n_steps);
  archive.numbers("step lengths", m_steps);
  double lambda = m_helmholtz.lambda();
  archive.number("lambda", lambda);
  if (lambda != m_helmholtz.lambda()) set_lambda(lambda);
  for (int level = 0; level < m_options.time_order; ++level) {
    const std::string number = std::to_string(level);
    archive.field("velocity/" + number, m_u[level].values);
    archive.field("pressure/" + number, m_p[level]);
    // Each step computes the newest advection again.
    if (level > 0) archive.field("advection/" + number, m_advection[level].values);
  }
  m_pressure_space.archive("earlier pressures", archive);
  m_velocity_space.archive("earlier velocities", archive);
  m_pressure_policy.archive("pressure projection", archive);
  m_velocity_policy.archive("velocity projection", archive);
}

void NavierStokes::explicit_terms(const TimeCoefficients& c) {
  const Region region("advection");
  m_elements.advection(m_u[0], m_advection[0]);
  ExplicitTerms terms{.c = c,
                      .forcing = {m_options.forcing[0], m_options.forcing[1], m_options.forcing[2]},
                      .inverse_mass = m_elements.inverse_mass(),
                      .u = {},
                      .advection = {},
                      .u_hat = m_u_hat.values.data(),
                      .extrapolated = m_extrapolated.values.data(),
                      .size = m_space.size()};
  for (int level = 0; level < c.order; ++level) {
    terms.u[level] = m_u[level].values.data();
    terms.advection[level] = m_advection[level].values.data();
  }
  Kokkos::parallel_for("nekbone_k: explicit terms", Range(0, m_space.size()), terms);
  m_bytes += m_elements.least_bytes(FlowKernel::advection);
  // The inverse mass; the levels of u and of advection; the newest advection, û and EXT(u).
  count(1 + 2 * n_components * c.order + 3 * n_components);
}

void NavierStokes::pressure_source(const DeviceVector<double>& b) {
  const Region region("pressure source");
  m_elements.vorticity(m_extrapolated, m_work);
  m_elements.pressure_source(m_u_hat, m_work, m_options.viscosity, b);
  m_bytes += m_elements.least_bytes(FlowKernel::curl) +
             m_elements.least_bytes(FlowKernel::pressure_source);
  count(1 + 2 * n_components);  // the vorticity by its mass
}

template <class Op, class Solve>
FlowSolve NavierStokes::solve_from_guess(const Op& a, ProjectionSpace& space,
                                         ProjectionPolicy& policy, const SolveVectors& v,
                                         const DeviceVector<double>& x,
                                         const FlowTolerance& tolerance, double residual_scale,
                                         const ResidualOfGuess& residual, const Solve& solve,
                                         int traffic_per_iteration) {
  const int components = static_cast<int>(x.extent(0) / m_space.size());
  const bool is_singular = components == 1;  // that of the pressure
  const auto count_of = [&](int values) { count(components * values); };
  const double operator_bytes = components * m_stiffness.least_bytes();
  const auto apply = [&](const DeviceVector<double>& u) {
    m_bytes += operator_bytes;
    Kokkos::deep_copy(
        ExecutionSpace(),
        Kokkos::subview(v.a_guess, std::pair(LocalIndex{0}, m_stiffness.n_cleared_rows())), 0.0);
    a.apply_without_sum(u, v.a_guess);
  };
  // A fence costs a wait of the host, so only where a time is needed.
  const bool is_timing = policy.is_timing();
  const auto seconds_now = [&] {
    if (is_timing) Kokkos::fence("nekbone_k: projection timed");
    return wall_seconds();
  };
  apply(x);
  ResidualOfGuess::Products of_guess = residual(v.a_guess, v.b, v.v.r);
  count_of(4);
  // A singular A annihilates constants, so b must have none. It has but rounding, as ∇1 = 0; that
  // matters only if little else is left.
  const auto n_dofs = static_cast<double>(m_space.mesh().total_dofs());
  const double constants = is_singular ? of_guess.sum * of_guess.sum / n_dofs : 0;
  const double target =
      std::max(tolerance.absolute * m_root_volume * residual_scale,
               tolerance.relative * std::sqrt(std::max(0.0, of_guess.b_dot_b - constants)));
  constexpr double negligible = 1e-3;
  if (std::isfinite(constants) && constants > negligible * negligible * target * target) {
    for (const auto& vector : {v.b, v.v.r})
      subtract_constant(m_space, of_guess.sum / n_dofs, vector);
    of_guess.residual.r_dot_r = std::max(0.0, of_guess.residual.r_dot_r - constants);
    count_of(4);
  }
  FlowSolve outcome;
  SolveCost cost;
  // About that of affine factors; only its share in that of the vectors matters.
  constexpr int traffic_of_operator = 3;
  const auto count_projection = [&](int values) {
    count_of(values);
    cost.projection_traffic += values;
  };
  std::optional<ResidualProducts> of_first = of_guess.residual;
  outcome.guess_residual = std::sqrt(of_first->r_dot_r);
  outcome.projected = policy.is_active() && space.size() > 0 && outcome.guess_residual > target;
  if (outcome.projected) {
    of_first.reset();
    const double begin = seconds_now();
    count_projection(space.traffic_of_project() + 3 + 3);
    cost.projection_traffic += traffic_of_operator;
    space.project(v.b, v.v.p);
    apply(v.v.p);
    subtract(v.b, v.a_guess, v.v.r);
    add(v.v.p, x);
    cost.projection_seconds = seconds_now() - begin;
  }
  const double begin = seconds_now();
  const CgResult result = solve(target, of_first);
  if (is_timing) Kokkos::fence("nekbone_k: solve timed");
  cost.solve_seconds = seconds_now() - begin;
  add(v.v.x, x);
  m_bytes += result.iterations * operator_bytes;
  count_of(result.iterations * traffic_per_iteration + 3);
  outcome.iterations = result.iterations;
  outcome.converged = result.converged;
  outcome.first_residual = result.history.front();
  outcome.residual = result.residual();
  const bool adds = !policy.is_paused() && result.iterations > 0 && result.converged;
  if (adds) {
    if (!space.is_full()) space.prepare_to_add();
    const double begin_to_add = seconds_now();
    if (outcome.projected && space.is_full()) {
      // The space restarts with the whole correction.
      count_projection(space.traffic_of_project() + 3);
      space.project(v.b, v.v.p);
      add(v.v.p, v.v.x);
    } else if (outcome.projected) {
      // The solve began where the projection ended, so its correction is new to the space.
      count_projection(3);
      subtract(v.b, v.a_guess, v.b);
    }
    subtract(v.b, v.v.r, v.b);
    if (space.is_full()) space.clear();
    count_projection(3 + space.traffic_of_add());
    space.add(v.v.x, v.b);
    cost.projection_seconds += seconds_now() - begin_to_add;
  }
  const double scale = 1 / (m_root_volume * residual_scale);
  outcome.guess_residual *= scale;
  outcome.first_residual *= scale;
  outcome.residual *= scale;
  policy.count(m_comm, outcome, cost);
  if (policy.is_paused()) space.clear();
  return outcome;
}

void NavierStokes::guess_pressure() {
  // The first pressure is that of the first step. With one level, the last pressure is the guess.
  const int known = std::min(m_options.time_order - 1, m_n_steps);
  if (known == 0) return;
  const TimeCoefficients c = time_coefficients(known, m_steps);
  count(std::min(2, known) + 1);
  combine(c.extrapolation[0], m_p[1], known > 1 ? c.extrapolation[1] : 0, m_p[std::min(2, known)],
          m_p[0]);
}

FlowSolve NavierStokes::solve_pressure() {
  const Region region("pressure");
  struct Preconditioner {
    const PressurePreconditioner& action;
    void apply(const DeviceVector<double>& r, const DeviceVector<double>& z, double norm) const {
      action(r, z, norm);
    }
  } m{m_preconditioner};
  return solve_from_guess(
      m_stiffness, m_pressure_space, m_pressure_policy, m_pressure_vectors, m_p[0],
      m_options.pressure, 1, m_pressure_guess,
      [&](double target, const std::optional<ResidualProducts>& of_b) {
        FlexibleCgOptions options{
            .iterations = m_options.most_iterations, .tolerance = 0, .absolute = target};
        if (of_b) options.b_dot_b = of_b->r_dot_r;
        return flexible_conjugate_gradients(m_stiffness, m, m_pressure_ops, m_pressure_vectors.v,
                                            options);
      },
      flexible_traffic);
}

void NavierStokes::set_lambda(double lambda) {
  m_helmholtz.set_lambda(lambda);
  invert_diagonal(m_stiff_diagonal, lambda, m_elements.mass(), VectorField(m_inverse_diagonal));
}

FlowSolve NavierStokes::solve_velocity(const TimeCoefficients& c) {
  const Region region("velocity");
  const double nu = m_options.viscosity, lambda = c.b0 / c.dt / nu;
  if (lambda != m_helmholtz.lambda()) {
    set_lambda(lambda);
    m_velocity_space.clear();
  }
  // b = (mass û - (v, ∇p)) / ν
  m_elements.gradient(m_p[0], m_work);
  const double per_viscosity = 1 / nu;
  viscous_source(per_viscosity, m_elements.mass(), m_u_hat, m_work,
                 VectorField(m_velocity_vectors.b));
  m_bytes += m_elements.least_bytes(FlowKernel::gradient);
  count(1 + 3 * n_components);
  return solve_from_guess(
      m_velocity_operator, m_velocity_space, m_velocity_policy, m_velocity_vectors, m_u[0].values,
      m_options.velocity, per_viscosity, m_velocity_guess,
      [&](double target, const std::optional<ResidualProducts>& of_b) {
        return conjugate_gradients(
            m_velocity_operator, m_velocity_ops, m_velocity_vectors.v,
            {.iterations = m_options.most_iterations, .tolerance = 0, .absolute = target}, {},
            of_b);
      },
      m_velocity_ops.traffic());
}

DeviceVector<double> NavierStokes::first_pressure_source(double dt) {
  explicit_terms(time_coefficients(1, {dt}));
  const DeviceVector<double> b = m_space.make_vector("pressure source");
  pressure_source(b);
  remove_constants(m_comm, m_space, b);
  return b;
}

double NavierStokes::estimated_bytes(const BoxMesh& mesh, const FlowOptions& options) {
  const auto inside =
      ElementLayout::estimate(mesh.nq(), static_cast<double>(mesh.box().volume())).interior;
  const double vector = sizeof(double) * (mesh.lattice_volume() + inside);
  // In this order: velocities, advection and pressures; û, two more vectors and a diagonal; b, A
  // guess, x, r, p and Ap of both solves; z; earlier solutions; the diagonal of A.
  const double vectors = options.time_order * (2 * n_components + 1) + 4 * n_components +
                         6 * (n_components + 1) + 1 +
                         double{1} * options.projection * (n_components + 1) + 1;
  return vectors * vector + FlowElements::estimated_bytes(mesh, options.dealiasing);
}

FlowStep NavierStokes::step(double dt) {
  const Region region("flow step");
  FlowStep record;
  m_clock.mark();
  m_steps.insert(m_steps.begin(), dt);
  if (m_steps.size() > max_time_order) m_steps.pop_back();
  const int order = std::min<int>(m_options.time_order, static_cast<int>(m_steps.size()));
  const TimeCoefficients c = time_coefficients(order, m_steps);

  const auto end_part = [&](double& bytes) {
    m_clock.mark();
    bytes = std::exchange(m_bytes, 0);
  };
  m_bytes = 0;
  explicit_terms(c);
  end_part(record.advection_bytes);

  pressure_source(m_pressure_vectors.b);
  end_part(record.other_bytes);
  // The oldest level makes room for the new one, which begins as the extrapolation.
  const int levels = m_options.time_order;
  const auto turn = [&](auto& history) {
    std::rotate(history.begin(), history.begin() + levels - 1, history.begin() + levels);
  };
  turn(m_p);
  guess_pressure();
  record.pressure = solve_pressure();
  end_part(record.pressure_bytes);

  turn(m_u);
  turn(m_advection);
  Kokkos::deep_copy(ExecutionSpace(), m_u[0].values, m_extrapolated.values);
  count(2 * n_components);
  record.velocity = solve_velocity(c);
  end_part(record.velocity_bytes);
  const std::vector<double> seconds = m_clock.intervals();
  record.advection_seconds = seconds[0];
  record.other_seconds = seconds[1];
  record.pressure_seconds = seconds[2];
  record.velocity_seconds = seconds[3];

  m_time += dt;
  record.number = ++m_n_steps;
  record.order = order;
  record.time = m_time;
  record.dt = dt;
  return record;
}

}  // namespace nekbone_k
