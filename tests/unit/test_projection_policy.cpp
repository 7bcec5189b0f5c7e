// SPDX-License-Identifier: BSD-3-Clause
#include "flow/projection_policy.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/number_archive.hpp"

namespace nekbone_k {
namespace {

constexpr int n_vectors = 5;
constexpr int solves_before_trial = 2 * n_vectors, solves_of_trial = 4,
              solves_of_pause = 20 * n_vectors;

/// Solves that take fewer iterations if they project, at a price.
struct Solves {
  double iterations_with, iterations_without;
  double price;  ///< of a projection, in iterations

  /// Solves n times, and returns for each whether it projected.
  std::vector<bool> run(ProjectionPolicy& policy, int n) const {
    const Communicator comm(MPI_COMM_SELF);
    std::vector<bool> projected;
    for (int i = 0; i < n; ++i) {
      const bool is_active = policy.is_active();
      FlowSolve solve;
      const double iterations = is_active ? iterations_with : iterations_without;
      // Half-iterations are those of every other solve.
      solve.iterations = static_cast<int>(iterations + (i % 2 == 0 ? 0.5 : 0));
      SolveCost cost;
      constexpr double iteration_seconds = 1e-3;
      cost.solve_seconds = (solve.iterations + 0.1) * iteration_seconds;
      if (is_active) {
        cost.projection_traffic = 100;
        cost.projection_seconds = price * iteration_seconds;
      }
      policy.count(comm, solve, cost);
      projected.push_back(is_active);
    }
    return projected;
  }
};

std::vector<bool> repeated(bool value, int n) { return std::vector<bool>(n, value); }

/// Has a policy for `most` vectors go on from another.
ProjectionPolicy gone_on(ProjectionPolicy& from, int most) {
  NumberArchive archive;
  from.archive("pressure", archive);
  archive.restores = true;
  ProjectionPolicy policy(most, false);
  policy.archive("pressure", archive);
  return policy;
}

TEST(ProjectionPolicy, KeepsAProjectionThatPays) {
  ProjectionPolicy policy(n_vectors, false);
  const Solves solves{.iterations_with = 2.5, .iterations_without = 6, .price = 2};
  EXPECT_EQ(solves.run(policy, solves_before_trial), repeated(true, solves_before_trial));
  EXPECT_EQ(solves.run(policy, solves_of_trial), repeated(false, solves_of_trial));
  EXPECT_FALSE(policy.is_paused());
  EXPECT_EQ(solves.run(policy, solves_of_pause), repeated(true, solves_of_pause))
      << "the next trial is later";
  EXPECT_EQ(solves.run(policy, solves_of_trial), repeated(false, solves_of_trial));
}

TEST(ProjectionPolicy, PausesOneThatCostsMore) {
  ProjectionPolicy policy(n_vectors, false);
  const Solves solves{.iterations_with = 2.5, .iterations_without = 6, .price = 5};
  solves.run(policy, solves_before_trial + solves_of_trial);
  EXPECT_TRUE(policy.is_paused());
  EXPECT_EQ(solves.run(policy, solves_of_pause), repeated(false, solves_of_pause));
  EXPECT_EQ(solves.run(policy, solves_before_trial), repeated(true, solves_before_trial))
      << "then it tries again";
  EXPECT_EQ(solves.run(policy, solves_of_trial), repeated(false, solves_of_trial));
  policy.begin();
  EXPECT_EQ(solves.run(policy, solves_before_trial), repeated(true, solves_before_trial));
}

TEST(ProjectionPolicy, TriesAgainAfterAPause) {
  ProjectionPolicy policy(n_vectors, false);
  Solves{.iterations_with = 2.5, .iterations_without = 3, .price = 5}.run(
      policy, solves_before_trial + solves_of_trial + solves_of_pause);
  // The price in iterations remains that of the first solves, but there is more to save.
  const Solves later{.iterations_with = 2.5, .iterations_without = 9, .price = 5};
  later.run(policy, solves_before_trial + solves_of_trial);
  EXPECT_FALSE(policy.is_paused());
  EXPECT_TRUE(policy.is_active());
}

TEST(ProjectionPolicy, WantsTheLeastSaving) {
  // It saves half an iteration more than it costs.
  const Solves solves{.iterations_with = 1, .iterations_without = 2, .price = 0.5};
  ProjectionPolicy any(n_vectors, false), with_margin(n_vectors, false, 1);
  solves.run(any, solves_before_trial + solves_of_trial);
  solves.run(with_margin, solves_before_trial + solves_of_trial);
  EXPECT_FALSE(any.is_paused());
  EXPECT_TRUE(with_margin.is_paused());
  with_margin.begin();
  const Solves more{.iterations_with = 1, .iterations_without = 4, .price = 0.5};
  more.run(with_margin, solves_before_trial + solves_of_trial);
  EXPECT_FALSE(with_margin.is_paused());
}

TEST(ProjectionPolicy, NeverPausesWithAlways) {
  ProjectionPolicy policy(n_vectors, true, 1);
  const Solves solves{.iterations_with = 6, .iterations_without = 6, .price = 9};
  EXPECT_EQ(solves.run(policy, solves_of_pause), repeated(true, solves_of_pause));
  EXPECT_FALSE(policy.is_timing());
}

TEST(ProjectionPolicy, ProjectsOnNoVectorsAtAll) {
  ProjectionPolicy policy(0, false);
  EXPECT_TRUE(policy.is_paused());
  const Solves solves{.iterations_with = 6, .iterations_without = 6, .price = 0};
  EXPECT_EQ(solves.run(policy, solves_of_pause), repeated(false, solves_of_pause));
}

// In a trial, in a pause, and between them.
TEST(ProjectionPolicy, GoesOnFromAnArchive) {
  const Solves solves{.iterations_with = 2.5, .iterations_without = 6, .price = 5};
  for (const int before :
       {solves_before_trial, solves_before_trial + 2, solves_before_trial + solves_of_trial + 3,
        solves_before_trial + solves_of_trial + solves_of_pause + 4}) {
    ProjectionPolicy saved(n_vectors, false);
    solves.run(saved, before);
    ProjectionPolicy restored = gone_on(saved, n_vectors);
    EXPECT_EQ(solves.run(restored, 2 * solves_of_pause), solves.run(saved, 2 * solves_of_pause))
        << before;
  }
}

TEST(ProjectionPolicy, BeginsAnewWithAnotherNumberOfVectors) {
  const Solves solves{.iterations_with = 2.5, .iterations_without = 6, .price = 5};
  for (const int other : {0, 2, 20}) {
    ProjectionPolicy saved(other, false), fresh(n_vectors, false);
    solves.run(saved, 3);
    ProjectionPolicy restored = gone_on(saved, n_vectors);
    EXPECT_EQ(solves.run(restored, 2 * solves_of_pause), solves.run(fresh, 2 * solves_of_pause))
        << other;
  }
}

}  // namespace
}  // namespace nekbone_k
