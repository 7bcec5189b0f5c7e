// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/symmetric_eigen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

TEST(SymmetricEigen, DiagonalisesTheSecondDifference) {
  for (const int n : {1, 2, 3, 10, 34}) {
    SCOPED_TRACE(n);
    std::vector<double> matrix(n * n);
    for (int i = 0; i < n; ++i) {
      matrix[i * n + i] = 2;
      if (i > 0) matrix[i * n + i - 1] = matrix[(i - 1) * n + i] = -1;
    }
    const SymmetricEigen eigen = symmetric_eigen(matrix, n);
    for (int m = 0; m < n; ++m) {
      EXPECT_NEAR(eigen.values[m], 2 - 2 * std::cos((m + 1) * M_PI / (n + 1)), 4e-14);
      for (int i = 0; i < n; ++i) {
        double av = 0;
        for (int j = 0; j < n; ++j) av += matrix[i * n + j] * eigen.vectors[j * n + m];
        EXPECT_NEAR(av, eigen.values[m] * eigen.vectors[i * n + m], 4e-14);
      }
      for (int l = 0; l < n; ++l) {
        double product = 0;
        for (int i = 0; i < n; ++i) product += eigen.vectors[i * n + l] * eigen.vectors[i * n + m];
        EXPECT_NEAR(product, l == m, 4e-14);
      }
    }
  }
}

TEST(SymmetricEigen, KeepsEqualEigenvalues) {
  const SymmetricEigen eigen = symmetric_eigen({3, 0, 0, 0, 3, 0, 0, 0, 0}, 3);
  EXPECT_EQ(eigen.values, (std::vector<double>{0, 3, 3}));
}

TEST(SymmetricEigen, RejectsEntriesThatAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(symmetric_eigen({1, nan, nan, 1}, 2), InternalError);
}

}  // namespace
}  // namespace nekbone_k
