// SPDX-License-Identifier: BSD-3-Clause
#include "flow/projection_policy.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace nekbone_k {
namespace {

constexpr int most = 5;
constexpr int first_trial = 2 * most, trial = 4, pause = 20 * most;

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

// Keeps what a policy passes.
class MapArchive final : public FlowArchive {
 public:
  bool restores = false;
  void number(const std::string& name, double& value) override {
    if (restores)
      value = m_numbers.at(name);
    else
      m_numbers[name] = value;
  }
  void numbers(const std::string&, std::vector<double>&) override {}
  void field(const std::string&, const DeviceVector<double>&) override {}

 private:
  std::map<std::string, double> m_numbers;
};

TEST(ProjectionPolicy, KeepsAProjectionThatPays) {
  ProjectionPolicy policy(most, false);
  const Solves solves{.iterations_with = 2.5, .iterations_without = 6, .price = 2};
  EXPECT_EQ(solves.run(policy, first_trial), repeated(true, first_trial));
  EXPECT_EQ(solves.run(policy, trial), repeated(false, trial));
  EXPECT_FALSE(policy.is_paused());
  EXPECT_EQ(solves.run(policy, pause), repeated(true, pause)) << "the next trial is later";
  EXPECT_EQ(solves.run(policy, trial), repeated(false, trial));
}

TEST(ProjectionPolicy, PausesOneThatCostsMore) {
  ProjectionPolicy policy(most, false);
  const Solves solves{.iterations_with = 2.5, .iterations_without = 6, .price = 5};
  solves.run(policy, first_trial + trial);
  EXPECT_TRUE(policy.is_paused());
  EXPECT_EQ(solves.run(policy, pause), repeated(false, pause));
  EXPECT_EQ(solves.run(policy, first_trial), repeated(true, first_trial)) << "then it tries again";
  EXPECT_EQ(solves.run(policy, trial), repeated(false, trial));
  policy.begin();
  EXPECT_EQ(solves.run(policy, first_trial), repeated(true, first_trial));
}

TEST(ProjectionPolicy, TriesAgainAfterAPause) {
  ProjectionPolicy policy(most, false);
  Solves{.iterations_with = 2.5, .iterations_without = 3, .price = 5}.run(
      policy, first_trial + trial + pause);
  // The price in iterations remains that of the first solves, but there is more to save.
  const Solves later{.iterations_with = 2.5, .iterations_without = 9, .price = 5};
  later.run(policy, first_trial + trial);
  EXPECT_FALSE(policy.is_paused());
  EXPECT_TRUE(policy.is_active());
}

TEST(ProjectionPolicy, WantsTheLeastSaving) {
  // It saves half an iteration more than it costs.
  const Solves solves{.iterations_with = 1, .iterations_without = 2, .price = 0.5};
  ProjectionPolicy any(most, false), with_margin(most, false, 1);
  solves.run(any, first_trial + trial);
  solves.run(with_margin, first_trial + trial);
  EXPECT_FALSE(any.is_paused());
  EXPECT_TRUE(with_margin.is_paused());
  with_margin.begin();
  const Solves more{.iterations_with = 1, .iterations_without = 4, .price = 0.5};
  more.run(with_margin, first_trial + trial);
  EXPECT_FALSE(with_margin.is_paused());
}

TEST(ProjectionPolicy, NeverPausesWithAlways) {
  ProjectionPolicy policy(most, true, 1);
  const Solves solves{.iterations_with = 6, .iterations_without = 6, .price = 9};
  EXPECT_EQ(solves.run(policy, pause), repeated(true, pause));
  EXPECT_FALSE(policy.is_timing());
}

TEST(ProjectionPolicy, ProjectsOnNoVectorsAtAll) {
  ProjectionPolicy policy(0, false);
  EXPECT_TRUE(policy.is_paused());
  const Solves solves{.iterations_with = 6, .iterations_without = 6, .price = 0};
  EXPECT_EQ(solves.run(policy, pause), repeated(false, pause));
}

// In a trial, in a pause, and between them.
TEST(ProjectionPolicy, GoesOnFromAnArchive) {
  const Solves solves{.iterations_with = 2.5, .iterations_without = 6, .price = 5};
  for (const int before :
       {first_trial, first_trial + 2, first_trial + trial + 3, first_trial + trial + pause + 4}) {
    ProjectionPolicy saved(most, false), restored(most, false);
    solves.run(saved, before);
    MapArchive archive;
    saved.archive("pressure", archive);
    archive.restores = true;
    restored.archive("pressure", archive);
    EXPECT_EQ(solves.run(restored, 2 * pause), solves.run(saved, 2 * pause)) << before;
  }
}

TEST(ProjectionPolicy, BeginsAnewWithAnotherNumberOfVectors) {
  const Solves solves{.iterations_with = 2.5, .iterations_without = 6, .price = 5};
  for (const int other : {0, 2, 20}) {
    ProjectionPolicy saved(other, false), restored(most, false), fresh(most, false);
    solves.run(saved, 3);
    MapArchive archive;
    saved.archive("pressure", archive);
    archive.restores = true;
    restored.archive("pressure", archive);
    EXPECT_EQ(solves.run(restored, 2 * pause), solves.run(fresh, 2 * pause)) << other;
  }
}

}  // namespace
}  // namespace nekbone_k
