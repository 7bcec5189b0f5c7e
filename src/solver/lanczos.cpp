// SPDX-License-Identifier: BSD-3-Clause
#include "solver/lanczos.hpp"

#include <algorithm>

namespace nekbone_k {
namespace {

/// Whether an eigenvalue is larger than x, by the signs of Sturm's sequence.
bool has_larger(std::span<const double> diagonal, std::span<const double> off_diagonal, double x) {
  double pivot = x - diagonal[0];
  for (std::size_t i = 1; pivot > 0 && i < diagonal.size(); ++i)
    pivot = x - diagonal[i] - off_diagonal[i - 1] * off_diagonal[i - 1] / pivot;
  return !(pivot > 0);
}

}  // namespace

double largest_eigenvalue(std::span<const double> diagonal, std::span<const double> off_diagonal) {
  double low = 0, high = 0;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double before = i > 0 ? std::abs(off_diagonal[i - 1]) : 0;
    const double after = i + 1 < diagonal.size() ? std::abs(off_diagonal[i]) : 0;
    low = i == 0 ? diagonal[0] : std::max(low, diagonal[i]);
    high = i == 0 ? diagonal[0] + after : std::max(high, diagonal[i] + before + after);
  }
  for (int halving = 0; halving < 100 && low < high; ++halving) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (has_larger(diagonal, off_diagonal, middle) ? low : high) = middle;
  }
  return high;
}

}  // namespace nekbone_k
