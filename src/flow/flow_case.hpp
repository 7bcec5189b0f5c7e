// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The flow of a run, as in the input.
#pragma once

#include <array>
#include <string>

#include "flow/flow_field.hpp"
#include "flow/navier_stokes.hpp"

namespace nekbone_k {

/// What the tolerances of the flow refer to.
enum class FlowToleranceKind { absolute, relative };

inline const char* name(FlowToleranceKind kind) {
  return kind == FlowToleranceKind::absolute ? "absolute" : "relative";
}

/// The most vectors of a projection space.
inline constexpr int most_projection = 64;

/// When a flow is saved.
struct CheckpointCase {
  std::string file = "nekbone-k-checkpoint.h5";
  int every = 0;               ///< steps; 0: not by steps
  double before_walltime = 0;  ///< s; 0: no limit

  bool is_on() const { return every > 0 || before_walltime > 0; }
};

/// When fields of a flow are written for ParaView.
struct FieldOutputCase {
  std::string file = "nekbone-k-fields.vtkhdf";  ///< the step comes before the last point
  int every = 0;                                 ///< steps; 0: never
};

struct FlowCase {
  FlowKind initial = FlowKind::taylor_green;
  std::string initial_file;         ///< has the initial velocity, if not empty
  FlowPlane plane = FlowPlane::xy;  ///< of taylor_green_2d
  std::array<double, 3> translation{0, 0, 0};
  double viscosity = 1.0 / 1600;
  double dt = 1e-3;
  double cfl = 0;  ///< 0: the constant dt
  double end_time = 1;
  int steps = 0;  ///< 0: to end_time
  int time_order = 3;
  bool dealiasing = true;
  int projection = 20;
  FlowToleranceKind tolerance = FlowToleranceKind::absolute;
  double pressure_tolerance = 1e-8, velocity_tolerance = 1e-9;
  std::array<double, 3> forcing{0, 0, 0};
  std::string series = "nekbone-k-flow.csv";
  int series_every = 10;  ///< steps between rows

  /// The initial velocity in words.
  std::string initial_text() const {
    return initial_file.empty() ? name(initial) : "'" + initial_file + "'";
  }
  FlowOptions options() const {
    const auto of = [&](double value) {
      return tolerance == FlowToleranceKind::absolute ? FlowTolerance{value, 0}
                                                      : FlowTolerance{0, value};
    };
    FlowOptions made;
    made.viscosity = viscosity;
    made.time_order = time_order;
    made.dealiasing = dealiasing;
    made.projection = projection;
    made.pressure = of(pressure_tolerance);
    made.velocity = of(velocity_tolerance);
    made.forcing = forcing;
    return made;
  }
  FlowField field(const std::array<double, 3>& extent) const {
    FlowField made;
    made.kind = initial;
    made.normal = normal_of(plane);
    made.viscosity = viscosity;
    made.extent = extent;
    made.carried = translation;
    return made;
  }
};

}  // namespace nekbone_k
