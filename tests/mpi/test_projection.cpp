// SPDX-License-Identifier: BSD-3-Clause
#include "flow/projection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "support/cg_system.hpp"
#include "support/typed_vectors.hpp"

namespace nekbone_k {
namespace {

/// A space of solutions of a small system.
struct ProjectionCase : System {
  explicit ProjectionCase(int most, std::optional<double> reproducible_terms = {},
                          MPI_Comm parent = MPI_COMM_WORLD)
      : System(parent, mixed_box(), 3, 0.5),
        guesses(comm, "guesses", range, most, all_reduce_strategies().front(), reproducible_terms) {
  }

  const ReferenceMesh& points() const { return reference.mesh(); }
  /// Adds a vector and its product with A.
  void add(const ById& x) {
    guesses.add(to_assembled(space, points(), x),
                to_assembled(space, points(), reference.apply(x)));
  }
  /// The member of the space nearest to the solution for b.
  ById project(const ById& right_hand_side) const {
    const auto x = nan_vector<double>(space, points());
    guesses.project(to_assembled(space, points(), right_hand_side), x);
    return by_id(x);
  }
  /// ‖x‖ in the norm of A.
  double energy_norm(const ById& x) const { return std::sqrt(dot(x, reference.apply(x))); }

  ProjectionSpace guesses;
};

ById combined(double a, const ById& x, double b, const ById& y) {
  ById sum(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] = a * x[i] + b * y[i];
  return sum;
}

// Up to 20 vectors, so that the last group of products that one all-reduce sums has any length.
TEST(Projection, FindsSolutionsThatAreInTheSpace) {
  ProjectionCase p(20);
  EXPECT_EQ(p.guesses.most(), 20);
  ById in_space(p.points().n_points(), 0);
  for (int added = 1; added <= 20; ++added) {
    const ById x = p.points().random(10 + added);
    p.add(x);
    EXPECT_EQ(p.guesses.size(), added);
    EXPECT_EQ(p.guesses.is_full(), added == 20);
    in_space = combined(1, in_space, 1 - 0.3 * added, x);
    const ById found = p.project(p.reference.apply(in_space));
    EXPECT_LE(relative_difference(found, in_space), 1e-12) << added << " vectors";
  }
}

// The residual of a projection is orthogonal to the space, so the error is the least in the norm
// of A.
TEST(Projection, LeavesAResidualOrthogonalToTheSpace) {
  ProjectionCase p(7);
  std::vector<ById> added;
  for (int i = 0; i < 7; ++i) {
    added.push_back(p.points().random(20 + i));
    p.add(added.back());
  }
  const ById x = p.project(p.b);
  const ById residual = combined(1, p.b, -1, p.reference.apply(x));
  for (const ById& vector : added)
    EXPECT_NEAR(dot(residual, vector), 0, 1e-12 * norm(p.b) * norm(vector));
  const double error = p.energy_norm(combined(1, p.exact, -1, x));
  EXPECT_LT(error, p.energy_norm(p.exact));
  for (const ById& vector : added)
    for (const double step : {-1e-3, 1e-3}) {
      const ById other = combined(1, x, step, vector);
      EXPECT_GT(p.energy_norm(combined(1, p.exact, -1, other)), error);
    }
}

// Each vector differs from the one before by a part of 1e-4, as solutions of successive steps do.
// A projection is idempotent only if the vectors are A-orthonormal.
TEST(Projection, StaysOrthonormalWithVectorsThatAlmostDepend) {
  ProjectionCase p(12);
  const ById base = p.points().random(30);
  std::vector<ById> added;
  for (int i = 0; i < 12; ++i) {
    added.push_back(combined(1, i == 0 ? base : added.back(), 1e-4, p.points().random(31 + i)));
    p.add(added.back());
  }
  EXPECT_EQ(p.guesses.size(), 12);
  const ById once = p.project(p.b), twice = p.project(p.reference.apply(once));
  EXPECT_LE(relative_difference(twice, once), 1e-6);
  for (const ById& vector : added)
    EXPECT_LE(relative_difference(p.project(p.reference.apply(vector)), vector), 1e-9);
}

TEST(Projection, SkipsVectorsThatDependOnOthers) {
  ProjectionCase p(8);
  const ById x = p.points().random(40), y = p.points().random(41);
  p.add(x);
  p.add(y);
  EXPECT_EQ(p.guesses.size(), 2);
  p.add(combined(2, x, 0, y));
  p.add(combined(0.5, x, -3, y));
  p.add(ById(p.points().n_points(), 0));
  EXPECT_EQ(p.guesses.size(), 2);
  const ById in_space = combined(0.25, x, 4, y);
  EXPECT_LE(relative_difference(p.project(p.reference.apply(in_space)), in_space), 1e-12);
  p.add(p.points().random(42));
  EXPECT_EQ(p.guesses.size(), 3);
}

TEST(Projection, SkipsVectorsThatAreNotNumbers) {
  ProjectionCase p(4);
  p.add(ById(p.points().n_points(), std::nan("")));
  EXPECT_EQ(p.guesses.size(), 0);
  const ById x = p.points().random(43);
  p.add(x);
  EXPECT_LE(relative_difference(p.project(p.reference.apply(x)), x), 1e-12);
}

TEST(Projection, GivesZeroFromAnEmptySpace) {
  ProjectionCase p(4);
  EXPECT_EQ(p.guesses.size(), 0);
  EXPECT_EQ(max_abs(p.project(p.b)), 0);
  for (const int seed : {50, 51}) p.add(p.points().random(seed));
  EXPECT_GT(max_abs(p.project(p.b)), 0);
  p.guesses.clear();
  EXPECT_EQ(p.guesses.size(), 0);
  EXPECT_EQ(max_abs(p.project(p.b)), 0);
  // A vector that was in the space before is new.
  const ById x = p.points().random(50);
  p.add(x);
  EXPECT_EQ(p.guesses.size(), 1);
  EXPECT_LE(relative_difference(p.project(p.reference.apply(x)), x), 1e-12);
}

TEST(Projection, TakesNoVectorIfItHasNoRoom) {
  ProjectionCase none(0);
  EXPECT_EQ(none.guesses.most(), 0);
  EXPECT_TRUE(none.guesses.is_full());
  EXPECT_EQ(max_abs(none.project(none.b)), 0);
  EXPECT_THROW(none.add(none.exact), InternalError);
  ProjectionCase one(1);
  one.add(one.exact);
  EXPECT_THROW(one.add(one.points().random(60)), InternalError);
}

// b moves on a smooth curve. The residual that the projection leaves falls with every solution
// that the space has.
TEST(Projection, LeavesLessOfASlowlyChangingSequence) {
  ProjectionCase p(8);
  const ById from = p.points().random(70), to = p.points().random(71), away = p.points().random(72);
  std::vector<double> residuals;
  for (int step = 0; step < 8; ++step) {
    const double t = 0.05 * step;
    const ById x = combined(1, combined(std::cos(t), from, std::sin(2 * t), to), t * t * t, away);
    const ById right_hand_side = p.reference.apply(x);
    const ById guess = p.project(right_hand_side);
    const ById residual = combined(1, right_hand_side, -1, p.reference.apply(guess));
    residuals.push_back(norm(residual) / norm(right_hand_side));
    p.add(combined(1, x, -1, guess));  // the correction, as a solver gives it
  }
  EXPECT_EQ(residuals[0], 1);
  EXPECT_LE(residuals[1], 0.2);
  EXPECT_LE(residuals[2], 1e-2);
  // Three vectors span the curve.
  for (int step = 3; step < 8; ++step) EXPECT_LE(residuals[step], 1e-10) << step;
}

// Vectors of the shape of a range with components.
TEST(Projection, CountsSharedDofsOnceInEveryComponent) {
  const System s(MPI_COMM_WORLD, periodic_box(), 2, 0.5);
  const ReferenceMesh& mesh = s.reference.mesh();
  const LocalIndex size = s.space.size();
  const VectorRange range{3 * size, s.space.n_not_owned(), size};
  ProjectionSpace guesses(s.comm, "guesses", range, 2, all_reduce_strategies().front(), {});
  // Three components, each a multiple of one vector and its product.
  const auto repeated = [&](const ById& values) {
    const DeviceVector<double> vector("three components", 3 * size);
    for (int c = 0; c < 3; ++c)
      Kokkos::deep_copy(Kokkos::subview(vector, std::pair(c * size, (c + 1) * size)),
                        to_assembled(s.space, mesh, values));
    return vector;
  };
  guesses.add(repeated(s.exact), repeated(s.b));
  const auto x = repeated(ById(mesh.n_points(), std::nan("")));
  guesses.project(repeated(s.b), x);
  for (int c = 0; c < 3; ++c) {
    const DeviceVector<double> component = s.space.make_vector("component");
    Kokkos::deep_copy(component, Kokkos::subview(x, std::pair(c * size, (c + 1) * size)));
    EXPECT_LE(relative_difference(s.by_id(component), s.exact), 1e-13);
  }
}

// The sums of products have the same bits; those of A x and of the shared DOFs are given.
TEST(Projection, HasTheSameBitsAtAnyNumberOfRanksWithReproducibleSums) {
  const auto project = [](MPI_Comm parent) {
    const double terms = static_cast<double>(ReferenceMesh(mixed_box(), 3).n_points());
    ProjectionCase p(6, terms, parent);
    for (int i = 0; i < 6; ++i) p.add(p.points().random(80 + i));
    return p.project(p.b);
  };
  const ById together = project(MPI_COMM_WORLD);
  if (!Communicator(MPI_COMM_WORLD).is_root()) return;
  EXPECT_EQ(project(MPI_COMM_SELF), together);
}

}  // namespace
}  // namespace nekbone_k
