// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The derivative along one line of nodes.
#pragma once

#include <type_traits>

#include "operators/geometric_factors.hpp"

namespace nekbone_k {

/// The parts of the values of a line that are even and odd about its middle: x_m + x_{N-m} and x_m
/// - x_{N-m} for the first half of the nodes.
template <int nq, class Value>
KOKKOS_FORCEINLINE_FUNCTION void split_line(const Value (&x)[nq], Value (&even)[nq / 2],
                                            Value (&odd)[nq / 2]) {
  NEKBONE_K_UNROLL
  for (int m = 0; m < nq / 2; ++m) {
    even[m] = x[m] + x[nq - 1 - m];
    odd[m] = x[m] - x[nq - 1 - m];
  }
}

/// ŷ = D̂ x̂ for the Nq values of a line of nodes; each is a `T` or LanesOf<T>.
///
/// D̂(i, m) = -D̂(N-i, N-m), because the GLL nodes are symmetric. The even part of x gives an odd y
/// and vice versa, each by a matrix of half the size, which halves the multiplications (Solomonoff,
/// J. Comput. Phys. 98, 1992).
///
/// All callers use the coefficients in the same order. Where the loops unroll, a GPU reads them as
/// launch constants and a CPU as memory operands. With AVX-512 such an operand may be one number
/// for all lanes. AVX2 would need another instruction and a register, so each coefficient is stored
/// per lane of `ValueLanes` there.
template <int nq, class T = double, class ValueLanes = LanesOf<T>>
class LineDerivative {
 public:
  explicit LineDerivative(const ScaledBasis& basis) {
    for (int i = 0; i < nq; ++i)
      for (int m = 0; m < half; ++m) {
        const double left = basis.derivative[i * nq + m];
        const double right = basis.derivative[i * nq + nq - 1 - m];
        if (i < half) {
          m_of_even[i][m] = coefficient((left + right) / 2);
          m_of_odd[i][m] = coefficient((left - right) / 2);
        } else if (i == nq - 1 - i) {
          m_middle_row[m] = coefficient(left);
        }
      }
    if constexpr (has_middle)
      for (int i = 0; i < half; ++i)
        m_middle_column[i] = coefficient(basis.derivative[i * nq + half]);
  }

  /// Calls set(i, y_i) for every node. set() may overwrite x.
  template <class Value, class Set>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Value (&x)[nq], const Set& set) const {
    Value even[half], odd[half];
    split_line(x, even, odd);
    [[maybe_unused]] const Value middle = x[half];
    NEKBONE_K_UNROLL
    for (int i = 0; i < half; ++i) {
      Value of_even = m_of_even[i][0] * even[0], of_odd = m_of_odd[i][0] * odd[0];
      NEKBONE_K_UNROLL
      for (int m = 1; m < half; ++m) {
        of_even += m_of_even[i][m] * even[m];
        of_odd += m_of_odd[i][m] * odd[m];
      }
      if constexpr (has_middle) of_even += m_middle_column[i] * middle;
      set(i, of_odd + of_even);
      set(nq - 1 - i, of_odd - of_even);
    }
    if constexpr (has_middle) {
      Value of_odd = m_middle_row[0] * odd[0];
      NEKBONE_K_UNROLL
      for (int m = 1; m < half; ++m) of_odd += m_middle_row[m] * odd[m];
      set(half, of_odd);
    }
  }

  /// Calls set(i, y_i, z_i) for every node of two lines with derivatives y and z. Each coefficient
  /// is read once for both. Written out, because GCC keeps less in registers if the line is an
  /// index.
  template <class Value, class Set>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Value (&x)[nq], const Value (&also)[nq],
                                              const Set& set) const {
    Value even[half], odd[half], even_also[half], odd_also[half];
    NEKBONE_K_UNROLL
    for (int m = 0; m < half; ++m) {
      even[m] = x[m] + x[nq - 1 - m];
      odd[m] = x[m] - x[nq - 1 - m];
      even_also[m] = also[m] + also[nq - 1 - m];
      odd_also[m] = also[m] - also[nq - 1 - m];
    }
    [[maybe_unused]] const Value middle = x[half], middle_also = also[half];
    NEKBONE_K_UNROLL
    for (int i = 0; i < half; ++i) {
      Value a(m_of_even[i][0]), b(m_of_odd[i][0]);
      Value of_even = a * even[0], of_even_also = a * even_also[0];
      Value of_odd = b * odd[0], of_odd_also = b * odd_also[0];
      NEKBONE_K_UNROLL
      for (int m = 1; m < half; ++m) {
        a = Value(m_of_even[i][m]);
        b = Value(m_of_odd[i][m]);
        of_even += a * even[m];
        of_even_also += a * even_also[m];
        of_odd += b * odd[m];
        of_odd_also += b * odd_also[m];
      }
      if constexpr (has_middle) {
        a = Value(m_middle_column[i]);
        of_even += a * middle;
        of_even_also += a * middle_also;
      }
      set(i, of_odd + of_even, of_odd_also + of_even_also);
      set(nq - 1 - i, of_odd - of_even, of_odd_also - of_even_also);
    }
    if constexpr (has_middle) {
      Value b(m_middle_row[0]);
      Value of_odd = b * odd[0], of_odd_also = b * odd_also[0];
      NEKBONE_K_UNROLL
      for (int m = 1; m < half; ++m) {
        b = Value(m_middle_row[m]);
        of_odd += b * odd[m];
        of_odd_also += b * odd_also[m];
      }
      set(half, of_odd, of_odd_also);
    }
  }

 private:
  static constexpr int half = nq / 2;
  static constexpr bool has_middle = nq % 2 == 1;

  using Coefficient = std::conditional_t<Lanes::size() == 4, ValueLanes, T>;
  static Coefficient coefficient(double value) { return Coefficient(static_cast<T>(value)); }

  Coefficient m_of_even[half][half], m_of_odd[half][half];
  Coefficient m_middle_row[half], m_middle_column[half];
};

}  // namespace nekbone_k
