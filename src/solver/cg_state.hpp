// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The scalars of conjugate gradients in device memory, and the rules that advance them.
#pragma once

#include "core/types.hpp"

namespace nekbone_k {

enum class CgStatus {
  running,
  finished,    ///< did all iterations
  converged,   ///< ‖r‖ <= tolerance ‖b‖
  broke_down,  ///< pᵀ A p <= 0, r·z < 0, or a NaN or infinity
};

/// The scalars of a solve. Kernels read alpha and beta here, so the host needs none of them.
///
/// Once the status is not running, alpha and beta are 0, apart from an update of x that is still to
/// come. So x and r stay what they were at the iteration that ended the solve, even if the host has
/// launched more.
struct CgState {
  double tolerance = 0;  ///< relative to ‖b‖; 0: none
  int most_iterations = 0;

  CgStatus status = CgStatus::running;
  int iterations = 0;     ///< iterations that have ended
  double target = 0;      ///< tolerance ‖b‖
  double negligible = 0;  ///< far past convergence r·z underflows; then iterations only count
  double r_dot_z = 0, p_dot_ap = 0;
  double earlier_r_dot_z = 0, earlier_p_dot_ap = 0;  ///< one iteration before
  double alpha = 0, beta = 0;
};

/// A state, and the history of ‖r‖, in device memory; for one thread at a time.
struct CgScalars {
  Kokkos::View<CgState, DeviceMemory> state;
  DeviceVector<double> history;  ///< (most_iterations + 1)

  /// Notes the products of b.
  KOKKOS_FUNCTION void begin(double r_dot_r, double r_dot_z) const {
    CgState& s = state();
    const double norm = Kokkos::sqrt(r_dot_r);
    history(0) = norm;
    s.r_dot_z = r_dot_z;
    s.target = s.tolerance * norm;
    s.negligible = 1e-200 * Kokkos::abs(r_dot_z);
    if (!Kokkos::isfinite(norm))
      s.status = CgStatus::broke_down;
    else if (s.tolerance > 0 && norm <= s.target)
      s.status = CgStatus::converged;
    else if (s.most_iterations == 0)
      s.status = CgStatus::finished;
  }

  /// Notes the end of an iteration.
  KOKKOS_FUNCTION void end_iteration(double r_dot_r) const {
    CgState& s = state();
    const double norm = Kokkos::sqrt(r_dot_r);
    history(++s.iterations) = norm;
    if (!Kokkos::isfinite(norm))
      s.status = CgStatus::broke_down;
    else if (s.tolerance > 0 && norm <= s.target)
      s.status = CgStatus::converged;
    else if (s.iterations == s.most_iterations)
      s.status = CgStatus::finished;
  }

  /// Whether r is (almost) zero, so that the ratios of products mean nothing.
  KOKKOS_FUNCTION bool is_done() const {
    return Kokkos::abs(state().r_dot_z) <= state().negligible;
  }

  /// Whether r is so small that rounding may decide the signs of sums.
  KOKKOS_FUNCTION bool is_rounding() const {
    return history(state().iterations) <= 1e-10 * history(0);
  }

  /// Sets the length of the next step along p. Breaks down unless the energy of p is positive.
  KOKKOS_FUNCTION void set_alpha(double p_dot_ap) const {
    CgState& s = state();
    s.p_dot_ap = p_dot_ap;
    s.alpha = 0;
    if (is_done()) return;
    if (p_dot_ap > 0 && Kokkos::isfinite(p_dot_ap) && s.r_dot_z > 0)
      s.alpha = s.r_dot_z / p_dot_ap;
    else
      s.status = CgStatus::broke_down;
  }
};

/// The rules take sums over all ranks, in the order of their kernels' products.

/// r·r and r·z of b.
struct BeginClassic {
  static constexpr int n_sums = 2;
  CgScalars scalars;
  KOKKOS_FUNCTION void operator()(const double (&sums)[n_sums]) const {
    scalars.begin(sums[0], sums[1]);
  }
};

/// pᵀ A p.
struct SetAlpha {
  static constexpr int n_sums = 1;
  CgScalars scalars;
  KOKKOS_FUNCTION void operator()(const double (&sums)[n_sums]) const {
    if (scalars.state().status == CgStatus::running)
      scalars.set_alpha(sums[0]);
    else
      scalars.state().alpha = 0;
  }
};

/// r·r and r·z of the new r. The next iteration still has to add alpha p to x.
struct SetBeta {
  static constexpr int n_sums = 2;
  CgScalars scalars;
  KOKKOS_FUNCTION void operator()(const double (&sums)[n_sums]) const {
    CgState& s = scalars.state();
    if (s.status != CgStatus::running) {
      s.beta = 0;
      return;
    }
    s.beta = scalars.is_done() ? 0 : sums[1] / s.r_dot_z;
    s.r_dot_z = sums[1];
    scalars.end_iteration(sums[0]);
    if (s.status == CgStatus::broke_down) s.alpha = 0;
  }
};

/// r·r, r·z and zᵀ A z of the new r. From these alone follows the energy of the next direction p' =
/// z + beta p, as p' is A-orthogonal to p: p'ᵀ A p' = zᵀ A z - beta² pᵀ A p.
struct SetAlphaAndBeta {
  static constexpr int n_sums = 3;
  enum class Of {
    b,         ///< the products are those of b
    iterate,   ///< of a new iterate
    replaced,  ///< of the same iterate, after its vectors were computed anew
  };
  CgScalars scalars;
  Of of;

  KOKKOS_FUNCTION void operator()(const double (&sums)[n_sums]) const {
    CgState& s = scalars.state();
    if (of == Of::b) {
      scalars.begin(sums[0], sums[1]);
    } else if (s.status == CgStatus::running && of == Of::iterate) {
      s.earlier_r_dot_z = s.r_dot_z;
      s.earlier_p_dot_ap = s.p_dot_ap;
      scalars.end_iteration(sums[0]);
    }
    s.alpha = s.beta = 0;
    if (s.status != CgStatus::running) return;
    s.r_dot_z = sums[1];
    if (of != Of::b && !scalars.is_done()) s.beta = sums[1] / s.earlier_r_dot_z;
    double energy = sums[2] - s.beta * s.beta * s.earlier_p_dot_ap;
    if (energy <= 0 && scalars.is_rounding()) {
      // Not the fault of A. Begin anew along z, or wait for the next replacement of r.
      s.beta = 0;
      energy = sums[2];
      if (energy <= 0) return;
    }
    scalars.set_alpha(energy);
  }
};

}  // namespace nekbone_k
