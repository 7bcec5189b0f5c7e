// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The scalars of conjugate gradients in device memory, and the rules that advance them.
#pragma once

#include "core/types.hpp"

namespace nekbone_k {

enum class CgStatus {
  running,
  finished,    ///< did all iterations
  converged,   ///< ‖r‖ <= target
  broke_down,  ///< pᵀ A p <= 0, r·z < 0, or a NaN or infinity
};

/// The scalars of a solve. Kernels read alpha and beta here, so the host needs none of them.
///
/// Once the status is not running, alpha and beta are 0, except that classic CG keeps alpha until
/// it has updated x. So x and r stay what they were at the iteration that ended the solve, even if
/// the host has launched more.
struct CgState {
  double tolerance = 0;  ///< of ‖r‖, relative to ‖b‖; 0: none
  double absolute = 0;   ///< of ‖r‖; 0: none
  int most_iterations = 0;

  CgStatus status = CgStatus::running;
  double rhs_norm = 0, norm = 0;  ///< ‖b‖, and ‖r‖ after the last iteration
  int iterations = 0;             ///< iterations that have ended
  double target = 0;              ///< the larger of both tolerances
  double negligible = 0;  ///< far past convergence r·z underflows; then iterations only count
  double r_dot_z = 0, p_dot_ap = 0;
  double earlier_r_dot_z = 0, earlier_p_dot_ap = 0;  ///< one iteration before
  double alpha = 0, beta = 0;
};

/// Whether ‖r‖ can end the solve. Without a tolerance it does all iterations, even if r is 0.
KOKKOS_INLINE_FUNCTION bool has_tolerance(const CgState& s) {
  return s.tolerance > 0 || s.absolute > 0;
}

/// A kernel of one thread that sets the state.
struct SetState {
  Kokkos::View<CgState, DeviceMemory> state;
  CgState value;
  KOKKOS_FUNCTION void operator()(int) const { state() = value; }
};

/// The state and the last ‖r‖ in device memory, for one thread. It works on a copy of the
/// state, because each access to device memory takes long.
struct CgScalars {
  Kokkos::View<CgState, DeviceMemory> state;
  DeviceVector<double>
      history;  ///< of the last iterations: entry i modulo its length; may be empty

  /// Notes the products of b.
  KOKKOS_FUNCTION void begin(CgState& s, double r_dot_r, double r_dot_z) const {
    const double norm = Kokkos::sqrt(r_dot_r);
    history(0) = s.rhs_norm = s.norm = norm;
    s.r_dot_z = r_dot_z;
    s.target = Kokkos::max(s.tolerance * norm, s.absolute);
    s.negligible = 1e-200 * Kokkos::abs(r_dot_z);
    if (!Kokkos::isfinite(norm) || !Kokkos::isfinite(r_dot_z))
      s.status = CgStatus::broke_down;
    else if (has_tolerance(s) && norm <= s.target)
      s.status = CgStatus::converged;
    else if (s.most_iterations == 0)
      s.status = CgStatus::finished;
  }

  /// Notes the end of an iteration.
  KOKKOS_FUNCTION void end_iteration(CgState& s, double r_dot_r) const {
    s.norm = Kokkos::sqrt(r_dot_r);
    ++s.iterations;
    if (history.extent(0) > 0) history(s.iterations % history.extent(0)) = s.norm;
    if (!Kokkos::isfinite(s.norm))
      s.status = CgStatus::broke_down;
    else if (has_tolerance(s) && s.norm <= s.target)
      s.status = CgStatus::converged;
    else if (s.iterations == s.most_iterations)
      s.status = CgStatus::finished;
  }
};

/// Whether r is (almost) zero, so that the ratios of products mean nothing.
KOKKOS_INLINE_FUNCTION bool is_done(const CgState& s) {
  return Kokkos::abs(s.r_dot_z) <= s.negligible;
}
/// Whether r is so small that rounding may decide the signs of sums.
KOKKOS_INLINE_FUNCTION bool is_rounding(const CgState& s) { return s.norm <= 1e-10 * s.rhs_norm; }

/// Sets the length of the next step along p. Breaks down unless the energy of p is positive.
KOKKOS_INLINE_FUNCTION void set_alpha(CgState& s, double p_dot_ap) {
  s.p_dot_ap = p_dot_ap;
  s.alpha = 0;
  if (is_done(s)) return;
  if (p_dot_ap > 0 && Kokkos::isfinite(p_dot_ap) && s.r_dot_z > 0)
    s.alpha = s.r_dot_z / p_dot_ap;
  else
    s.status = CgStatus::broke_down;
}

/// The rules advance a state by sums over all ranks, in the order of their kernels' products.

/// r·r and r·z of b.
struct BeginClassic {
  static constexpr int n_sums = 2;
  CgScalars scalars;
  KOKKOS_FUNCTION void operator()(const double (&sums)[n_sums], CgState& s) const {
    scalars.begin(s, sums[0], sums[1]);
  }
};

/// pᵀ A p.
struct SetAlpha {
  static constexpr int n_sums = 1;
  CgScalars scalars;
  KOKKOS_FUNCTION void operator()(const double (&sums)[n_sums], CgState& s) const {
    if (s.status == CgStatus::running)
      set_alpha(s, sums[0]);
    else
      s.alpha = 0;
  }
};

/// r·r and r·z of the new r. The next iteration still has to add alpha p to x.
struct SetBeta {
  static constexpr int n_sums = 2;
  CgScalars scalars;
  KOKKOS_FUNCTION void operator()(const double (&sums)[n_sums], CgState& s) const {
    if (s.status != CgStatus::running) {
      s.beta = 0;
      return;
    }
    s.beta = is_done(s) ? 0 : sums[1] / s.r_dot_z;
    s.r_dot_z = sums[1];
    scalars.end_iteration(s, sums[0]);
    if (s.status == CgStatus::broke_down) s.alpha = 0;
  }
};

/// r·r, r·z and zᵀ A z of the new r. They determine the energy of the next direction p' = z + beta
/// p, as p' is A-orthogonal to p: p'ᵀ A p' = zᵀ A z - beta² pᵀ A p.
struct SetAlphaAndBeta {
  static constexpr int n_sums = 3;
  enum class Of {
    b,         ///< the products are those of b
    iterate,   ///< of a new iterate
    replaced,  ///< of the same iterate, after its vectors were computed anew
  };
  CgScalars scalars;
  Of of;

  KOKKOS_FUNCTION void operator()(const double (&sums)[n_sums], CgState& s) const {
    if (of == Of::b) {
      scalars.begin(s, sums[0], sums[1]);
    } else if (s.status == CgStatus::running && of == Of::iterate) {
      s.earlier_r_dot_z = s.r_dot_z;
      s.earlier_p_dot_ap = s.p_dot_ap;
      scalars.end_iteration(s, sums[0]);
    }
    s.alpha = s.beta = 0;
    if (s.status != CgStatus::running) return;
    s.r_dot_z = sums[1];
    if (of != Of::b && !is_done(s)) s.beta = sums[1] / s.earlier_r_dot_z;
    double energy = sums[2] - s.beta * s.beta * s.earlier_p_dot_ap;
    if (energy <= 0 && is_rounding(s)) {
      // Not the fault of A. Restart along z, or wait for the next replacement of r.
      s.beta = 0;
      s.p_dot_ap = energy = sums[2];
      if (energy <= 0) return;
    }
    set_alpha(s, energy);
  }
};

}  // namespace nekbone_k
