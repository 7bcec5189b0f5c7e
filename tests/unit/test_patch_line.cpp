// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/patch_line.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nekbone_k {
namespace {

// Sᵀ M S = I with the masses of the points of a line.
void expect_orthonormal(const LineModes& modes, const std::vector<double>& mass, int n_modes) {
  const int n = static_cast<int>(mass.size());
  for (int l = 0; l < n; ++l)
    for (int m = 0; m < n; ++m) {
      double product = 0;
      for (int p = 0; p < n; ++p)
        product += modes.vectors[p * n + l] * mass[p] * modes.vectors[p * n + m];
      EXPECT_NEAR(product, l == m && l < n_modes, 1e-13);
    }
}

TEST(PatchLine, ModesAreOrthonormalInTheMassOfThreeElements) {
  const GllBasis basis = make_gll_basis(5);
  const auto& w = basis.weights;
  const LineModes modes = line_modes(basis, {.left = 2, .own = 1, .right = 0.5});
  expect_orthonormal(modes,
                     {w[4], w[5] + w[0] / 2, w[1] / 2, w[2] / 2, w[3] / 2, w[4] / 2,
                      w[5] / 2 + w[0] / 4, w[1] / 4},
                     8);
}

TEST(PatchLine, ADirichletFaceRemovesItsPoint) {
  const GllBasis basis = make_gll_basis(4);
  const LineModes modes = line_modes(basis, {.left = 0, .own = 2, .right = 0});
  const auto& w = basis.weights;
  expect_orthonormal(modes, {0, 0, w[1], w[2], w[3], 0, 0}, 3);
  // -u'' = Λ u on (0, 2) with u = 0 at the ends.
  EXPECT_NEAR(modes.values[0], M_PI * M_PI / 4, 0.02);
  EXPECT_EQ(modes.values[5], 1);
}

TEST(PatchLine, AClosedLineHasAConstantMode) {
  const GllBasis basis = make_gll_basis(6);
  const LineModes modes = line_modes(basis, {.own = 3, .closed = true});
  const int n = patch_points(6);
  EXPECT_EQ(modes.values[0], 0);
  for (int p = 1; p <= 6; ++p)
    EXPECT_NEAR(std::abs(modes.vectors[p * n]), 1 / std::sqrt(3.0), 1e-13);
  // -u'' = Λ u with period 3.
  EXPECT_NEAR(modes.values[1], std::pow(2 * M_PI / 3, 2), 0.02);
  EXPECT_NEAR(modes.values[2], std::pow(2 * M_PI / 3, 2), 0.02);
}

TEST(PatchLine, CountsThePatchesOfAPoint) {
  const auto counts = [](const PatchLine& line) {
    std::vector<int> found;
    for (int p = 0; p < patch_points(4); ++p) found.push_back(line.patches(4, p));
    return found;
  };
  EXPECT_EQ(counts({}), (std::vector<int>{2, 2, 2, 1, 2, 2, 2}));
  EXPECT_EQ(counts({.left = 0}), (std::vector<int>{1, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(counts({.closed = true}), std::vector<int>(7, 1));
}

}  // namespace
}  // namespace nekbone_k
