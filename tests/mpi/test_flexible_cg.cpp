// SPDX-License-Identifier: BSD-3-Clause
#include "solver/flexible_cg.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "operators/null_space.hpp"
#include "support/cg_system.hpp"
#include "support/plain_levels.hpp"

namespace nekbone_k {
namespace {

/// z = diagonal · r, and what a broken or varying preconditioner makes of it.
struct DiagonalPreconditioner {
  explicit DiagonalPreconditioner(ConstDeviceVector<double> of) : diagonal(std::move(of)) {}

  void apply(const DeviceVector<double>& r, const DeviceVector<double>& z, double norm) {
    norms.push_back(norm);
    const bool is_second = every_second.extent(0) > 0 && norms.size() % 2 == 0;
    const ConstDeviceVector<double> d = is_second ? every_second : diagonal;
    const double times = factor ? factor(static_cast<int>(norms.size())) : 1;
    Kokkos::parallel_for(
        "diagonal", Kokkos::RangePolicy<ExecutionSpace>(0, r.extent(0)),
        KOKKOS_LAMBDA(const LocalIndex a) { z(a) = times * d(a) * r(a); });
  }

  ConstDeviceVector<double> diagonal, every_second = {};
  std::function<double(int application)> factor;
  std::vector<double> norms;
};

FlexibleCgVectors flexible(const System& s, const ById& b) {
  return {s.vectors(b), s.space.make_vector("z")};
}
FlexibleCgVectors flexible(const System& s) { return flexible(s, s.b); }

TEST(FlexibleCg, FindsTheKnownSolution) {
  for (const double lambda : {0.0, 1.0}) {
    const System s(MPI_COMM_WORLD, mixed_box(), 3, lambda);
    const FlexibleCgVectors v = flexible(s);
    DiagonalPreconditioner m(s.a.inverse_diagonal());
    const CgResult result =
        flexible_conjugate_gradients(s.a, m, s.plain(), v, {1000, 1e-12, 0, false});
    EXPECT_TRUE(result.converged);
    EXPECT_FALSE(result.broke_down);
    EXPECT_EQ(result.history.size(), result.iterations + 1u);
    EXPECT_NEAR(result.history.front(), norm(s.b), 1e-12 * norm(s.b));
    EXPECT_LE(result.residual(), 1e-12 * norm(s.b));
    EXPECT_GT(*(result.history.end() - 2), 1e-12 * norm(s.b));
    EXPECT_LE(relative_difference(s.by_id(v.x), s.exact), 1e-10);
  }
}

// With an M that does not vary, β of Polak and Ribière is that of CG.
TEST(FlexibleCg, HistoryIsTheTextbooksWithAFixedM) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  CgResult expected;
  expected.history = reference_history(s.reference, s.b, s.by_id(s.a.inverse_diagonal()), 20);
  expect_same_history(flexible_conjugate_gradients(s.a, m, s.plain(), flexible(s), {20}), expected,
                      1e-11);
}

TEST(FlexibleCg, TakesTheIterationsOfClassicCg) {
  for (const int order : {1, 4}) {
    const System s(MPI_COMM_WORLD, mixed_box(), order, 0.1);
    DiagonalPreconditioner m(s.a.inverse_diagonal());
    const CgResult found =
        flexible_conjugate_gradients(s.a, m, s.plain(), flexible(s), {500, 1e-8, 0, false});
    const CgResult expected = conjugate_gradients(s.a, s.jacobi(), s.vectors(), {500, 1e-8});
    ASSERT_TRUE(expected.converged);
    EXPECT_TRUE(found.converged);
    EXPECT_NEAR(found.iterations, expected.iterations, 1);
  }
}

// r is the residual of x at the end, and M gets its norm before each iteration.
TEST(FlexibleCg, ResidualIsTrue) {
  const System s(MPI_COMM_WORLD, mixed_box(), 4, 0.1);
  const FlexibleCgVectors v = flexible(s);
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  const CgResult result = flexible_conjugate_gradients(s.a, m, s.plain(), v, {15});
  EXPECT_EQ(result.iterations, 15);
  EXPECT_TRUE(result.converged);  // no tolerance
  const ById residual = s.b - s.reference.apply(s.by_id(v.x));
  EXPECT_LE(relative_difference(s.by_id(v.r), residual), 1e-11);
  EXPECT_NEAR(norm(residual), result.residual(), 1e-12 * norm(s.b));
  ASSERT_EQ(m.norms.size(), 15u);
  for (int i = 0; i < 15; ++i) EXPECT_EQ(m.norms[i], result.history[i]) << "iteration " << i;
}

// Directions are A-orthogonal to the one before although M varies: by Jacobi and by 1 in turn.
TEST(FlexibleCg, HistoryIsTheTextbooksWithAnMThatVaries) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  const ById ones(s.b.size(), 1), inverse_diagonal = s.by_id(s.a.inverse_diagonal());
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  m.every_second = to_assembled(s.space, s.reference.mesh(), ones);
  CgResult expected;
  ById r = s.b, p(r.size(), 0), ap = p;
  expected.history.push_back(norm(r));
  for (int iteration = 1; iteration <= 20; ++iteration) {
    ById z = r;
    if (iteration % 2 != 0)
      for (std::size_t i = 0; i < z.size(); ++i) z[i] *= inverse_diagonal[i];
    p = iteration == 1 ? z : z - dot(z, ap) / dot(p, ap) * p;
    ap = s.reference.apply(p);
    r = r - dot(p, r) / dot(p, ap) * ap;
    expected.history.push_back(norm(r));
  }
  expect_same_history(flexible_conjugate_gradients(s.a, m, s.plain(), flexible(s), {20}), expected,
                      1e-11);
}

TEST(FlexibleCg, IsTheSameIfTheCallerKnowsTheNormOfB) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  FlexibleCgOptions options{.iterations = 500, .tolerance = 1e-8};
  const CgResult expected = flexible_conjugate_gradients(s.a, m, s.plain(), flexible(s), options);
  options.b_dot_b = dot(s.b, s.b);
  const CgResult found = flexible_conjugate_gradients(s.a, m, s.plain(), flexible(s), options);
  EXPECT_EQ(found.iterations, expected.iterations);
  expect_same_history(found, expected, 1e-12);
}

TEST(FlexibleCg, BeginsFromAGuess) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  const FlexibleCgVectors v = flexible(s);
  const ById guess = s.exact + 1e-4 * s.reference.mesh().random(7);
  Kokkos::deep_copy(v.x, to_assembled(s.space, s.reference.mesh(), guess));
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  const CgResult result = flexible_conjugate_gradients(s.a, m, s.plain(), v, {500, 1e-10, 0, true});
  EXPECT_TRUE(result.converged);
  const double first = norm(s.b - s.reference.apply(guess));
  EXPECT_NEAR(result.history.front(), first, 1e-10 * first);
  // The tolerance is relative to b, not to the first residual.
  EXPECT_LE(result.residual(), 1e-10 * norm(s.b));
  EXPECT_GT(*(result.history.end() - 2), 1e-10 * norm(s.b));
  EXPECT_LE(relative_difference(s.by_id(v.x), s.exact), 1e-8);
  DiagonalPreconditioner again(s.a.inverse_diagonal());
  const CgResult from_zero =
      flexible_conjugate_gradients(s.a, again, s.plain(), flexible(s), {500, 1e-10, 0, false});
  EXPECT_LT(result.iterations, from_zero.iterations);
}

TEST(FlexibleCg, LeavesAnExactGuessAlone) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  const FlexibleCgVectors v = flexible(s);
  Kokkos::deep_copy(v.x, to_assembled(s.space, s.reference.mesh(), s.exact));
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  const CgResult result = flexible_conjugate_gradients(s.a, m, s.plain(), v, {500, 1e-8, 0, true});
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(s.by_id(v.x), s.exact);
}

// Otherwise x starts at zero, whatever it held.
TEST(FlexibleCg, IgnoresXWithoutAGuess) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  const FlexibleCgVectors clean = flexible(s), dirty = flexible(s);
  for (const auto& vector : {dirty.x, dirty.p})
    Kokkos::deep_copy(vector,
                      to_assembled(s.space, s.reference.mesh(), ById(s.b.size(), not_a_number)));
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  const CgResult expected = flexible_conjugate_gradients(s.a, m, s.plain(), clean, {10}),
                 found = flexible_conjugate_gradients(s.a, m, s.plain(), dirty, {10});
  ASSERT_EQ(found.history.size(), expected.history.size());
  for (std::size_t i = 0; i < expected.history.size(); ++i)
    EXPECT_NEAR(found.history[i], expected.history[i], 1e-12 * expected.history[0]);
  EXPECT_LE(relative_difference(s.by_id(dirty.x), s.by_id(clean.x)), 1e-12);
}

TEST(FlexibleCg, StopsAtTheLargerOfBothTolerances) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  const double size = norm(s.b);
  struct Case {
    double relative, absolute, target;
  };
  for (const auto& [relative, absolute, target] :
       {Case{0, 1e-5 * size, 1e-5 * size}, Case{1e-9, 1e-5 * size, 1e-5 * size},
        Case{1e-5, 1e-9 * size, 1e-5 * size}, Case{1e-5, 0, 1e-5 * size}}) {
    DiagonalPreconditioner m(s.a.inverse_diagonal());
    const CgResult result = flexible_conjugate_gradients(s.a, m, s.plain(), flexible(s),
                                                         {500, relative, absolute, false});
    EXPECT_TRUE(result.converged);
    EXPECT_LE(result.residual(), target);
    EXPECT_GT(*(result.history.end() - 2), target);
  }
}

TEST(FlexibleCg, DoesNothingIfBIsWithinTheAbsoluteTolerance) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  const FlexibleCgVectors v = flexible(s);
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  const CgResult result =
      flexible_conjugate_gradients(s.a, m, s.plain(), v, {500, 0, 1.01 * norm(s.b), false});
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(max_abs(s.by_id(v.x)), 0);
}

TEST(FlexibleCg, SaysWhenItDidNotConverge) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  std::vector<int> progress;
  const CgResult result =
      flexible_conjugate_gradients(s.a, m, s.plain(), flexible(s), {5, 1e-12, 0, false},
                                   [&](int iteration) { progress.push_back(iteration); });
  EXPECT_EQ(result.iterations, 5);
  EXPECT_FALSE(result.converged);
  EXPECT_FALSE(result.broke_down);
  EXPECT_EQ(progress, (std::vector<int>{1, 2, 3, 4, 5}));
}

// Without a tolerance, it goes on after the residual no longer falls.
TEST(FlexibleCg, RunsTheIterationsWithoutATolerance) {
  const System s(MPI_COMM_WORLD, mixed_box(), 2, 0.1);
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  for (const int iterations : {0, 1, 90}) {
    const FlexibleCgVectors v = flexible(s);
    const CgResult result = flexible_conjugate_gradients(s.a, m, s.plain(), v, {iterations});
    EXPECT_EQ(result.iterations, iterations);
    EXPECT_EQ(result.history.size(), iterations + 1u);
    EXPECT_TRUE(result.converged);
    EXPECT_FALSE(result.broke_down);
    if (iterations == 90) {
      EXPECT_LE(relative_difference(s.by_id(v.x), s.exact), 1e-12);
    }
  }
}

TEST(FlexibleCg, SolvesNothingForNothing) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  for (const double tolerance : {0.0, 1e-8}) {
    const FlexibleCgVectors v = flexible(s, ById(s.b.size(), 0));
    DiagonalPreconditioner m(s.a.inverse_diagonal());
    const CgResult result =
        flexible_conjugate_gradients(s.a, m, s.plain(), v, {20, tolerance, 0, false});
    EXPECT_EQ(result.iterations, 0);
    EXPECT_TRUE(result.converged);
    EXPECT_FALSE(result.broke_down);
    EXPECT_EQ(result.residual(), 0);
    EXPECT_EQ(max_abs(s.by_id(v.x)), 0);
  }
}

// Constants in b are outside the range of A.
TEST(FlexibleCg, SolvesTheSingularCaseByProjection) {
  const System s(MPI_COMM_WORLD, periodic_box(), 3, 0.0);
  ASSERT_TRUE(s.a.is_singular());
  ById b = s.b;
  for (double& value : b) value += 0.5;
  const FlexibleCgVectors v = flexible(s, b);
  DiagonalPreconditioner m(s.a.inverse_diagonal());
  remove_constants(s.comm, s.space, v.r);
  const CgResult result =
      flexible_conjugate_gradients(s.a, m, s.plain(), v, {500, 1e-12, 0, false});
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(result.history.front(), norm(s.b), 1e-11 * norm(s.b));
  const ById x = s.by_id(v.x);
  ById expected = s.exact;
  const double shift =
      mean_of_dofs(s.reference.mesh(), x) - mean_of_dofs(s.reference.mesh(), s.exact);
  for (double& value : expected) value += shift;
  EXPECT_LE(relative_difference(x, expected), 1e-10);
  const CgResult without = flexible_conjugate_gradients(s.a, m, s.plain(), flexible(s, b),
                                                        {2 * result.iterations, 1e-12, 0, false});
  EXPECT_FALSE(without.converged);
}

// The k-th application of M is broken, so k - 1 iterations are good. x and r are then theirs.
TEST(FlexibleCg, ReportsBreakdownOfThePreconditioner) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  for (const double broken : {not_a_number, -1.0, 0.0, std::numeric_limits<double>::infinity()})
    for (const double tolerance : {0.0, 1e-10})
      for (const int first : {1, 2, 5}) {
        SCOPED_TRACE(testing::Message() << "factor " << broken << " at " << first);
        DiagonalPreconditioner m(s.a.inverse_diagonal());
        m.factor = [&](int application) { return application < first ? 1 : broken; };
        const FlexibleCgVectors v = flexible(s);
        const CgResult result =
            flexible_conjugate_gradients(s.a, m, s.plain(), v, {50, tolerance, 0, false});
        EXPECT_TRUE(result.broke_down);
        EXPECT_FALSE(result.converged);
        EXPECT_EQ(result.iterations, first - 1);
        EXPECT_EQ(result.history.size(), std::size_t(first));
        const ById residual = s.b - s.reference.apply(s.by_id(v.x));
        EXPECT_NEAR(norm(residual), result.residual(), 1e-12 * norm(s.b));
      }
}

TEST(FlexibleCg, ReportsBreakdownOnAnIndefiniteMatrix) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, -1000.0);
  DiagonalPreconditioner m(to_assembled(s.space, s.reference.mesh(), ById(s.b.size(), 1)));
  const CgResult result =
      flexible_conjugate_gradients(s.a, m, s.plain(), flexible(s), {50, 1e-10, 0, false});
  EXPECT_TRUE(result.broke_down);
  EXPECT_FALSE(result.converged);
}

TEST(FlexibleCg, ReportsARightHandSideThatIsNotFinite) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  for (const double bad : {not_a_number, std::numeric_limits<double>::infinity(), 1e200})
    for (const double tolerance : {0.0, 1e-10}) {
      ById b = s.b;
      *std::find_if(b.begin(), b.end(), [](double value) { return value != 0; }) = bad;
      DiagonalPreconditioner m(s.a.inverse_diagonal());
      const CgResult result = flexible_conjugate_gradients(s.a, m, s.plain(), flexible(s, b),
                                                           {50, tolerance, 0, false});
      EXPECT_TRUE(result.broke_down) << bad;
      EXPECT_FALSE(result.converged) << bad;
      EXPECT_EQ(result.iterations, 0) << bad;
    }
}

}  // namespace
}  // namespace nekbone_k
