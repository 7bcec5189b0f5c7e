// SPDX-License-Identifier: BSD-3-Clause
#include "operators/axhelm/line_stiffness.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "mesh/gll.hpp"
#include "support/applied_line.hpp"

namespace nekbone_k {
namespace {

/// Compares the stiffness matrix of a line of Nq values with the product of two matrices.
template <int nq, class T>
void compare_with_matrices() {
  const ScaledBasis basis(make_gll_basis(nq - 1));
  const AppliedLine<nq, T> line(LineStiffness<nq, T>{basis});
  for (int lane = 0; lane < ElementLayout::lanes; ++lane)
    for (int i = 0; i < nq; ++i) {
      double sum = 0, size = 0;
      for (int q = 0; q < nq; ++q)
        for (int m = 0; m < nq; ++m) {
          const double term =
              basis.derivative[q * nq + i] * basis.derivative[q * nq + m] * line.x[m][lane];
          sum += term;
          size += std::abs(term);
        }
      // Rounding of a sum of Nq^2 terms.
      EXPECT_NEAR(line.result[i][lane], sum, nq * nq * std::numeric_limits<T>::epsilon() * size)
          << "Nq " << nq << ", i " << i;
    }
}

template <class T, int... nq>
void compare_each(std::integer_sequence<int, nq...>) {
  (compare_with_matrices<nq + 2, T>(), ...);
}

TEST(LineStiffness, IsTheMatrixAtEveryOrder) {
  compare_each<double>(std::make_integer_sequence<int, 16>{});
  compare_each<float>(std::make_integer_sequence<int, 16>{});
}

}  // namespace
}  // namespace nekbone_k
