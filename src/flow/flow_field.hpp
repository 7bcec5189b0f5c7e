// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Initial velocities, and exact solutions where known.
#pragma once

#include <array>

#include "flow/flow_elements.hpp"
#include "mesh/mapping.hpp"

namespace nekbone_k {

/// Velocities with period 1 in each direction of the box, in units of its extent:
///
/// - taylor_green: the Taylor–Green vortex (Taylor and Green, Proc. R. Soc. A 158, 1937). No exact
///   solution.
/// - taylor_green_2d: its plane form; decays exactly.
/// - abc: the flow of Arnold, Beltrami and Childress with A = B = C = 1; decays exactly. The box
///   must be a cube.
enum class FlowKind { taylor_green, taylor_green_2d, abc };

/// The name in the input and the report.
inline const char* name(FlowKind kind) {
  switch (kind) {
    case FlowKind::taylor_green:
      return "taylor-green";
    case FlowKind::taylor_green_2d:
      return "taylor-green-2d";
    case FlowKind::abc:
      return "abc";
  }
  return "";
}

/// The plane of taylor_green_2d.
enum class FlowPlane { xy, yz, zx };

inline const char* name(FlowPlane plane) {
  switch (plane) {
    case FlowPlane::xy:
      return "xy";
    case FlowPlane::yz:
      return "yz";
    case FlowPlane::zx:
      return "zx";
  }
  return "";
}

/// The direction that a plane lacks.
inline int normal_of(FlowPlane plane) {
  return plane == FlowPlane::xy ? 2 : plane == FlowPlane::yz ? 0 : 1;
}

/// A velocity in space and time, for kernels.
struct FlowField {
  FlowKind kind = FlowKind::taylor_green;
  int normal = 2;  ///< of the plane of taylor_green_2d
  double viscosity = 0;
  std::array<double, 3> extent{1, 1, 1};
  /// A constant velocity that the flow is carried along with.
  std::array<double, 3> carried{0, 0, 0};

  bool is_exact() const { return kind != FlowKind::taylor_green; }

  /// The velocity at a point and a time; for taylor_green, at the beginning only.
  KOKKOS_FUNCTION void operator()(const Point& p, double time, double (&u)[3]) const {
    const double x[3] = {p.x, p.y, p.z};
    double k[3], sine[3], cosine[3];
    for (int d = 0; d < 3; ++d) {
      k[d] = 2 * Kokkos::numbers::pi_v<double> / extent[d];
      const double phase = k[d] * (x[d] - carried[d] * time);
      sine[d] = Kokkos::sin(phase);
      cosine[d] = Kokkos::cos(phase);
    }
    if (kind == FlowKind::abc) {
      const double decay = Kokkos::exp(-viscosity * k[0] * k[0] * time);
      for (int d = 0; d < 3; ++d) u[d] = decay * (sine[(d + 2) % 3] + cosine[(d + 1) % 3]);
    } else {
      const bool plane = kind == FlowKind::taylor_green_2d;
      const int c = plane ? normal : 2, a = (c + 1) % 3, b = (c + 2) % 3;
      double factor = plane ? 1 : cosine[c];
      if (plane) factor = Kokkos::exp(-viscosity * (k[a] * k[a] + k[b] * k[b]) * time);
      u[a] = factor * sine[a] * cosine[b];
      u[b] = -factor * k[a] / k[b] * cosine[a] * sine[b];
      u[c] = 0;
    }
    for (int d = 0; d < 3; ++d) u[d] += carried[d];
  }
};

/// Sets `out` to the nodal values of a flow field. Where elements meet it takes the mean of their
/// values, which differ by rounding, so that all ranks have the same. Collective.
void set_velocity(FlowElements& elements, const GeometricFactors& factors, const FlowField& field,
                  double time, const VectorField& out);

/// Differences relative to the size of a field.
struct FlowError {
  double max = 0;  ///< largest difference of a component, divided by the largest component
  double l2 = 0;   ///< L2 norm of the difference, divided by that of the field
};

/// The difference of `u` from `exact`. Collective.
FlowError difference(const Communicator& comm, const FlowElements& elements, const VectorField& u,
                     const VectorField& exact);

/// The node where a velocity is largest.
struct FastestNode {
  std::array<double, 3> at{};
  double speed = 0;  ///< Euclidean norm of the velocity; infinite if a component is not finite
};

/// Finds it, or one of several. Every rank gets the same. Collective.
FastestNode fastest_node(const Communicator& comm, const FlowElements& elements,
                         const VectorField& velocity);

}  // namespace nekbone_k
