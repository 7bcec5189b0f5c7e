// SPDX-License-Identifier: BSD-3-Clause
#include "operators/axhelm/line_derivative.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "mesh/gll.hpp"
#include "support/applied_line.hpp"

namespace nekbone_k {
namespace {

/// Compares the derivative of a line of Nq values with the matrix product.
template <int nq, class T>
void compare_with_matrix() {
  const GllBasis basis = make_gll_basis(nq - 1);
  const AppliedLine<nq, T> line(LineDerivative<nq, T>{ScaledBasis(basis)});
  for (int lane = 0; lane < ElementLayout::lanes; ++lane)
    for (int i = 0; i < nq; ++i) {
      double sum = 0, size = 0;
      for (int m = 0; m < nq; ++m) {
        const double entry = std::sqrt(basis.weights[i]) * basis.derivative[i * nq + m] /
                             std::sqrt(basis.weights[m]);
        sum += entry * line.x[m][lane];
        size += std::abs(entry * line.x[m][lane]);
      }
      EXPECT_NEAR(line.result[i][lane], sum, 45 * std::numeric_limits<T>::epsilon() * size)
          << "Nq " << nq << ", i " << i;
    }
}

/// Compares derivatives of two lines at once, in place, with those of each line alone.
template <int nq, class T>
void compare_two_lines() {
  using Lanes = LanesOf<T>;
  const LineDerivative<nq, T> derivative{ScaledBasis(make_gll_basis(nq - 1))};
  Lanes x[nq], y[nq], alone[2][nq];
  for (int m = 0; m < nq; ++m) {
    x[m] = Lanes(T(std::sin(1.0 + 3 * m)));
    y[m] = Lanes(T(std::cos(2.0 * m)));
  }
  derivative(x, [&](int i, const Lanes& value) { alone[0][i] = value; });
  derivative(y, [&](int i, const Lanes& value) { alone[1][i] = value; });
  int set = 0;
  derivative(x, y, [&](int i, const Lanes& of_x, const Lanes& of_y) {
    x[i] = of_x;
    y[i] = of_y;
    ++set;
  });
  EXPECT_EQ(set, nq);
  const T near = 450 * std::numeric_limits<T>::epsilon() * nq * nq;
  for (int i = 0; i < nq; ++i) {
    EXPECT_NEAR(x[i][0], alone[0][i][0], near) << "Nq " << nq << ", i " << i;
    EXPECT_NEAR(y[i][0], alone[1][i][0], near) << "Nq " << nq << ", i " << i;
  }
}

template <class T, int... nq>
void compare_each(std::integer_sequence<int, nq...>) {
  ((compare_with_matrix<nq + 2, T>(), compare_two_lines<nq + 2, T>()), ...);
}

TEST(LineDerivative, IsTheMatrixAtEveryOrder) {
  compare_each<double>(std::make_integer_sequence<int, 16>{});
  compare_each<float>(std::make_integer_sequence<int, 16>{});
}

}  // namespace
}  // namespace nekbone_k
