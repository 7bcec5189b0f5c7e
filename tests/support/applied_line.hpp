// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// An operator on the values of a line of nodes, applied as element kernels do.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "core/lanes.hpp"

namespace nekbone_k {

/// Sines as the Nq values of a line, and the result of an operator that overwrites a line.
template <int nq, class T>
struct AppliedLine {
  LanesOf<T> x[nq], result[nq];

  template <class Operator>
  explicit AppliedLine(const Operator& apply) {
    for (int m = 0; m < nq; ++m)
      result[m] = x[m] = LanesOf<T>(
          [&](auto lane) { return T(std::sin(1.0 + 3 * m + 0.7 * static_cast<double>(lane))); });
    int set = 0;
    // In place, as in the kernel.
    apply(result, [&](int i, const LanesOf<T>& value) {
      result[i] = value;
      ++set;
    });
    EXPECT_EQ(set, nq);
  }
};

}  // namespace nekbone_k
