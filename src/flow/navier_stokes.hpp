// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The time step of the incompressible Navier–Stokes equations.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "flow/flow_archive.hpp"
#include "flow/flow_elements.hpp"
#include "flow/projection.hpp"
#include "flow/projection_policy.hpp"
#include "flow/residual_of_guess.hpp"
#include "flow/time_scheme.hpp"
#include "flow/velocity_operator.hpp"
#include "solver/flexible_cg.hpp"

namespace nekbone_k {

/// A solve of the flow stops at the larger of both tolerances; r is the assembled residual.
struct FlowTolerance {
  double absolute = 0;  ///< of ‖r‖ / √volume
  double relative = 0;  ///< of ‖r‖ / ‖b‖
};

struct FlowOptions {
  double viscosity = 1e-3;
  int time_order = 3;      ///< 1 to max_time_order
  bool dealiasing = true;  ///< integrates advection on Gauss points
  int projection = 20;     ///< vectors of the projection spaces
  FlowTolerance pressure{1e-8, 0};
  FlowTolerance velocity{1e-9, 0};
  int most_iterations = 1000;              ///< of a solve
  std::array<double, 3> forcing{0, 0, 0};  ///< a constant acceleration
};

/// z = M r for the pressure; see ApproximateInverse.
using PressurePreconditioner =
    std::function<void(const DeviceVector<double>& r, const DeviceVector<double>& z, double norm)>;

/// What a step did. Times are those of this rank, in s.
struct FlowStep {
  int number = 0;   ///< from 1
  int order = 0;    ///< in time
  double time = 0;  ///< at its end
  double dt = 0;
  FlowSolve pressure, velocity;
  double advection_seconds = 0, pressure_seconds = 0, velocity_seconds = 0, other_seconds = 0;
  /// Minimum traffic of this rank, without that of the pressure's preconditioner.
  double advection_bytes = 0, pressure_bytes = 0, velocity_bytes = 0, other_bytes = 0;

  bool converged() const { return pressure.converged && velocity.converged; }
  double seconds() const {
    return advection_seconds + pressure_seconds + velocity_seconds + other_seconds;
  }
};

/// Velocity and pressure on the same GLL nodes, P_N–P_N, on a fully periodic mesh. A step is
/// BDFk/EXTk with a splitting whose pressure equation has the curl of the vorticity (Karniadakis,
/// Israeli and Orszag, J. Comput. Phys. 97, 1991; Tomboulides, Lee and Orszag, J. Sci. Comput. 12,
/// 1997):
///
///     û = Σ_j b_j u_{n-j} / Δt - EXT((u·∇)u) + forcing
///     (∇q, ∇p) = (∇q, û - ν ∇×EXT(ω))
///     (ν stiffness + b_0 / Δt mass) u_{n+1} = mass û - (v, ∇p)
///
/// Steps may vary in length; see starting_steps() for the first ones.
class NavierStokes {
 public:
  /// Keeps references. `stiffness` is A with λ = 0, on the space of `elements`. Collective, as all
  /// members are, and so is destruction.
  NavierStokes(const Communicator& comm, FlowElements& elements, const GeometricFactors& factors,
               const EllipticOperator& stiffness, PressurePreconditioner preconditioner,
               const FlowOptions& options,
               const AllReduceStrategy& all_reduce = all_reduce_strategies().front());

  /// Begins at `time` with a velocity that the caller has set in velocity().
  void begin(double time);
  /// Advances by dt.
  FlowStep step(double dt);
  /// Saves the state, or restores it in place of begin(). The next steps then have the same bits as
  /// without the interruption, on the same number of ranks. With deterministic sums, this holds on
  /// any number of ranks.
  void archive(FlowArchive& archive);

  double time() const { return m_time; }
  const VectorField& velocity() const { return m_u[0]; }
  /// The velocity at the beginning of the last step; with time_order 1, that at its end.
  const VectorField& velocity_before() const { return m_u[m_options.time_order > 1 ? 1 : 0]; }
  /// The pressure of the last step; its mean is arbitrary.
  const DeviceVector<double>& pressure() const { return m_p[0]; }
  /// The right-hand side of the pressure equation of a first step of dt. The run selects a
  /// preconditioner with it.
  DeviceVector<double> first_pressure_source(double dt);

  /// The vectors of the pressure solves, for other use between steps.
  const CgVectors& pressure_vectors() const { return m_pressure_vectors.v; }

  static double estimated_bytes(const BoxMesh& mesh, const FlowOptions& options);

 private:
  struct SolveVectors {
    DeviceVector<double> b, a_guess;
    FlexibleCgVectors v;
  };

  /// û, EXT(u), and the advection of the newest level.
  void explicit_terms(const TimeCoefficients& c);
  void pressure_source(const DeviceVector<double>& b);
  void guess_pressure();
  /// Sets λ of the Helmholtz operator of the velocity.
  void set_lambda(double lambda);
  FlowSolve solve_pressure();
  FlowSolve solve_velocity(const TimeCoefficients& c);
  /// Solves A x = b from the guess in x, whose residual it may first project on the space of
  /// earlier corrections. Overwrites b.
  template <class Op, class Solve>
  FlowSolve solve_from_guess(const Op& a, ProjectionSpace& space, ProjectionPolicy& policy,
                             const SolveVectors& v, const DeviceVector<double>& x,
                             const FlowTolerance& tolerance, double residual_scale,
                             const ResidualOfGuess& residual, const Solve& solve,
                             int traffic_per_iteration);
  /// Counts a traffic of `values` doubles per entry of a vector.
  void count(int values) { m_bytes += sizeof(double) * double{1} * values * m_space.size(); }

  const Communicator& m_comm;
  FlowElements& m_elements;
  AssembledSpace& m_space;
  const EllipticOperator& m_stiffness;
  PressurePreconditioner m_preconditioner;
  FlowOptions m_options;
  EllipticOperator m_helmholtz;
  VelocityOperator m_velocity_operator;
  FusedVectorOps m_pressure_ops;            // without a preconditioner
  DeviceVector<double> m_stiff_diagonal;    // of A with λ = 0, assembled
  DeviceVector<double> m_inverse_diagonal;  // of the Helmholtz operator, on all components
  FusedVectorOps m_velocity_ops;
  ResidualOfGuess m_pressure_guess, m_velocity_guess;
  ProjectionSpace m_pressure_space, m_velocity_space;
  ProjectionPolicy m_pressure_policy, m_velocity_policy;

  StreamClock m_clock;
  double m_bytes = 0;  // traffic of the part of a step that runs
  double m_time = 0, m_root_volume = 1;
  int m_n_steps = 0;
  std::vector<double> m_steps;  // the newest first
  // The newest level first.
  std::array<VectorField, max_time_order> m_u, m_advection;
  std::array<DeviceVector<double>, max_time_order> m_p;
  VectorField m_u_hat, m_extrapolated, m_work;
  SolveVectors m_pressure_vectors, m_velocity_vectors;
};

}  // namespace nekbone_k
