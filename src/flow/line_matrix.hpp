// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A small matrix that is applied along the lines of an element.
#pragma once

#include <vector>

#include "core/lanes.hpp"

namespace nekbone_k {

/// What a matrix on symmetric nodes does to a mirrored line: values stay, derivatives change sign.
enum class Mirror { same = 1, opposite = -1 };

/// y = A x for the values of a line of nodes, A of shape (rows, columns) with
/// A(rows-1-i, columns-1-j) = ± A(i, j), `mirror`. The even part of x gives one part of y and the
/// odd part the other, each by a matrix of a quarter of the size, which halves the multiplications
/// (Solomonoff, J. Comput. Phys. 98, 1992).
template <int rows, int columns, Mirror mirror>
class LineMatrix {
 public:
  /// `a` is row-major.
  explicit LineMatrix(const std::vector<double>& a) {
    for (int i = 0; i < (rows + 1) / 2; ++i)
      for (int m = 0; m < (columns + 1) / 2; ++m) {
        const double left = a[i * columns + m], right = a[i * columns + columns - 1 - m];
        const bool middle = 2 * m + 1 == columns;
        m_of_even[i][m] = middle ? left : (left + right) / 2;
        m_of_odd[i][m] = middle ? 0 : (left - right) / 2;
      }
  }

  /// A(i, j).
  KOKKOS_FORCEINLINE_FUNCTION double operator()(int i, int j) const {
    const int row = i < rows - 1 - i ? i : rows - 1 - i;
    const int column = j < columns - 1 - j ? j : columns - 1 - j;
    const double even = m_of_even[row][column], odd = m_of_odd[row][column];
    const double of_row = column == j ? even + odd : even - odd;
    const double of_mirrored_row = column == j ? even - odd : even + odd;
    if (row == i) return of_row;
    return mirror == Mirror::same ? of_mirrored_row : -of_mirrored_row;
  }

  /// Calls set(i, y_i) for every row. set() may overwrite x.
  template <class Value, class Set>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Value (&x)[columns], const Set& set) const {
    Value even[(columns + 1) / 2], odd[half_columns > 0 ? half_columns : 1];
    NEKBONE_K_UNROLL
    for (int m = 0; m < half_columns; ++m) {
      even[m] = x[m] + x[columns - 1 - m];
      odd[m] = x[m] - x[columns - 1 - m];
    }
    if constexpr (columns % 2 == 1) even[half_columns] = x[half_columns];
    NEKBONE_K_UNROLL
    for (int i = 0; i < rows / 2; ++i) {
      const Value of_even = sum<(columns + 1) / 2>(m_of_even[i], even);
      const Value of_odd = sum<half_columns>(m_of_odd[i], odd);
      set(i, of_even + of_odd);
      set(rows - 1 - i, mirror == Mirror::same ? of_even - of_odd : of_odd - of_even);
    }
    if constexpr (rows % 2 == 1) {  // one of the parts vanishes in the middle
      if constexpr (mirror == Mirror::same)
        set(rows / 2, sum<(columns + 1) / 2>(m_of_even[rows / 2], even));
      else
        set(rows / 2, sum<half_columns>(m_of_odd[rows / 2], odd));
    }
  }

 private:
  static constexpr int half_columns = columns / 2;

  template <int n, class Value, int length>
  KOKKOS_FORCEINLINE_FUNCTION static Value sum(const double (&row)[(columns + 1) / 2],
                                               const Value (&x)[length]) {
    if constexpr (n == 0) {
      return Value(0.0);
    } else {
      Value total = Value(row[0]) * x[0];
      NEKBONE_K_UNROLL
      for (int m = 1; m < n; ++m) total += Value(row[m]) * x[m];
      return total;
    }
  }

  double m_of_even[(rows + 1) / 2][(columns + 1) / 2], m_of_odd[(rows + 1) / 2][(columns + 1) / 2];
};

}  // namespace nekbone_k
