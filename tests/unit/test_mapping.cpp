// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/mapping.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

namespace nekbone_k {
namespace {

constexpr std::array deformations{Deformation::none, Deformation::sine, Deformation::kershaw};
constexpr double tolerance = 1e-14;

std::array<double, 3> at(const BoxMapping& map, double a, double b, double c) {
  const Point p = map(a, b, c);
  return {p.x, p.y, p.z};
}

// The Jacobian by central differences, relative to that of the undeformed box.
double relative_jacobian(const BoxMapping& map, double a, double b, double c) {
  const double h = 1e-6;
  double column[3][3];
  for (int r = 0; r < 3; ++r) {
    const double da = r == 0 ? h : 0, db = r == 1 ? h : 0, dc = r == 2 ? h : 0;
    const auto above = at(map, a + da, b + db, c + dc), below = at(map, a - da, b - db, c - dc);
    for (int d = 0; d < 3; ++d) column[r][d] = (above[d] - below[d]) / (2 * h * map.extent[d]);
  }
  const auto& [u, v, w] = column;
  return u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) +
         u[2] * (v[0] * w[1] - v[1] * w[0]);
}

TEST(Mapping, ScalesToTheExtentWithoutDeformation) {
  const BoxMapping map{Deformation::none, 0.3, {2, 3, 5}};
  EXPECT_EQ(at(map, 0, 0, 0), (std::array<double, 3>{0, 0, 0}));
  EXPECT_EQ(at(map, 1, 1, 1), (std::array<double, 3>{2, 3, 5}));
  EXPECT_EQ(at(map, 0.5, 0.25, 0.125), (std::array<double, 3>{1, 0.75, 0.625}));
}

TEST(Mapping, KeepsTheFacesInPlace) {
  for (const Deformation deformation : deformations) {
    const BoxMapping map{deformation, 0.3, {2, 3, 5}};
    for (int d = 0; d < 3; ++d)
      for (const double side : {0.0, 1.0})
        for (double s = 0; s <= 1; s += 0.05)
          for (double t = 0; t <= 1; t += 0.05) {
            double fraction[3];
            fraction[d] = side;
            fraction[(d + 1) % 3] = s;
            fraction[(d + 2) % 3] = t;
            const auto p = at(map, fraction[0], fraction[1], fraction[2]);
            EXPECT_NEAR(p[d], side * map.extent[d], tolerance);
          }
  }
}

TEST(Mapping, SineContinuesPeriodically) {
  const BoxMapping map{Deformation::sine, 0.7, {2, 3, 5}};
  const double a = 0.13, b = -0.21, c = 0.37;  // b is outside the box, where the map continues
  const auto p = at(map, a, b, c);
  for (int d = 0; d < 3; ++d) {
    const auto q = at(map, a + (d == 0), b + (d == 1), c + (d == 2));
    for (int e = 0; e < 3; ++e)
      EXPECT_NEAR(q[e], p[e] + (d == e ? map.extent[e] : 0), 10 * tolerance);
  }
}

// The map moves all three fractions by the same s(a, b, c), so J = 1 + s_a + s_b + s_c.
TEST(Mapping, SineHasTheDocumentedJacobian) {
  constexpr double two_pi = 2 * std::numbers::pi;
  const BoxMapping map{Deformation::sine, 0.4, {2, 3, 5}};
  for (double a = 0.02; a < 1; a += 0.11)
    for (double b = 0.03; b < 1; b += 0.12)
      for (double c = 0.05; c < 1; c += 0.13) {
        const double sa = std::sin(two_pi * a), sb = std::sin(two_pi * b),
                     sc = std::sin(two_pi * c);
        const double ca = std::cos(two_pi * a), cb = std::cos(two_pi * b),
                     cc = std::cos(two_pi * c);
        EXPECT_NEAR(relative_jacobian(map, a, b, c),
                    1 + 0.4 * (ca * sb * sc + sa * cb * sc + sa * sb * cc), 1e-8);
      }
}

// The minimum of the Jacobian, where cos² = 1/3 in every direction, is 1 - 2/√3 · epsilon. It
// vanishes at epsilon = 0.866.
TEST(Mapping, SineStaysPositiveToTheDocumentedEpsilon) {
  const double a = std::acos(-1 / std::sqrt(3.0)) / (2 * std::numbers::pi);
  const auto least = [&](double epsilon) {
    return relative_jacobian({Deformation::sine, epsilon, {1, 1, 1}}, a, a, a);
  };
  EXPECT_GT(least(0.86), 0);
  EXPECT_LT(least(0.88), 0);
  const BoxMapping map{Deformation::sine, 0.86, {1, 1, 1}};
  for (int i = 1; i < 40; ++i)
    for (int j = 1; j < 40; ++j)
      for (int k = 1; k < 40; ++k)
        EXPECT_GT(relative_jacobian(map, i / 40.0, j / 40.0, k / 40.0), 0);
}

TEST(Mapping, KershawWithEpsilonOneIsTheIdentity) {
  const BoxMapping map{Deformation::kershaw, 1.0, {2, 3, 5}};
  for (double a = 0; a <= 1; a += 0.03)
    for (double b = 0; b <= 1; b += 0.1) {
      const auto p = at(map, a, b, 1 - b);
      EXPECT_NEAR(p[0], 2 * a, tolerance);
      EXPECT_NEAR(p[1], 3 * b, tolerance);
      EXPECT_NEAR(p[2], 5 * (1 - b), tolerance);
    }
}

// The map moves the middle plane b = 1/2 to epsilon/2 where it squeezes down, and to 1 - epsilon/2
// where it squeezes up.
TEST(Mapping, KershawSqueezesToBothSides) {
  const double epsilon = 0.3, low = epsilon / 2, high = 1 - epsilon / 2;
  const BoxMapping map{Deformation::kershaw, epsilon, {1, 1, 1}};
  const std::array<double, 7> middle{low, low, high, 0.5, low, high, high};
  for (int layer = 0; layer <= 6; ++layer) {
    const auto p = at(map, layer / 6.0, 0.5, 0.5);
    EXPECT_NEAR(p[1], middle[layer], tolerance) << "layer " << layer;
    EXPECT_NEAR(p[2], middle[layer], tolerance) << "layer " << layer;
  }
  EXPECT_NEAR(at(map, 0.05, 0.25, 0.75)[1], epsilon / 4, tolerance);
  EXPECT_NEAR(at(map, 0.05, 0.25, 0.75)[2], 1 - (2 - epsilon) / 4, tolerance);
}

TEST(Mapping, KershawIsSymmetricAboutTheCentre) {
  const BoxMapping map{Deformation::kershaw, 0.3, {1, 1, 1}};
  for (double a = 0; a <= 1; a += 0.01) {
    const auto p = at(map, a, 0.2, 0.9), q = at(map, 1 - a, 0.8, 0.1);
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(p[d] + q[d], 1, tolerance);
  }
}

TEST(Mapping, KershawIsContinuousAndKeepsItsOrientation) {
  for (const double epsilon : {0.05, 0.3, 1.0}) {
    const BoxMapping map{Deformation::kershaw, epsilon, {2, 3, 5}};
    const double h = 1e-9;
    for (int layer = 1; layer < 6; ++layer) {
      const auto below = at(map, layer / 6.0 - h, 0.3, 0.6), above = at(map, layer / 6.0, 0.3, 0.6);
      for (int d = 0; d < 3; ++d) EXPECT_NEAR(below[d], above[d], 100 * h);
    }
    for (double a = 0.01; a < 1; a += 0.04)
      for (double b = 0.02; b < 1; b += 0.06)
        for (double c = 0.03; c < 1; c += 0.06) EXPECT_GT(relative_jacobian(map, a, b, c), 0);
  }
}

}  // namespace
}  // namespace nekbone_k
