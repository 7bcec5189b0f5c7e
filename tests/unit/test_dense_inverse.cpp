// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/dense_inverse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace nekbone_k {
namespace {

using Matrix = std::vector<double>;

Matrix product(const Matrix& a, const Matrix& b, int n) {
  Matrix c(a.size(), 0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
  return c;
}

void expect_identity(const Matrix& matrix, int n, double within) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      EXPECT_NEAR(matrix[i * n + j], i == j, within) << i << ", " << j << " of " << n;
}

/// Bᵀ B plus n times the identity, with random B.
Matrix random_definite(int n) {
  std::mt19937 generator(n);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Matrix b(std::size_t(n) * n), transpose(b);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) b[i * n + j] = transpose[j * n + i] = uniform(generator);
  Matrix a = product(transpose, b, n);
  for (int i = 0; i < n; ++i) a[i * n + i] += n;
  return a;
}

TEST(DenseInverse, InvertsRandomMatrices) {
  for (const int n : {1, 2, 3, 7, 30}) {
    const Matrix a = random_definite(n);
    Matrix inverse = a;
    ASSERT_TRUE(invert_by_cholesky(inverse, n));
    expect_identity(product(a, inverse, n), n, 1e-13);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) EXPECT_EQ(inverse[i * n + j], inverse[j * n + i]);
  }
}

// The inverse of the second difference with n interior points: min(i, j) (n + 1 - max(i, j)) /
// (n + 1), counted from 1.
TEST(DenseInverse, IsTheKnownInverse) {
  constexpr int n = 9;
  Matrix a(n * n, 0);
  for (int i = 0; i < n; ++i) {
    a[i * n + i] = 2;
    if (i > 0) a[i * n + i - 1] = a[(i - 1) * n + i] = -1;
  }
  ASSERT_TRUE(invert_by_cholesky(a, n));
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j)
      EXPECT_NEAR(a[(i - 1) * n + j - 1], std::min(i, j) * (n + 1.0 - std::max(i, j)) / (n + 1),
                  1e-13);
}

TEST(DenseInverse, IsExactOnPowersOfTwo) {
  Matrix a{4, 0, 0, 0.25};
  ASSERT_TRUE(invert_by_cholesky(a, 2));
  EXPECT_EQ(a, (Matrix{0.25, 0, 0, 4}));
}

TEST(DenseInverse, ReportsMatricesThatAreNotDefinite) {
  Matrix negative{-1}, zero{0}, indefinite{1, 2, 2, 1}, singular{1, 1, 1, 1},
      nan{std::nan(""), 0, 0, 1}, last_is_negative{1, 0, 0, 0, 1, 0, 0, 0, -1};
  EXPECT_FALSE(invert_by_cholesky(negative, 1));
  EXPECT_FALSE(invert_by_cholesky(zero, 1));
  EXPECT_FALSE(invert_by_cholesky(indefinite, 2));
  EXPECT_FALSE(invert_by_cholesky(singular, 2));
  EXPECT_FALSE(invert_by_cholesky(nan, 2));
  EXPECT_FALSE(invert_by_cholesky(last_is_negative, 3));
}

TEST(DenseInverse, AcceptsAMatrixWithoutRows) {
  Matrix none;
  EXPECT_TRUE(invert_by_cholesky(none, 0));
}

}  // namespace
}  // namespace nekbone_k
