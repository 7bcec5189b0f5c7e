// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/coarse_solver.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "multigrid/dense_problem.hpp"
#include "support/plain_levels.hpp"
#include "support/typed_vectors.hpp"

namespace nekbone_k {
namespace {

using Flags = std::array<bool, 3>;
using Elements = std::array<int, 3>;

MeshSpec coarse_box(const Elements& elements, const Flags& flags,
                    Deformation deformation = Deformation::sine) {
  MeshSpec spec;
  spec.elements = elements;
  spec.extent = {2, 1, 1.5};
  spec.periodic = flags;
  spec.deformation = deformation;
  return spec;
}

struct FineSpace {
  FineSpace(MPI_Comm parent, const MeshSpec& spec, int order,
            Summation summation = Summation::ordinary)
      : comm(parent),
        mesh(spec, order),
        space(comm, BoxMesh(spec, order, comm.size(), comm.rank()), summation) {}

  template <class T>
  ById solve(const CoarseSolver<T>& solver, const ById& r) const {
    const auto z = nan_vector<T>(space, mesh);
    solver.restrict_here(to_assembled_of<T>(space, mesh, r));
    solver.sum_over_ranks();
    solver.finish(z);
    return to_ids_of(comm, space, mesh, z);
  }

  Communicator comm;
  ReferenceMesh mesh;
  AssembledSpace space;
};

template <class T>
CoarseSolver<T> dense_solver(const FineSpace& fine, const LevelPlan& coarse, double lambda,
                             double scale) {
  return {fine.comm, fine.space, coarse, std::make_unique<DenseProblem<T>>(coarse, lambda, scale)};
}

template <class T>
class CoarseSolverOf : public testing::Test {
 protected:
  // The condition number of the coarsest operator multiplies rounding.
  static constexpr double tolerance = 1e4 * std::numeric_limits<T>::epsilon();

  static void expect_equals_dense_solve(const FineSpace& fine, const LevelPlan& coarse,
                                        double lambda, double scale) {
    const ReferenceOperator a(coarse.mesh, coarse.order, lambda);
    const DenseSolve dense(a, lambda == 0 && coarse.mesh.fully_periodic());
    const PlainInterpolation p(a.mesh(), fine.mesh);
    const CoarseSolver<T> solver = dense_solver<T>(fine, coarse, lambda, scale);
    EXPECT_EQ(solver.problem().ids.size(), static_cast<std::size_t>(coarse.total_dofs()));
    for (const unsigned seed : {1u, 2u}) {
      const ById r = fine.mesh.random(seed);
      EXPECT_LE(relative_difference(fine.solve(solver, r),
                                    (1 / scale) * p.prolong(dense.solve(p.restrict_to(r)))),
                tolerance);
    }
  }
};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(CoarseSolverOf, ValueTypes);

// The coarsest level has a lower order, a coarser mesh or both, singular or not.
TYPED_TEST(CoarseSolverOf, EqualsADenseSolve) {
  struct Case {
    Elements fine, coarse;
    int high, low;
  };
  for (const Case& c : {Case{{3, 3, 2}, {3, 3, 2}, 3, 1}, Case{{3, 3, 2}, {2, 2, 1}, 1, 2},
                        Case{{7, 1, 1}, {2, 1, 1}, 3, 3}, Case{{4, 2, 2}, {2, 1, 1}, 1, 1}})
    for (const Flags& flags : {all_periodic, mixed_ends, all_dirichlet})
      for (const double lambda : {0.0, 10.0})
        for (const Summation summation : {Summation::ordinary, Summation::deterministic}) {
          const LevelPlan coarse{c.low, coarse_box(c.coarse, flags)};
          if (coarse.total_dofs() == 0) continue;
          SCOPED_TRACE(fmt::format("{} elements in x, order {}, periodic {}{}{}, lambda {}",
                                   c.coarse[0], c.low, flags[0], flags[1], flags[2], lambda));
          const FineSpace fine(MPI_COMM_WORLD, coarse_box(c.fine, flags), c.high, summation);
          this->expect_equals_dense_solve(fine, coarse, lambda, 4.0);
        }
}

// A z = r if both levels are one.
TYPED_TEST(CoarseSolverOf, InvertsTheOperatorOfItsLevel) {
  const MeshSpec spec = coarse_box({3, 3, 2}, mixed_ends);
  const FineSpace fine(MPI_COMM_WORLD, spec, 2);
  const ReferenceOperator a(spec, 2, 0);
  const CoarseSolver<TypeParam> solver = dense_solver<TypeParam>(fine, {2, spec}, 0, 1);
  const ById r = fine.mesh.random(1);
  EXPECT_LE(relative_difference(a.apply(fine.solve(solver, r)), r), this->tolerance);
}

TYPED_TEST(CoarseSolverOf, RemovesTheMeanOfASingularProblem) {
  const MeshSpec spec = coarse_box({3, 3, 2}, all_periodic);
  const FineSpace fine(MPI_COMM_WORLD, spec, 2);
  const ReferenceOperator a(spec, 2, 0);
  const CoarseSolver<TypeParam> solver = dense_solver<TypeParam>(fine, {2, spec}, 0, 1);
  ById r = fine.mesh.random(1);
  for (double& value : r) value += 0.5;
  const ById z = fine.solve(solver, r);
  EXPECT_NEAR(mean_of_dofs(fine.mesh, z), 0, this->tolerance * max_abs(z));
  const double mean = mean_of_dofs(fine.mesh, r);
  for (double& value : r) value -= mean;
  EXPECT_LE(relative_difference(a.apply(z), r), this->tolerance);
}

// One DOF, on which the operator is zero.
TYPED_TEST(CoarseSolverOf, ReturnsZeroOnConstantsAlone) {
  const FineSpace fine(MPI_COMM_WORLD, coarse_box({2, 2, 2}, all_periodic), 1);
  const CoarseSolver<TypeParam> solver =
      dense_solver<TypeParam>(fine, {1, coarse_box({1, 1, 1}, all_periodic)}, 0, 1);
  EXPECT_EQ(solver.problem().ids.size(), 1u);
  EXPECT_LE(max_abs(fine.solve(solver, fine.mesh.random(1))),
            std::numeric_limits<TypeParam>::epsilon());
}

TYPED_TEST(CoarseSolverOf, HasTheSameBitsOnAnyRanksOfADeterministicSpace) {
  const MeshSpec spec = coarse_box({4, 3, 2}, mixed_ends);
  const LevelPlan coarse{1, coarse_box({2, 2, 1}, mixed_ends)};
  const FineSpace together(MPI_COMM_WORLD, spec, 3, Summation::deterministic),
      alone(MPI_COMM_SELF, spec, 3, Summation::deterministic);
  const CoarseSolver<TypeParam> of_all = dense_solver<TypeParam>(together, coarse, 0, 1),
                                of_one = dense_solver<TypeParam>(alone, coarse, 0, 1);
  const ById r = alone.mesh.random(3);
  EXPECT_EQ(together.solve(of_all, r), alone.solve(of_one, r));
}

TYPED_TEST(CoarseSolverOf, RejectsAnOperatorThatIsNotPositiveDefinite) {
  const MeshSpec spec = coarse_box({3, 3, 2}, mixed_ends);
  const FineSpace fine(MPI_COMM_WORLD, spec, 1);
  EXPECT_THROW(dense_solver<TypeParam>(fine, {1, spec}, -1000, 1), InternalError);
}

}  // namespace
}  // namespace nekbone_k
