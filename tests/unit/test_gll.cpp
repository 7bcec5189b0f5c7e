// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/gll.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();

// P_n(x) by its recurrence. Unlike monomials, this basis is well conditioned at high order.
double legendre(int n, double x) {
  double previous = 1, value = n == 0 ? 1 : x;
  for (int k = 2; k <= n; ++k) {
    const double next = ((2 * k - 1) * x * value - (k - 1) * previous) / k;
    previous = value;
    value = next;
  }
  return value;
}

// P_n'(x) = Σ (2k + 1) P_k(x) over k = n - 1, n - 3, …
double legendre_slope(int n, double x) {
  double sum = 0;
  for (int k = n - 1; k >= 0; k -= 2) sum += (2 * k + 1) * legendre(k, x);
  return sum;
}

class GllOrder : public testing::TestWithParam<int> {
 protected:
  const int N = GetParam();
  const GllBasis basis = make_gll_basis(N);

  template <class Function>
  double integral(const Function& f) const {
    double sum = 0;
    for (int i = 0; i <= N; ++i) sum += basis.weights[i] * f(basis.nodes[i]);
    return sum;
  }
};

TEST_P(GllOrder, HasItsShape) {
  EXPECT_EQ(basis.order, N);
  EXPECT_EQ(basis.nq(), N + 1);
  EXPECT_EQ(basis.nodes.size(), N + 1u);
  EXPECT_EQ(basis.weights.size(), N + 1u);
  EXPECT_EQ(basis.derivative.size(), (N + 1u) * (N + 1u));
}

TEST_P(GllOrder, NodesAscendAndAreSymmetric) {
  EXPECT_EQ(basis.nodes.front(), -1);
  EXPECT_EQ(basis.nodes.back(), 1);
  for (int i = 0; i <= N; ++i) {
    EXPECT_EQ(basis.nodes[i], -basis.nodes[N - i]);
    EXPECT_NEAR(basis.weights[i], basis.weights[N - i], 4 * machine_epsilon * basis.weights[i]);
    EXPECT_GT(basis.weights[i], 0);
    if (i > 0) {
      EXPECT_LT(basis.nodes[i - 1], basis.nodes[i]);
    }
  }
}

TEST_P(GllOrder, QuadratureIsExactToDegree2NMinus1) {
  for (int degree = 0; degree < 2 * N; ++degree) {
    const double sum = integral([&](double x) { return legendre(degree, x); });
    EXPECT_NEAR(sum, degree == 0 ? 2 : 0, 16 * machine_epsilon) << "degree " << degree;
  }
}

// GLL quadrature gives 2/N for the square of P_N. The integral is 2/(2N + 1).
TEST_P(GllOrder, QuadratureIsNotExactForDegree2N) {
  const double sum = integral([&](double x) { return legendre(N, x) * legendre(N, x); });
  EXPECT_NEAR(sum, 2.0 / N, 16 * machine_epsilon);
}

// P_n' reaches n(n + 1)/2 at the ends. Rounding of the nodes adds an error of about that size in
// ulps.
TEST_P(GllOrder, DerivativeIsExactToDegreeN) {
  for (int degree = 0; degree <= N; ++degree)
    for (int i = 0; i <= N; ++i) {
      double slope = 0;
      for (int j = 0; j <= N; ++j)
        slope += basis.derivative[i * (N + 1) + j] * legendre(degree, basis.nodes[j]);
      EXPECT_NEAR(slope, legendre_slope(degree, basis.nodes[i]), 8 * machine_epsilon * N * (N + 1))
          << "degree " << degree << ", node " << i;
    }
}

TEST_P(GllOrder, DerivativeOfConstantsIsZero) {
  for (int i = 0; i <= N; ++i) {
    double sum = 0, size = 0;
    for (int j = 0; j <= N; ++j) {
      sum += basis.derivative[i * (N + 1) + j];
      size += std::abs(basis.derivative[i * (N + 1) + j]);
    }
    EXPECT_LE(std::abs(sum), machine_epsilon * size) << "row " << i;
  }
}

// The closed form is -N(N + 1)/4 in the first corner, N(N + 1)/4 in the last, and zero between.
TEST_P(GllOrder, DerivativeHasTheKnownDiagonal) {
  const double corner = 0.25 * N * (N + 1);
  for (int i = 0; i <= N; ++i) {
    const double expected = i == 0 ? -corner : i == N ? corner : 0;
    EXPECT_NEAR(basis.derivative[i * (N + 1) + i], expected, 8 * machine_epsilon * N * (N + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, GllOrder,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 31),
                         [](const auto& instance) { return "N" + std::to_string(instance.param); });

TEST(Gll, HasTheKnownNodesAndWeights) {
  const auto expect = [](int order, std::vector<double> nodes, std::vector<double> weights) {
    const GllBasis basis = make_gll_basis(order);
    for (int i = 0; i <= order; ++i) {
      EXPECT_DOUBLE_EQ(basis.nodes[i], nodes[i]);
      EXPECT_DOUBLE_EQ(basis.weights[i], weights[i]);
    }
  };
  const double inner3 = std::sqrt(1.0 / 5), inner4 = std::sqrt(3.0 / 7);
  expect(1, {-1, 1}, {1, 1});
  expect(2, {-1, 0, 1}, {1.0 / 3, 4.0 / 3, 1.0 / 3});
  expect(3, {-1, -inner3, inner3, 1}, {1.0 / 6, 5.0 / 6, 5.0 / 6, 1.0 / 6});
  expect(4, {-1, -inner4, 0, inner4, 1}, {0.1, 49.0 / 90, 32.0 / 45, 49.0 / 90, 0.1});
}

TEST(Gll, HasTheKnownDerivativeOfOrder2) {
  const std::vector<double> expected{-1.5, 2, -0.5, -0.5, 0, 0.5, 0.5, -2, 1.5};
  const GllBasis basis = make_gll_basis(2);
  for (int a = 0; a < 9; ++a) EXPECT_NEAR(basis.derivative[a], expected[a], 4 * machine_epsilon);
}

TEST(Gll, RefusesOrderZero) { EXPECT_THROW(make_gll_basis(0), InternalError); }

}  // namespace
}  // namespace nekbone_k
