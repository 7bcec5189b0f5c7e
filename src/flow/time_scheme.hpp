// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Coefficients of the time step: backward differences and extrapolation.
#pragma once

#include <array>
#include <vector>

namespace nekbone_k {

/// The highest order in time.
inline constexpr int max_time_order = 3;

/// One step of BDFk/EXTk from the levels t_n, t_{n-1}, … to t_{n+1}, with steps of any length.
struct TimeCoefficients {
  int order = 0;  ///< levels in use
  double dt = 0;  ///< t_{n+1} - t_n
  /// du/dt(t_{n+1}) ≈ (b0 u_{n+1} - Σ_j b[j] u_{n-j}) / dt
  double b0 = 0;
  std::array<double, max_time_order> b{};
  /// u(t_{n+1}) ≈ Σ_j extrapolation[j] u_{n-j}
  std::array<double, max_time_order> extrapolation{};
};

/// The coefficients of `order` for the last steps, the newest first: steps[0] = t_{n+1} - t_n. The
/// derivative and the value at t_{n+1} of polynomials through the levels, so the scheme is of that
/// order for steps of any length. Throws InternalError if there are fewer than `order` steps.
TimeCoefficients time_coefficients(int order, const std::vector<double>& steps);

/// Steps with which a run of BDFk/EXTk at constant `dt` begins. They are short at first, because
/// the first steps have fewer levels and thus a lower order. They grow by 1.5 per step; BDF3 with
/// variable steps is stable up to a ratio of 1.501 (Calvo, Grande and Grigorieff 1990). Their sum
/// is 2 dt; for order 1 there are none.
std::vector<double> starting_steps(int order, double dt);

}  // namespace nekbone_k
