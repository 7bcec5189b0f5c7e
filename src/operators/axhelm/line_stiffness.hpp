// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The stiffness matrix of one line of nodes.
#pragma once

#include "operators/axhelm/line_derivative.hpp"

namespace nekbone_k {

/// ŷ = D̂ᵀ D̂ x̂ for the Nq values of a line of nodes. The matrix is the same from either end of the
/// line, so the even part of x gives an even y and the odd part an odd y: see LineDerivative.
template <int nq, class T>
class LineStiffness {
 public:
  explicit LineStiffness(const ScaledBasis& basis) {
    const auto entry = [&](int i, int m) {
      double sum = 0;
      for (int q = 0; q < nq; ++q)
        sum += basis.derivative[q * nq + i] * basis.derivative[q * nq + m];
      return sum;
    };
    for (int i = 0; i < upper; ++i)
      for (int m = 0; m < half; ++m) {
        m_of_even[i][m] = static_cast<T>((entry(i, m) + entry(i, nq - 1 - m)) / 2);
        if (i < half) m_of_odd[i][m] = static_cast<T>((entry(i, m) - entry(i, nq - 1 - m)) / 2);
      }
    if constexpr (has_middle)
      for (int i = 0; i < upper; ++i) m_of_middle[i] = static_cast<T>(entry(i, half));
  }

  /// Calls set(i, y_i) for every node. set() may overwrite x.
  template <class Value, class Set>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Value (&x)[nq], const Set& set) const {
    Value even[half], odd[half];
    split_line(x, even, odd);
    [[maybe_unused]] const Value middle = x[half];
    NEKBONE_K_UNROLL
    for (int i = 0; i < upper; ++i) {
      Value of_even = m_of_even[i][0] * even[0];
      NEKBONE_K_UNROLL
      for (int m = 1; m < half; ++m) of_even += m_of_even[i][m] * even[m];
      if constexpr (has_middle) of_even += m_of_middle[i] * middle;
      if (has_middle && i == half) {
        set(half, of_even);
        break;
      }
      Value of_odd = m_of_odd[i][0] * odd[0];
      NEKBONE_K_UNROLL
      for (int m = 1; m < half; ++m) of_odd += m_of_odd[i][m] * odd[m];
      set(i, of_even + of_odd);
      set(nq - 1 - i, of_even - of_odd);
    }
  }

 private:
  static constexpr int half = nq / 2;
  static constexpr bool has_middle = nq % 2 == 1;
  static constexpr int upper = half + has_middle;  ///< nodes up to the middle, with it

  T m_of_even[upper][half], m_of_odd[half][half], m_of_middle[upper];
};

}  // namespace nekbone_k
