// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The test problems: right-hand sides, and exact solutions where known.
#pragma once

#include <optional>

#include "operators/geometric_factors.hpp"
#include "solver/problem_kind.hpp"

namespace nekbone_k {

/// Errors relative to the size of the exact solution.
struct SolutionError {
  double max = 0;  ///< largest error at a node, divided by the largest exact value
  double l2 = 0;   ///< mass-weighted L2 norm of the error, divided by that of the exact solution
};

/// A sum of products of sines and cosines, u = Σ a Π_d sin or cos(k_d w_d x_d), with integers k up
/// to 3, so that -Δu + λu is known. For kernels.
class SineModes {
 public:
  static constexpr int most = 4, largest_k = 3;
  struct Mode {
    double amplitude = 0;
    int k[3] = {1, 1, 1};
    bool cosine[3] = {false, false, false};
  };

  double wave[3] = {1, 1, 1};  ///< w, in radians per unit length
  Mode modes[most];
  int count = 0;

  /// u at a point.
  KOKKOS_FUNCTION double solution(const Point& p) const {
    const Waves waves(*this, p);
    double sum = 0;
    for (int m = 0; m < count; ++m) sum += value(modes[m], waves);
    return sum;
  }
  /// -Δu + λu at a point.
  KOKKOS_FUNCTION double forcing(const Point& p, double lambda) const {
    const Waves waves(*this, p);
    double sum = 0;
    for (int m = 0; m < count; ++m) {
      double eigenvalue = lambda;
      for (int d = 0; d < 3; ++d) {
        const double k = modes[m].k[d] * wave[d];
        eigenvalue += k * k;
      }
      sum += eigenvalue * value(modes[m], waves);
    }
    return sum;
  }

 private:
  /// sin and cos of k w_d x_d for each direction and k. Each direction takes two library calls, the
  /// rest follows from the addition theorem, because library calls dominate the set-up time.
  struct Waves {
    KOKKOS_FUNCTION Waves(const SineModes& modes, const Point& p) {
      const double x[3] = {p.x, p.y, p.z};
      for (int d = 0; d < 3; ++d) {
        const double s1 = Kokkos::sin(modes.wave[d] * x[d]), c1 = Kokkos::cos(modes.wave[d] * x[d]);
        sine[d][0] = 0;
        cosine[d][0] = 1;
        for (int k = 1; k <= largest_k; ++k) {
          sine[d][k] = sine[d][k - 1] * c1 + cosine[d][k - 1] * s1;
          cosine[d][k] = cosine[d][k - 1] * c1 - sine[d][k - 1] * s1;
        }
      }
    }
    double sine[3][largest_k + 1], cosine[3][largest_k + 1];
  };

  KOKKOS_FUNCTION double value(const Mode& m, const Waves& waves) const {
    double product = m.amplitude;
    for (int d = 0; d < 3; ++d)
      product *= m.cosine[d] ? waves.cosine[d][m.k[d]] : waves.sine[d][m.k[d]];
    return product;
  }
};

/// A problem on one mesh.
///
/// - taylor-green: modes of the Taylor–Green vortex and a harmonic of them, on a periodic box.
/// - manufactured: several sine modes that vanish on the Dirichlet faces.
/// - nekbone: no exact solution. The right-hand side is Qᵀ f with f = sin(10^9 cos(10^9 g^2)) of a
///   point's global id g, as in hipBone, so it is the same on any number of ranks.
class Problem {
 public:
  Problem(ProblemKind kind, const MeshSpec& mesh, double lambda);

  bool has_exact_solution() const { return m_kind != ProblemKind::nekbone; }

  /// Stores the assembled right-hand side in `b` (device memory). Collective.
  void right_hand_side(AssembledSpace& space, const GeometricFactors& geometry,
                       const DeviceVector<double>& b) const;

  /// The error of `x`; `remove_mean` first removes the mass-weighted mean of the error. Only for
  /// problems with an exact solution. Collective.
  SolutionError error(const Communicator& comm, const AssembledSpace& space,
                      const GeometricFactors& geometry, const DeviceVector<double>& x,
                      bool remove_mean) const;

 private:
  ProblemKind m_kind;
  double m_lambda;
  SineModes m_modes;
};

}  // namespace nekbone_k
