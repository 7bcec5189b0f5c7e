// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The map from the undeformed box to the domain, callable on the device.
#pragma once

#include <Kokkos_Core.hpp>

namespace nekbone_k {

/// The deformation of the box of elements; its faces stay in place.
enum class Deformation { none, sine, kershaw };

/// Source of the metric of elements in kernels; it also decides the shape of deformed elements.
enum class Geometry {
  stored,     ///< factors at every point; elements are curved like the deformation
  trilinear,  ///< computed at every point from the corners; edges are straight
  affine,     ///< one factor per element; elements are parallelepipeds
};

/// The name in the input and the report.
inline const char* name(Deformation deformation) {
  switch (deformation) {
    case Deformation::none:
      return "none";
    case Deformation::sine:
      return "sine";
    case Deformation::kershaw:
      return "kershaw";
  }
  return "";
}

inline const char* name(Geometry geometry) {
  switch (geometry) {
    case Geometry::stored:
      return "stored";
    case Geometry::trilinear:
      return "trilinear";
    case Geometry::affine:
      return "affine";
  }
  return "";
}

/// A point in space.
struct Point {
  double x = 0, y = 0, z = 0;
};

/// Maps fractions (a, b, c) in [0, 1]^3 of the undeformed box to coordinates in
/// [0, extent_x] × [0, extent_y] × [0, extent_z].
///
/// - sine: every coordinate moves by epsilon / 2π · extent · sin 2πa · sin 2πb · sin 2πc. This is
///   periodic and zero on the faces; the Jacobian stays positive for epsilon < 0.86.
/// - kershaw: over six layers of a, the (b, c) grid is squeezed to one side, to the other and back,
///   by a fraction epsilon in (0, 1]; 1 leaves the box undeformed. After D. Kershaw, J. Comput.
///   Phys. 39 (1981) 375, in the spatially smooth form of the CEED bake-off (Kolev et al. 2021).
struct BoxMapping {
  Deformation deformation = Deformation::none;
  double epsilon = 0;
  double extent[3] = {1, 1, 1};

  KOKKOS_FUNCTION Point operator()(double a, double b, double c) const {
    if (deformation == Deformation::sine) {
      constexpr double two_pi = 2 * Kokkos::numbers::pi_v<double>;
      const double shift = epsilon / two_pi * Kokkos::sin(two_pi * a) * Kokkos::sin(two_pi * b) *
                           Kokkos::sin(two_pi * c);
      a += shift;
      b += shift;
      c += shift;
    } else if (deformation == Deformation::kershaw) {
      const double weight = kershaw_weight(a);
      b = squeezed(b, weight);
      c = squeezed(c, weight);
    }
    return {extent[0] * a, extent[1] * b, extent[2] * c};
  }

 private:
  /// 0 where the cross-section is fully squeezed one way, 1 where it is fully squeezed the other
  /// way.
  KOKKOS_FUNCTION static double kershaw_weight(double a) {
    const double position = 6 * a;
    const int layer = position < 6 ? static_cast<int>(position) : 5;
    const double t = position - layer;
    switch (layer) {
      case 0:
        return 0;
      case 1:
        return smooth_step(t);
      case 2:
        return 1 - smooth_step(t / 2);
      case 3:
        return 1 - smooth_step((1 + t) / 2);
      case 4:
        return smooth_step(t);
      default:
        return 1;
    }
  }

  /// The quintic step with two vanishing derivatives at 0 and 1.
  KOKKOS_FUNCTION static double smooth_step(double t) {
    return t * t * t * (10 + t * (6 * t - 15));
  }

  KOKKOS_FUNCTION double squeezed(double b, double weight) const {
    const double high = b <= 0.5 ? (2 - epsilon) * b : 1 + epsilon * (b - 1);
    const double low = b <= 0.5 ? epsilon * b : 1 + (2 - epsilon) * (b - 1);
    return low + weight * (high - low);
  }
};

}  // namespace nekbone_k
