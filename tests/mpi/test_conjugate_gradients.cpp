// SPDX-License-Identifier: BSD-3-Clause
#include "solver/conjugate_gradients.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "operators/null_space.hpp"
#include "support/available_strategies.hpp"
#include "support/cg_system.hpp"

namespace nekbone_k {
namespace {

// The caller may know the products of b.
TEST(ConjugateGradients, IsTheSameWithGivenProducts) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  const FusedVectorOps ops = s.jacobi();
  const CgOptions options{500, 1e-8};
  const CgResult expected = conjugate_gradients(s.a, ops, s.vectors(), options);
  ById z = s.by_id(s.a.inverse_diagonal());
  for (std::size_t i = 0; i < z.size(); ++i) z[i] *= s.b[i];
  const CgResult found = conjugate_gradients(s.a, ops, s.vectors(), options, {},
                                             ResidualProducts{dot(s.b, s.b), dot(s.b, z)});
  EXPECT_EQ(found.iterations, expected.iterations);
  expect_same_history(found, expected, 1e-12);
}

TEST(ConjugateGradients, FindsTheKnownSolution) {
  for (const double lambda : {0.0, 1.0})
    for (const bool jacobi : {false, true}) {
      const System s(MPI_COMM_WORLD, mixed_box(), 3, lambda);
      const CgVectors v = s.vectors();
      const CgOptions options{1000, 1e-12};
      const CgResult result = conjugate_gradients(s.a, jacobi ? s.jacobi() : s.plain(), v, options);
      EXPECT_TRUE(result.converged);
      EXPECT_FALSE(result.broke_down);
      EXPECT_LT(result.iterations, options.iterations);
      EXPECT_EQ(result.history.size(), result.iterations + 1u);
      EXPECT_NEAR(result.history.front(), norm(s.b), 1e-12 * norm(s.b));
      EXPECT_LE(result.residual(), 1e-12 * result.history.front());
      // CG stops at the first residual below the tolerance.
      EXPECT_GT(*(result.history.end() - 2), 1e-12 * result.history.front());
      EXPECT_LE(relative_difference(s.by_id(v.x), s.exact), 1e-10);
    }
}

// r is the residual of x at the end.
TEST(ConjugateGradients, ResidualIsTrue) {
  const System s(MPI_COMM_WORLD, mixed_box(), 4, 0.1);
  const CgVectors v = s.vectors();
  const CgResult result = s.solve(v, {15, 0});
  ById residual = s.b;
  const ById ax = s.reference.apply(s.by_id(v.x));
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= ax[i];
  EXPECT_LE(relative_difference(s.by_id(v.r), residual), 1e-11);
  EXPECT_NEAR(norm(residual), result.residual(), 1e-12 * norm(s.b));
}

TEST(ConjugateGradients, HistoryIsTheTextbooks) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  CgResult expected;
  expected.history = reference_history(s.reference, s.b, ById(s.b.size(), 1), 20);
  expect_same_history(s.solve(s.vectors(), {20, 0}), expected, 1e-11);

  expected.history = reference_history(s.reference, s.b, s.by_id(s.a.inverse_diagonal()), 20);
  const CgResult jacobi = conjugate_gradients(s.a, s.jacobi(), s.vectors(), {20, 0});
  expect_same_history(jacobi, expected, 1e-11);
}

TEST(ConjugateGradients, HistoryAndSolutionDoNotDependOnTheRanks) {
  for (const bool jacobi : {false, true}) {
    const System together(MPI_COMM_WORLD, mixed_box(), 5, 0.1);
    const System alone(MPI_COMM_SELF, mixed_box(), 5, 0.1);
    const double tolerance = 1e-10;
    ById solutions[2];
    CgResult results[2];
    for (const System* s : {&together, &alone}) {
      const CgVectors v = s->vectors();
      const int which = s == &alone;
      results[which] =
          conjugate_gradients(s->a, jacobi ? s->jacobi() : s->plain(), v, {500, tolerance});
      EXPECT_TRUE(results[which].converged);
      solutions[which] = s->by_id(v.x);
    }
    expect_same_history(results[0], results[1], 1e-11);
    // The tolerance bounds residuals. The error is larger by at most the condition number.
    EXPECT_LE(relative_difference(solutions[0], solutions[1]), 10 * tolerance);
  }
}

TEST(ConjugateGradients, EveryStrategyGivesTheSameHistory) {
  for (const int order : {2, 3}) {
    System s(MPI_COMM_WORLD, mixed_box(), order, 0.1);
    std::optional<CgResult> expected;
    for (const Strategy& strategy : available_strategies(Communicator(MPI_COMM_WORLD))) {
      s.space.gs().select(strategy);
      const CgResult result = s.solve(s.vectors(), {25, 0});
      if (!expected) expected = result;
      SCOPED_TRACE(strategy.name);
      if (!is_host_device) {
        expect_same_history(result, *expected, 1e-11);
      } else {
        EXPECT_EQ(result.history, expected->history) << "order " << order;
      }
    }
  }
}

TEST(ConjugateGradients, FusedKernelsAndKokkosKernelsAgree) {
  const System s(MPI_COMM_WORLD, mixed_box(), 4, 0.1);
  for (const bool jacobi : {false, true}) {
    const CgVectors fused = s.vectors(), library = s.vectors();
    ConstDeviceVector<double> diagonal;
    if (jacobi) diagonal = s.a.inverse_diagonal();
    const CgResult from_fused =
        conjugate_gradients(s.a, FusedVectorOps(s.comm, s.range, diagonal), fused, {30, 0});
    const CgResult from_library = conjugate_gradients(
        s.a, KokkosKernelsVectorOps(s.comm, s.range, diagonal), library, {30, 0});
    expect_same_history(from_library, from_fused, 1e-12);
    EXPECT_LE(relative_difference(s.by_id(library.x), s.by_id(fused.x)), 1e-11);
  }
}

// With a large λ, the matrix is close to its diagonal mass matrix, which Jacobi inverts.
TEST(ConjugateGradients, JacobiSavesIterations) {
  const System s(MPI_COMM_WORLD, mixed_box(), 4, 1e6);
  const CgVectors v = s.vectors();
  const CgResult plain = s.solve(s.vectors(), {1000, 1e-10});
  const CgResult jacobi = conjugate_gradients(s.a, s.jacobi(), v, {1000, 1e-10});
  EXPECT_TRUE(plain.converged);
  EXPECT_TRUE(jacobi.converged);
  EXPECT_LT(5 * jacobi.iterations, plain.iterations);
  EXPECT_LE(relative_difference(s.by_id(v.x), s.exact), 1e-8);
}

TEST(ConjugateGradients, RunsExactlyTheIterationsWithoutATolerance) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  for (const int iterations : {0, 1, 17, 90}) {  // 90: far beyond convergence to rounding
    std::vector<int> progress;
    const CgVectors v = s.vectors();
    const CgResult result = conjugate_gradients(
        s.a, s.plain(), v, {iterations, 0}, [&](int iteration) { progress.push_back(iteration); });
    EXPECT_EQ(result.iterations, iterations);
    EXPECT_EQ(result.history.size(), iterations + 1u);
    EXPECT_TRUE(result.converged);
    EXPECT_FALSE(result.broke_down);
    ASSERT_EQ(progress.size(), static_cast<std::size_t>(iterations));
    for (int i = 0; i < iterations; ++i) EXPECT_EQ(progress[i], i + 1);
  }
}

// The recursive residual falls until its square underflows.
TEST(ConjugateGradients, RunsExactlyTheIterationsPastUnderflow) {
  const System s(MPI_COMM_WORLD, mixed_box(), 1, 1.0);
  const CgVectors v = s.vectors();
  const CgResult result = s.solve(v, {100, 0});
  EXPECT_EQ(result.iterations, 100);
  EXPECT_TRUE(result.converged);
  EXPECT_FALSE(result.broke_down);
  EXPECT_LE(relative_difference(s.by_id(v.x), s.exact), 1e-12);
}

TEST(ConjugateGradients, SaysWhenItDidNotConverge) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  const CgResult result = s.solve(s.vectors(), {5, 1e-12});
  EXPECT_EQ(result.iterations, 5);
  EXPECT_FALSE(result.converged);
  EXPECT_FALSE(result.broke_down);
}

TEST(ConjugateGradients, SolvesNothingForNothing) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  for (const CgOptions options : {CgOptions{20, 0}, CgOptions{20, 1e-8}}) {
    const CgVectors v = s.vectors(ById(s.b.size(), 0));
    const CgResult result = s.solve(v, options);
    EXPECT_EQ(result.iterations, options.tolerance > 0 ? 0 : 20);
    EXPECT_TRUE(result.converged);
    EXPECT_FALSE(result.broke_down);
    EXPECT_EQ(result.residual(), 0);
    EXPECT_EQ(max_abs(s.by_id(v.x)), 0);
  }
}

double mean(const ById& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// The part of b along constants is outside the range of A, so it is removed first. The part of x
// along constants is arbitrary.
TEST(ConjugateGradients, SolvesTheSingularCaseByProjection) {
  const System s(MPI_COMM_WORLD, periodic_box(), 3, 0.0);
  ASSERT_TRUE(s.a.is_singular());
  ById b = s.b;
  for (double& value : b) value += 0.5;
  const CgVectors v = s.vectors(b);
  remove_constants(s.comm, s.space, v.r);
  const CgResult result = conjugate_gradients(s.a, s.plain(), v, {1000, 1e-12});
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(result.history.front(), norm(s.b), 1e-11 * norm(s.b));
  ById x = s.by_id(v.x), exact = s.exact;
  const double shift = mean(x) - mean(exact);
  for (double& value : x) value -= shift;
  EXPECT_LE(relative_difference(x, exact), 1e-10);

  const CgVectors again = s.vectors(b);
  EXPECT_FALSE(s.solve(again, {2 * result.iterations, 1e-12}).converged) << "without projection";
}

TEST(ConjugateGradients, RemovesConstantsFromDofsNotFromPadding) {
  const System s(MPI_COMM_WORLD, periodic_box(), 3, 0.0);
  const auto vector = to_assembled(s.space, s.reference.mesh(), s.exact);
  remove_constants(s.comm, s.space, vector);
  ById expected = s.exact;
  for (double& value : expected) value -= mean(s.exact);
  EXPECT_LE(relative_difference(s.by_id(vector), expected), 1e-14);
}

// Spoils the result of A after some applications.
struct Spoiled {
  enum class How { nan_product, nan_vector, negative };

  double apply(const DeviceVector<double>& p, const DeviceVector<double>& ap,
               const EntryWork& before) const {
    double p_dot_ap = a.apply(p, ap, before);
    if (++applications < first) return p_dot_ap;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (how == How::nan_product) p_dot_ap = nan;
    // Only one rank is affected, but all must stop.
    const bool here = a.space().gs().communicator().rank() == 0;
    if (how == How::nan_vector && here && ap.extent(0) > 0)
      Kokkos::deep_copy(Kokkos::subview(ap, ap.extent(0) - 1), nan);
    if (how == How::negative) p_dot_ap = -p_dot_ap;
    return p_dot_ap;
  }

  const EllipticOperator& a;
  How how;
  int first;
  mutable int applications = 0;
};

TEST(ConjugateGradients, ReportsBreakdownOfTheOperator) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  for (const auto how :
       {Spoiled::How::nan_product, Spoiled::How::nan_vector, Spoiled::How::negative})
    for (const double tolerance : {0.0, 1e-10})
      for (const int first : {1, 4}) {
        const Spoiled spoiled{s.a, how, first};
        const CgResult result =
            conjugate_gradients(spoiled, s.plain(), s.vectors(), {50, tolerance});
        EXPECT_TRUE(result.broke_down);
        EXPECT_FALSE(result.converged);
        // A NaN in the vector shows only in the next residual.
        EXPECT_EQ(result.iterations, how == Spoiled::How::nan_vector ? first : first - 1);
        EXPECT_EQ(result.history.size(), result.iterations + 1u);
      }
}

TEST(ConjugateGradients, ReportsBreakdownOnAnIndefiniteMatrix) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, -1000.0);
  const CgResult result = s.solve(s.vectors(), {50, 1e-10});
  EXPECT_TRUE(result.broke_down);
  EXPECT_FALSE(result.converged);
}

TEST(ConjugateGradients, ReportsBreakdownOfThePreconditioner) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  const auto negative = s.a.inverse_diagonal();
  std::vector<double> values = to_host(negative);
  for (double& value : values) value = -value;
  const FusedVectorOps ops(s.comm, s.range, to_device("negative", values));
  for (const double tolerance : {0.0, 1e-10}) {
    const CgResult result = conjugate_gradients(s.a, ops, s.vectors(), {50, tolerance});
    EXPECT_TRUE(result.broke_down);
    EXPECT_FALSE(result.converged);
  }
}

TEST(ConjugateGradients, ReportsARightHandSideThatIsNotFinite) {
  const System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e200})
    for (const double tolerance : {0.0, 1e-10}) {
      ById b = s.b;
      *std::find_if(b.begin(), b.end(), [](double value) { return value != 0; }) = bad;
      const CgResult result = s.solve(s.vectors(b), {50, tolerance});
      EXPECT_TRUE(result.broke_down) << bad << ", tolerance " << tolerance;
      EXPECT_FALSE(result.converged) << bad << ", tolerance " << tolerance;
      EXPECT_EQ(result.iterations, 0) << bad << ", tolerance " << tolerance;
    }
}

}  // namespace
}  // namespace nekbone_k
