// SPDX-License-Identifier: BSD-3-Clause
#include "operators/axhelm/metric_factor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace nekbone_k {
namespace {

// G = J (∇r)(∇r)ᵀ and J of a random linear map, from its inverse written out.
struct RandomFactor {
  explicit RandomFactor(unsigned seed, double shear = 0) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-0.3, 0.3);
    double x[3][3];
    for (int d = 0; d < 3; ++d)
      for (int r = 0; r < 3; ++r) x[d][r] = (d == r ? 1 : 0) + uniform(random);
    for (int d = 0; d < 3; ++d) x[d][1] += shear * x[d][0];
    double cofactor[3][3];  // J ∇r, J ∇s, J ∇t
    for (int r = 0; r < 3; ++r)
      for (int d = 0; d < 3; ++d) {
        const int s = (r + 1) % 3, t = (r + 2) % 3, e = (d + 1) % 3, f = (d + 2) % 3;
        cofactor[r][d] = x[e][s] * x[f][t] - x[f][s] * x[e][t];
      }
    jacobian = 0;
    for (int d = 0; d < 3; ++d) jacobian += x[d][0] * cofactor[0][d];
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s) {
        g[r][s] = 0;
        for (int d = 0; d < 3; ++d) g[r][s] += cofactor[r][d] * cofactor[s][d] / jacobian;
      }
  }
  SymmetricFactor<double> symmetric() const {
    return {g[0][0], g[0][1], g[0][2], g[1][1], g[1][2], g[2][2]};
  }

  double g[3][3], jacobian;
};

template <class Factor>
void expect_applies(const Factor& factor, const RandomFactor& expected) {
  const double gradient[3] = {0.7, -1.3, 0.4};
  double r = gradient[0], s = gradient[1], t = gradient[2];
  factor.apply(r, s, t);
  const double flux[3] = {r, s, t};
  for (int a = 0; a < 3; ++a) {
    double sum = 0;
    for (int b = 0; b < 3; ++b) sum += expected.g[a][b] * gradient[b];
    EXPECT_NEAR(flux[a], sum, 1e-14 * expected.g[a][a] * 10) << a;
  }
}

TEST(MetricFactor, TurnsAGradientIntoAFluxInBothForms) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const RandomFactor random(seed);
    expect_applies(random.symmetric(), random);
    expect_applies(factorized(random.symmetric(), random.jacobian), random);
  }
}

TEST(MetricFactor, BecomesTheSameMatrixAgain) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const RandomFactor random(seed);
    const SymmetricFactor<double> g = random.symmetric();
    const SymmetricFactor<double> again = multiplied_out(factorized(g, random.jacobian));
    EXPECT_NEAR(again.rr, g.rr, 1e-14);
    EXPECT_NEAR(again.rs, g.rs, 1e-14);
    EXPECT_NEAR(again.rt, g.rt, 1e-14);
    EXPECT_NEAR(again.ss, g.ss, 1e-13);
    EXPECT_NEAR(again.st, g.st, 1e-13);
    EXPECT_NEAR(again.tt, g.tt, 1e-13);
    EXPECT_NEAR(g.determinant(), random.jacobian, 1e-14);
  }
}

// For strong shear, the determinant of the six entries suffers from cancellation.
TEST(MetricFactor, KeepsTheJacobianOfADistortedElement) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const RandomFactor random(seed, 1e4);
    EXPECT_NEAR(factorized(random.symmetric(), random.jacobian).determinant() / random.jacobian, 1,
                1e-14);
  }
}

}  // namespace
}  // namespace nekbone_k
