// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Legendre polynomials.
#pragma once

namespace nekbone_k {

/// P_n(x) and P_{n-1}(x).
struct LegendreValues {
  long double value, previous;
};

/// By the recurrence of three terms; n >= 1.
inline LegendreValues legendre(int n, long double x) {
  long double previous = 1, value = x;
  for (int k = 2; k <= n; ++k) {
    const long double next = ((2 * k - 1) * x * value - (k - 1) * previous) / k;
    previous = value;
    value = next;
  }
  return {value, previous};
}

}  // namespace nekbone_k
