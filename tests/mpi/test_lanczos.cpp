// SPDX-License-Identifier: BSD-3-Clause
#include "solver/lanczos.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/cg_system.hpp"
#include "support/plain_levels.hpp"

namespace nekbone_k {
namespace {

/// Cubes of side 1 and order 1, whose operator is the seven-point difference: the sum over the
/// directions of 2 - 2 cos θ, with θ a multiple of 2π / 4.
MeshSpec cubes() {
  MeshSpec spec;
  spec.elements = {4, 4, 4};
  spec.extent = {4, 4, 4};
  return spec;
}

/// The plane wave of greatest frequency: the only eigenvector of the largest eigenvalue, 12.
ById highest_wave(const ReferenceMesh& mesh) {
  ById wave(mesh.n_points());
  for (GlobalId id = 0; id < mesh.n_points(); ++id)
    wave[id] = (id % 4 + id / 4 % 4 + id / 16) % 2 == 0 ? 1 : -1;
  return wave;
}

TEST(Lanczos, FindsTheLargestEigenvalueFromBelow) {
  const System s(MPI_COMM_WORLD, cubes(), 1, 0);
  ById r = s.reference.mesh().random(5);  // without constants, which the operator annihilates
  const double mean = mean_of_dofs(s.reference.mesh(), r);
  for (double& value : r) value -= mean;
  double before = 0;
  for (const int steps : {1, 2, 4, 8}) {
    const double found = lanczos_bound(s.a, s.plain(), s.vectors(r), steps);
    EXPECT_GT(found, before) << steps << " steps";
    EXPECT_LE(found, 12 * (1 + 1e-13)) << steps << " steps";
    before = found;
  }
  EXPECT_NEAR(lanczos_bound(s.a, s.plain(), s.vectors(r), 15), 12, 1e-9);
  // The diagonal is 6.
  EXPECT_NEAR(lanczos_bound(s.a, s.jacobi(), s.vectors(r), 15), 2, 1e-9);
}

// One step is Rayleigh's quotient.
TEST(Lanczos, OneStepIsTheRayleighQuotient) {
  const System s(MPI_COMM_WORLD, mixed_box(), 2, 0.1);
  const ById r = s.reference.mesh().random(5);
  EXPECT_NEAR(lanczos_bound(s.a, s.plain(), s.vectors(r), 1),
              dot(r, s.reference.apply(r)) / dot(r, r), 1e-12 * 12);
}

TEST(Lanczos, EndsAtAnEigenvector) {
  const System s(MPI_COMM_WORLD, cubes(), 1, 0);
  EXPECT_NEAR(lanczos_bound(s.a, s.plain(), s.vectors(highest_wave(s.reference.mesh())), 15), 12,
              1e-12);
  // A part of a second eigenvector of another eigenvalue: cos(2π x / 4), eigenvalue 2.
  ById two = highest_wave(s.reference.mesh());
  const double cosine[] = {1, 0, -1, 0};
  for (GlobalId id = 0; id < s.reference.mesh().n_points(); ++id) two[id] += cosine[id % 4];
  EXPECT_NEAR(lanczos_bound(s.a, s.plain(), s.vectors(two), 2), 12, 1e-10);
  EXPECT_NEAR(lanczos_bound(s.a, s.plain(), s.vectors(two), 15), 12, 1e-10);
}

TEST(Lanczos, EqualsThePowerMethodOnDeformedElements) {
  for (const int order : {1, 3}) {
    const System s(MPI_COMM_WORLD, mixed_box(), order, 0.1);
    const double expected = ScaledOperator(s.reference).largest_eigenvalue();
    const double found = lanczos_bound(s.a, s.jacobi(), s.vectors(), 40);
    EXPECT_GE(found, expected * (1 - 1e-9)) << "order " << order;
    EXPECT_LE(found, expected * 1.01) << "order " << order;
  }
}

TEST(Lanczos, IsOneWithoutAResidual) {
  const System s(MPI_COMM_WORLD, mixed_box(), 2, 0.1);
  EXPECT_EQ(lanczos_bound(s.a, s.jacobi(), s.vectors(ById(s.b.size(), 0)), 15), 1);
}

}  // namespace
}  // namespace nekbone_k
