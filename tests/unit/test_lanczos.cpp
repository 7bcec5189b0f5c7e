// SPDX-License-Identifier: BSD-3-Clause
#include "solver/lanczos.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace nekbone_k {
namespace {

using Values = std::vector<double>;

/// The largest eigenvalue by the power method on the matrix shifted by its norm, a long time.
double by_power_method(const Values& diagonal, const Values& off_diagonal) {
  const std::size_t n = diagonal.size();
  double shift = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double beside =
        (i > 0 ? std::abs(off_diagonal[i - 1]) : 0) + (i + 1 < n ? std::abs(off_diagonal[i]) : 0);
    shift = std::max(shift, std::abs(diagonal[i]) + beside);
  }
  Values v(n, 1), next(n);
  for (std::size_t i = 0; i < n; ++i) v[i] += 0.1 * std::sin(1.0 + i);
  double norm = 0;
  for (int iteration = 0; iteration < 20000; ++iteration) {
    for (std::size_t i = 0; i < n; ++i) {
      next[i] = (diagonal[i] + shift) * v[i];
      if (i > 0) next[i] += off_diagonal[i - 1] * v[i - 1];
      if (i + 1 < n) next[i] += off_diagonal[i] * v[i + 1];
    }
    norm = 0;
    for (const double value : next) norm += value * value;
    norm = std::sqrt(norm);
    for (std::size_t i = 0; i < n; ++i) v[i] = next[i] / norm;
  }
  return norm - shift;
}

// The second difference has the eigenvalues 2 - 2 cos(k π / (n + 1)).
TEST(Lanczos, LargestEigenvalueOfTheSecondDifference) {
  for (const int n : {1, 2, 3, 10, 50}) {
    const double expected = 2 - 2 * std::cos(M_PI * n / (n + 1));
    for (const double sign : {-1, 1})  // the sign of an off-diagonal entry does not matter
      for (const double scale : {1e-100, 1.0, 1e100})
        EXPECT_NEAR(largest_eigenvalue(Values(n, 2 * scale), Values(n - 1, sign * scale)),
                    expected * scale, 1e-14 * scale * n)
            << "n " << n;
  }
}

TEST(Lanczos, LargestEigenvalueMayBeNegative) {
  EXPECT_NEAR(largest_eigenvalue(Values{-5, -5}, Values{1}), -4, 1e-14);
  EXPECT_EQ(largest_eigenvalue(Values{-3}, Values{}), -3);
}

TEST(Lanczos, LargestEigenvalueOfADiagonalMatrix) {
  EXPECT_NEAR(largest_eigenvalue(Values{1, 7, 3}, Values{0, 0}), 7, 1e-14);
  EXPECT_NEAR(largest_eigenvalue(Values{7, 1, 3}, Values{0, 0}), 7, 1e-14);
  EXPECT_NEAR(largest_eigenvalue(Values{1, 3, 7}, Values{0, 0}), 7, 1e-14);
}

// Two blocks: {4, 4} coupled by 3 has 7; {1, 1} coupled by 0.5 has 1.5.
TEST(Lanczos, LargestEigenvalueOfUncoupledBlocks) {
  EXPECT_NEAR(largest_eigenvalue(Values{1, 1, 4, 4}, Values{0.5, 0, 3}), 7, 1e-14);
  EXPECT_NEAR(largest_eigenvalue(Values{4, 4, 1, 1}, Values{3, 0, 0.5}), 7, 1e-14);
}

TEST(Lanczos, LargestEigenvalueOfRandomMatrices) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const int n : {2, 3, 5, 8}) {
    Values diagonal(n), off_diagonal(n - 1);
    for (double& value : diagonal) value = uniform(generator);
    for (double& value : off_diagonal) value = uniform(generator);
    EXPECT_NEAR(largest_eigenvalue(diagonal, off_diagonal), by_power_method(diagonal, off_diagonal),
                1e-9)
        << "n " << n;
  }
}

}  // namespace
}  // namespace nekbone_k
