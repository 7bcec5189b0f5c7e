/// @file
/// The problems that the program solves: right-hand sides, and exact solutions where known.
#pragma once

#include <optional>

#include "app/case.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {

/// Errors relative to the exact solution's own size.
struct SolutionError {
  double max = 0;  ///< largest error at a node over the largest exact value
  double l2 = 0;   ///< mass-weighted L2 norm of the error over that of the exact solution
};

/// A sum of products of sines u = Σ a Π_d sin(k_d x_d + φ_d), so that -Δu + λu is known. On the
/// device.
struct SineModes {
  static constexpr int most = 4;
  struct Mode {
    double amplitude = 0, wave[3] = {0, 0, 0}, phase[3] = {0, 0, 0};
  };
  Mode modes[most];
  int count = 0;

  KOKKOS_FUNCTION double value(const Mode& m, const Point& p) const {
    return m.amplitude * Kokkos::sin(m.wave[0] * p.x + m.phase[0]) *
           Kokkos::sin(m.wave[1] * p.y + m.phase[1]) * Kokkos::sin(m.wave[2] * p.z + m.phase[2]);
  }
  KOKKOS_FUNCTION double solution(const Point& p) const {
    double sum = 0;
    for (int m = 0; m < count; ++m) sum += value(modes[m], p);
    return sum;
  }
  /// -Δu + λu.
  KOKKOS_FUNCTION double forcing(const Point& p, double lambda) const {
    double sum = 0;
    for (int m = 0; m < count; ++m) {
      const auto& k = modes[m].wave;
      sum += (k[0] * k[0] + k[1] * k[1] + k[2] * k[2] + lambda) * value(modes[m], p);
    }
    return sum;
  }
};

/// One of the problems on one mesh.
///
/// - taylor-green: modes of the Taylor–Green vortex and a harmonic of them, on a fully periodic
/// box.
/// - manufactured: several sine modes that vanish on the Dirichlet faces.
/// - nekbone: no exact solution; the right-hand side is Qᵀ f with f = sin(10^9 cos(10^9 g^2)) of
/// the
///   global id g, as in hipBone, so it is the same on any number of ranks.
class Problem {
 public:
  Problem(ProblemKind kind, const MeshSpec& mesh, double lambda);

  bool has_exact_solution() const { return m_kind != ProblemKind::nekbone; }

  /// The assembled right-hand side in `b`. Collective.
  void right_hand_side(AssembledSpace& space, const GeometricFactors& geometry,
                       const DeviceVector<double>& b) const;

  /// The error of `x`; with `remove_mean` after removing its mass-weighted mean. Collective. Only
  /// where there is an exact solution.
  SolutionError error(const Communicator& comm, const AssembledSpace& space,
                      const GeometricFactors& geometry, const DeviceVector<double>& x,
                      bool remove_mean) const;

 private:
  ProblemKind m_kind;
  double m_lambda;
  SineModes m_modes;
};

}  // namespace nekbone_k
