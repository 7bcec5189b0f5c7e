// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/multigrid.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "operators/null_space.hpp"
#include "solver/flexible_cg.hpp"
#include "support/available_strategies.hpp"
#include "support/plain_levels.hpp"
#include "support/typed_vectors.hpp"

namespace nekbone_k {
namespace {

using Flags = std::array<bool, 3>;
using Elements = std::array<int, 3>;

/// A box of cubic elements.
MeshSpec cycle_box(const Elements& elements, const Flags& flags,
                   Deformation deformation = Deformation::none) {
  MeshSpec spec;
  spec.elements = elements;
  for (int d = 0; d < 3; ++d) spec.extent[d] = elements[d] / 4.0;
  spec.periodic = flags;
  spec.deformation = deformation;
  return spec;
}

/// A problem and its V-cycle on a communicator.
template <class T>
struct Cycled {
  Cycled(MPI_Comm parent, const MeshSpec& spec, int order, double lambda,
         const MultigridOptions& options = {}, Summation summation = Summation::ordinary)
      : comm(parent),
        reference(spec, order, lambda),
        space(comm, BoxMesh(spec, order, comm.size(), comm.rank()), summation),
        factors(space),
        a(space, factors, lambda),
        m(comm, space, factors, lambda, options) {}

  const ReferenceMesh& mesh() const { return reference.mesh(); }
  /// M r by id. Collective.
  ById apply(const ById& r) {
    const auto z = nan_vector<double>(space, mesh());
    m.apply(to_assembled(space, mesh(), r), z, std::sqrt(dot(r, r)));
    return to_ids(comm, space, mesh(), z);
  }
  /// Collective.
  CgResult solve(const ById& b, ById* solution = nullptr) {
    const FlexibleCgVectors v{{space.make_vector("x"), to_assembled(space, mesh(), b),
                               space.make_vector("p"), space.make_vector("Ap")},
                              space.make_vector("z")};
    if (a.is_singular()) remove_constants(comm, space, v.r);
    const CgResult result = flexible_conjugate_gradients(a, m, fused_ops(comm, space, {}), v,
                                                         {.iterations = 100, .tolerance = 1e-8});
    if (solution) *solution = to_ids(comm, space, mesh(), v.x);
    return result;
  }
  /// A right-hand side in the range of A.
  ById right_hand_side(unsigned seed = 1) const {
    ById b = mesh().random(seed);
    if (!a.is_singular()) return b;
    const double mean = mean_of_dofs(mesh(), b);
    for (double& value : b) value -= mean;
    return b;
  }
  /// Solves, checks the residual of the solution by plain loops, and returns the iterations.
  int iterations() {
    const ById b = right_hand_side();
    ById x;
    const CgResult result = solve(b, &x);
    EXPECT_TRUE(result.converged);
    const ById residual = b - reference.apply(x);
    EXPECT_LE(std::sqrt(dot(residual, residual) / dot(b, b)), 1.01e-8);
    return result.iterations;
  }

  Communicator comm;
  ReferenceOperator reference;
  AssembledSpace space;
  GeometricFactors factors;
  EllipticOperator a;
  Multigrid<T> m;
};

/// Iterations on all ranks, which have to equal those on one.
template <class T>
int count_iterations(const MeshSpec& spec, int order, double lambda,
                     const MultigridOptions& options = {}) {
  const int together = Cycled<T>(MPI_COMM_WORLD, spec, order, lambda, options).iterations();
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return together;
  std::int64_t alone = 0;
  if (comm.is_root()) alone = Cycled<T>(MPI_COMM_SELF, spec, order, lambda, options).iterations();
  EXPECT_EQ(together, comm.broadcast(alone)) << "on one rank";
  return together;
}

// ---- The V-cycle itself ------------------------------------------------------------------------

/// The V-cycle by plain loops.
class PlainCycle {
 public:
  template <class T>
  PlainCycle(const Multigrid<T>& m, double lambda, const MultigridOptions& options)
      : m_coarsest(m.coarsest().mesh, m.coarsest().order, lambda),
        m_solve(m_coarsest, lambda == 0 && m_coarsest.mesh().spec().fully_periodic()) {
    const auto add = [&](const auto& levels) {
      for (const auto& level : levels) {
        Level& made = m_levels.emplace_back();
        made.a = std::make_unique<ReferenceOperator>(level.plan.mesh, level.plan.order, lambda);
        made.inverse_diagonal = ScaledOperator(*made.a).inverse_diagonal;
        made.steps = chebyshev_steps(options.polynomial, options.degree, level.lambda_max);
      }
    };
    add(m.levels());
    if (m.replicated() != nullptr) add(m.replicated()->levels());
    for (std::size_t l = 0; l < m_levels.size(); ++l)
      m_levels[l].to_coarser = std::make_unique<PlainInterpolation>(
          l + 1 < m_levels.size() ? m_levels[l + 1].a->mesh() : m_coarsest.mesh(),
          m_levels[l].a->mesh());
  }

  ById operator()(const ById& b, std::size_t l = 0) const {
    const Level& level = m_levels[l];
    ById x(b.size(), 0);
    smooth(level, b, x);
    const ById r = level.to_coarser->restrict_to(b - level.a->apply(x));
    x = x +
        level.to_coarser->prolong(l + 1 < m_levels.size() ? (*this)(r, l + 1) : m_solve.solve(r));
    smooth(level, b, x);
    return x;
  }

 private:
  struct Level {
    std::unique_ptr<ReferenceOperator> a;
    ById inverse_diagonal;
    std::vector<ChebyshevStep> steps;
    std::unique_ptr<PlainInterpolation> to_coarser;
  };
  static void smooth(const Level& level, const ById& b, ById& x) {
    ById r = b - level.a->apply(x), z(b.size(), 0);
    for (const ChebyshevStep& step : level.steps) {
      for (std::size_t i = 0; i < z.size(); ++i)
        z[i] = step.direction * z[i] + step.residual * level.inverse_diagonal[i] * r[i];
      x = x + step.solution * z;
      r = r - level.a->apply(z);
    }
  }

  ReferenceOperator m_coarsest;
  DenseSolve m_solve;
  std::vector<Level> m_levels;
};

template <class T>
class MultigridOf : public testing::Test {
 protected:
  static constexpr double epsilon = std::numeric_limits<T>::epsilon();
  /// Three levels in order, and two meshes below them.
  static MultigridOptions small_coarsest() { return {.orders = {}, .coarse_dofs = 1}; }
};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(MultigridOf, ValueTypes);

TYPED_TEST(MultigridOf, EqualsThePlainCycle) {
  struct Case {
    MeshSpec spec;
    int order;
    double lambda;
    MultigridOptions options;
  };
  for (const Case& c :
       {Case{cycle_box({2, 2, 2}, mixed_ends, Deformation::sine),
             4,
             0.0,
             {.orders = {}, .coarse_dofs = 1}},
        Case{cycle_box({4, 3, 2}, all_periodic, Deformation::sine),
             2,
             0.0,
             {.orders = {}, .degree = 2, .coarse_dofs = 1}},
        Case{cycle_box({3, 3, 3}, all_dirichlet),
             3,
             5.0,
             {.orders = {3, 2}, .polynomial = ChebyshevKind::first, .coarse_dofs = 30}},
        Case{cycle_box({7, 1, 1}, all_periodic),
             3,
             1.0,
             {.orders = {}, .polynomial = ChebyshevKind::fourth, .degree = 1, .coarse_dofs = 1}}}) {
    SCOPED_TRACE(fmt::format("order {}, lambda {}", c.order, c.lambda));
    Cycled<TypeParam> s(MPI_COMM_WORLD, c.spec, c.order, c.lambda, c.options);
    const PlainCycle expected(s.m, c.lambda, c.options);
    const std::size_t replicated = s.m.replicated() ? s.m.replicated()->levels().size() : 0;
    EXPECT_GE(s.m.levels().size() + replicated, 2u);
    for (const unsigned seed : {1u, 2u}) {
      const ById r = s.right_hand_side(seed);
      EXPECT_LE(relative_difference(s.apply(r), expected(r)), 2e3 * this->epsilon);
    }
  }
}

// A GPU launches the kernels of the first call, and replays recorded ones later.
TYPED_TEST(MultigridOf, GivesTheSameIfKernelsAreReplayed) {
  constexpr Precision precision = precision_of<TypeParam>;
  const MultigridOptions options{.orders = {}, .degree = 2, .coarse_dofs = 60};
  const MeshSpec spec = cycle_box({6, 4, 4}, all_periodic, Deformation::sine);
  MultigridOptions other = options;
  other.degree = 3;
  const Communicator comm(MPI_COMM_WORLD);
  for (const Strategy& strategy : available_strategies(comm)) {
    if (strategy.name != first_strategy().name && strategy.name != "peer-memory") continue;
    SCOPED_TRACE(strategy.name);
    Cycled<TypeParam> s(MPI_COMM_WORLD, spec, 3, 2.0, options);
    const PlainCycle of_options(s.m, 2.0, options), of_other(s.m, 2.0, other);
    bool is_queued = KernelGraph::is_available;
    for (auto& level : s.m.levels()) {
      level.space->gs().select({1, precision}, strategy);
      for (GatherScatter* const gs : level.other_gs()) gs->select({1, precision}, strategy);
      is_queued = level.is_queued() && is_queued;
    }
    const auto in = s.space.make_vector("r"), out = s.space.make_vector("z");
    const auto expect_cycle = [&](unsigned seed, const PlainCycle& cycle) {
      const ById r = s.right_hand_side(seed);
      Kokkos::deep_copy(in, to_assembled(s.space, s.mesh(), r));
      s.m.apply(in, out, std::sqrt(dot(r, r)));
      EXPECT_LE(relative_difference(to_ids(s.comm, s.space, s.mesh(), out), cycle(r)),
                2e3 * this->epsilon)
          << "seed " << seed;
    };
    for (const unsigned seed : {1u, 2u, 3u}) expect_cycle(seed, of_options);
    EXPECT_EQ(s.m.is_recorded(), is_queued);
    // Recorded kernels have the old polynomial, and the exchange of the old strategy.
    s.m.set_polynomial(other.polynomial, other.degree);
    for (const unsigned seed : {4u, 5u, 6u}) expect_cycle(seed, of_other);
    s.m.levels().back().space->gs().select({1, precision}, first_strategy());
    EXPECT_FALSE(s.m.is_recorded());
    for (const unsigned seed : {7u, 8u, 9u}) expect_cycle(seed, of_other);
    s.m.set_recording(false);
    expect_cycle(10, of_other);
    s.m.check();
  }
}

// Small levels, and those with fewer elements than ranks, are on every rank.
TYPED_TEST(MultigridOf, EqualsThePlainCycleWithReplicatedLevels) {
  struct Case {
    MeshSpec spec;
    int order;
    double lambda;
    int replicated_dofs;
    std::size_t divided, replicated;  // levels with several ranks
  };
  MeshSpec small = cycle_box({7, 2, 1}, all_periodic);
  small.extent = {1e-3, 1e-3, 1e-3};  // scaled in single precision
  for (const Case& c :
       {Case{cycle_box({6, 4, 4}, all_periodic, Deformation::sine), 3, 0.0, 1000, 1, 2},
        Case{cycle_box({6, 4, 4}, mixed_ends), 3, 5.0, 100, 1, 1}, Case{small, 2, 0.0, 1000, 1, 1},
        Case{cycle_box({8, 4, 4}, all_periodic, Deformation::sine), 2, 1.0, 20, 2, 1}}) {
    SCOPED_TRACE(fmt::format("order {}, lambda {}", c.order, c.lambda));
    MultigridOptions options{.orders = {}, .degree = 2, .coarse_dofs = 10};
    options.replicated_dofs = c.replicated_dofs;
    Cycled<TypeParam> s(MPI_COMM_WORLD, c.spec, c.order, c.lambda, options);
    const PlainCycle expected(s.m, c.lambda, options);
    for (const unsigned seed : {1u, 2u, 3u}) {
      const ById r = s.right_hand_side(seed);
      EXPECT_LE(relative_difference(s.apply(r), expected(r)), 2e3 * this->epsilon);
    }
    if (s.comm.size() == 1) {
      EXPECT_EQ(s.m.replicated(), nullptr);
      continue;
    }
    ASSERT_NE(s.m.replicated(), nullptr);
    EXPECT_EQ(s.m.levels().size(), c.divided);
    EXPECT_EQ(s.m.replicated()->levels().size(), c.replicated);
    // Parts of a cycle, as they are timed.
    for (std::size_t level = c.divided; level <= c.divided + c.replicated; ++level)
      s.m.cycle(level);
  }
}

TYPED_TEST(MultigridOf, IsLinearAndSelfAdjoint) {
  for (const double lambda : {0.0, 1.0}) {
    Cycled<TypeParam> s(MPI_COMM_WORLD, cycle_box({3, 3, 2}, mixed_ends, Deformation::sine), 5,
                        lambda, this->small_coarsest());
    const ById r = s.right_hand_side(1), other = s.right_hand_side(2);
    const ById of_r = s.apply(r), of_other = s.apply(other);
    const ById expected = of_r - 1e3 * of_other;
    EXPECT_LE(relative_difference(s.apply(r - 1e3 * other), expected), 200 * this->epsilon);
    const double energy = std::sqrt(dot(r, of_r) * dot(other, of_other));
    EXPECT_NEAR(dot(other, of_r), dot(r, of_other), 200 * this->epsilon * energy);
    EXPECT_GT(dot(r, of_r), 0);
  }
}

TYPED_TEST(MultigridOf, LeavesTheResidualAlone) {
  Cycled<TypeParam> s(MPI_COMM_WORLD, cycle_box({3, 3, 2}, mixed_ends), 3, 1.0);
  const ById r = s.right_hand_side();
  const auto vector = to_assembled(s.space, s.mesh(), r), z = s.space.make_vector("z");
  s.m.apply(vector, z, 1);
  EXPECT_EQ(to_ids(s.comm, s.space, s.mesh(), vector), r);
}

// The last level, solved directly, equals the first, so smoothing changes nothing.
TYPED_TEST(MultigridOf, IsTheInverseIfBothLevelsAreOne) {
  const MultigridOptions options{.orders = {2}, .coarse_dofs = 1'000'000'000};
  for (const double lambda : {0.0, 1.0}) {
    Cycled<TypeParam> s(MPI_COMM_WORLD, cycle_box({3, 3, 2}, mixed_ends, Deformation::sine), 2,
                        lambda, options);
    ASSERT_EQ(s.m.levels().size(), 1u);
    EXPECT_EQ(s.m.coarsest().order, 2);
    const ById exact = s.mesh().random(3);
    EXPECT_LE(relative_difference(s.apply(s.reference.apply(exact)), exact), 1e4 * this->epsilon);
  }
}

TYPED_TEST(MultigridOf, ReturnsZeroForZero) {
  Cycled<TypeParam> s(MPI_COMM_WORLD, cycle_box({3, 3, 2}, mixed_ends), 3, 1.0);
  EXPECT_EQ(max_abs(s.apply(ById(s.mesh().n_points(), 0))), 0);
}

TYPED_TEST(MultigridOf, HasThePlannedLevels) {
  const MultigridOptions options{.orders = {5, 2, 1}, .coarse_dofs = 10};
  const MeshSpec spec = cycle_box({4, 4, 4}, all_periodic);
  const Cycled<TypeParam> s(MPI_COMM_WORLD, spec, 5, 0.0, options);
  const auto plans = plan_levels(spec, options.orders, s.comm.size(), options.coarse_dofs);
  const std::size_t replicated = s.m.replicated() ? s.m.replicated()->levels().size() : 0;
  ASSERT_EQ(s.m.levels().size() + replicated + 1, plans.size());
  for (std::size_t l = 0; l < s.m.levels().size(); ++l) {
    EXPECT_EQ(s.m.levels()[l].plan.order, plans[l].order);
    EXPECT_EQ(s.m.levels()[l].plan.mesh.elements, plans[l].mesh.elements);
    EXPECT_EQ(s.m.levels()[l].space->mesh().order(), plans[l].order);
    EXPECT_EQ(s.m.levels()[l].smoother->degree(), options.degree);
  }
  EXPECT_EQ(s.m.coarsest().order, plans.back().order);
  EXPECT_EQ(s.m.coarsest().mesh.elements, plans.back().mesh.elements);
}

// A smaller bound would let the smoother amplify errors.
TYPED_TEST(MultigridOf, BoundsTheEigenvaluesOfEachLevel) {
  for (const Deformation deformation : {Deformation::none, Deformation::sine})
    for (const Flags& flags : {all_periodic, mixed_ends})
      for (const double lambda : {0.0, 1e-10, 0.5}) {
        SCOPED_TRACE(fmt::format("{}, lambda {}", name(deformation), lambda));
        const Cycled<TypeParam> s(MPI_COMM_WORLD, cycle_box({4, 2, 2}, flags, deformation), 3,
                                  lambda, this->small_coarsest());
        for (const auto& level : s.m.levels()) {
          const ReferenceOperator a(level.plan.mesh, level.plan.order, lambda);
          const double largest = ScaledOperator(a).largest_eigenvalue();
          EXPECT_GE(level.lambda_max, largest) << "order " << level.plan.order;
          EXPECT_LE(level.lambda_max, 1.01 * eigenvalue_margin * largest)
              << "order " << level.plan.order << ", " << level.plan.mesh.elements[0] << " elements";
        }
      }
}

// ---- Solutions ---------------------------------------------------------------------------------

TYPED_TEST(MultigridOf, SolvesEveryKindOfProblem) {
  for (const Deformation deformation : {Deformation::none, Deformation::sine})
    for (const Flags& flags : {all_periodic, mixed_ends, all_dirichlet})
      for (const double lambda : {0.0, 1e3}) {
        SCOPED_TRACE(fmt::format("{}, periodic {}{}{}, lambda {}", name(deformation), flags[0],
                                 flags[1], flags[2], lambda));
        EXPECT_LE(count_iterations<TypeParam>(cycle_box({3, 3, 2}, flags, deformation), 4, lambda),
                  deformation == Deformation::none ? 10 : 14);
      }
}

TYPED_TEST(MultigridOf, FindsTheKnownSolution) {
  Cycled<TypeParam> s(MPI_COMM_WORLD, cycle_box({3, 3, 2}, mixed_ends, Deformation::sine), 5, 0.1);
  const ById exact = s.mesh().random(9);
  ById x;
  EXPECT_TRUE(s.solve(s.reference.apply(exact), &x).converged);
  EXPECT_LE(relative_difference(x, exact), 1e-6);
}

TYPED_TEST(MultigridOf, IterationsDoNotGrowWithTheMesh) {
  for (const Flags& flags : {all_periodic, all_dirichlet}) {
    std::vector<int> found;
    for (const int n : {2, 4, 8})
      found.push_back(count_iterations<TypeParam>(cycle_box({n, n, n}, flags), 3, 0.0,
                                                  {.orders = {}, .coarse_dofs = 50}));
    for (const int count : found) {
      EXPECT_NEAR(count, found.back(), 2);
      EXPECT_LE(count, 12);
    }
  }
}

TYPED_TEST(MultigridOf, IterationsDoNotGrowMuchWithTheOrder) {
  for (const int order : {2, 4, 7})
    EXPECT_LE(count_iterations<TypeParam>(cycle_box({3, 3, 2}, all_periodic), order, 0.0), 12)
        << order;
}

// One or two elements in a direction, odd numbers, and coarser meshes with fewer elements than
// ranks.
TYPED_TEST(MultigridOf, SolvesOnOddAndFlatBoxes) {
  for (const Elements& elements :
       {Elements{7, 5, 3}, Elements{7, 1, 1}, Elements{1, 8, 1}, Elements{2, 2, 2}})
    for (const auto& [flags, order] : {std::pair{all_periodic, 3}, {mixed_ends, 2}}) {
      SCOPED_TRACE(fmt::format("{}x{}x{}, order {}", elements[0], elements[1], elements[2], order));
      EXPECT_LE(count_iterations<TypeParam>(cycle_box(elements, flags), order, 0.0,
                                            this->small_coarsest()),
                14);
    }
}

TYPED_TEST(MultigridOf, SolvesOnTheLowestOrder) {
  EXPECT_LE(count_iterations<TypeParam>(cycle_box({6, 5, 4}, all_periodic), 1, 0.0,
                                        this->small_coarsest()),
            14);
  EXPECT_LE(count_iterations<TypeParam>(cycle_box({6, 5, 4}, all_dirichlet), 1, 0.0,
                                        this->small_coarsest()),
            14);
}

TYPED_TEST(MultigridOf, SolvesOnKershawsMap) {
  MeshSpec spec = cycle_box({6, 4, 4}, all_dirichlet, Deformation::kershaw);
  spec.extent = {1, 1, 1};
  const int undistorted = count_iterations<TypeParam>((spec.epsilon = 1, spec), 3, 0.0),
            distorted = count_iterations<TypeParam>((spec.epsilon = 0.5, spec), 3, 0.0);
  EXPECT_LE(undistorted, 14);
  EXPECT_LE(distorted, 30);
}

TYPED_TEST(MultigridOf, SolvesOnElementsFromTheirCorners) {
  MeshSpec spec = cycle_box({3, 3, 2}, mixed_ends, Deformation::sine);
  spec.geometry = Geometry::trilinear;
  EXPECT_LE(count_iterations<TypeParam>(spec, 4, 0.1), 14);
  spec.deformation = Deformation::none;
  spec.geometry = Geometry::affine;
  EXPECT_LE(count_iterations<TypeParam>(spec, 4, 0.1), 12);
}

TYPED_TEST(MultigridOf, SolvesWithEverySmoother) {
  std::vector<int> by_degree;
  for (const auto kind :
       {ChebyshevKind::first, ChebyshevKind::fourth, ChebyshevKind::optimized_fourth})
    for (const int degree : {1, 4}) {
      SCOPED_TRACE(fmt::format("{}, degree {}", name(kind), degree));
      MultigridOptions options = this->small_coarsest();
      options.polynomial = kind;
      options.degree = degree;
      const int count =
          count_iterations<TypeParam>(cycle_box({3, 3, 2}, all_periodic), 3, 0.0, options);
      EXPECT_LE(count, 25);
      by_degree.push_back(count);
    }
  for (const int kind : {0, 1, 2})  // a higher degree saves iterations
    EXPECT_LT(by_degree[2 * kind + 1], by_degree[2 * kind]);
}

// 20^3 DOFs would be solved directly, as many as allowed by the options but not by the solver.
TYPED_TEST(MultigridOf, RefusesACoarseSolveThatIsTooLarge) {
  const Communicator comm(MPI_COMM_WORLD);
  MeshSpec spec;
  spec.elements = {4, 4, 4};
  AssembledSpace space(comm, BoxMesh(spec, 5, comm.size(), comm.rank()));
  const GeometricFactors factors(space);
  EXPECT_THROW(
      Multigrid<TypeParam>(comm, space, factors, 0, {.orders = {5}, .coarse_dofs = 1'000'000}),
      InputError);
}

TYPED_TEST(MultigridOf, SolvesWithAnyOrders) {
  for (const std::vector<int>& orders : {std::vector{5}, {5, 1}, {5, 4, 3, 2, 1}}) {
    SCOPED_TRACE(fmt::format("{} orders, the last {}", orders.size(), orders.back()));
    const MultigridOptions options{.orders = orders, .coarse_dofs = 100};
    EXPECT_LE(count_iterations<TypeParam>(cycle_box({3, 3, 2}, all_periodic), 5, 0.0, options), 25);
  }
}

// Geometric factors grow with the extent, and Jacobians with its cube. With λ proportional to
// 1 / extent², the problems differ only by a factor.
TYPED_TEST(MultigridOf, IterationsDoNotDependOnTheUnitOfLength) {
  const auto count = [](double extent) {
    MeshSpec spec = cycle_box({3, 3, 2}, mixed_ends, Deformation::sine);
    for (double& length : spec.extent) length *= extent;
    return count_iterations<TypeParam>(spec, 3, 2 / (extent * extent));
  };
  const int expected = count(1);
  for (const double extent : {1e-50, 1e-30, 1e50})
    EXPECT_NEAR(count(extent), expected, 1) << extent;
}

// apply() divides residuals by their norm.
TYPED_TEST(MultigridOf, IterationsDoNotDependOnTheSizeOfTheRightHandSide) {
  Cycled<TypeParam> s(MPI_COMM_WORLD, cycle_box({3, 3, 2}, mixed_ends, Deformation::sine), 3, 1.0);
  const int expected = s.solve(s.right_hand_side()).iterations;
  for (const double size : {0x1p-300, 0x1p-130, 0x1p130, 0x1p300}) {
    const CgResult result = s.solve(size * s.right_hand_side());
    EXPECT_TRUE(result.converged) << size;
    EXPECT_EQ(result.iterations, expected) << size;
  }
}

TYPED_TEST(MultigridOf, HasTheSameBitsOnAnyRanksOfADeterministicSpace) {
  // On seven ranks, the last case has a replicated level above the coarsest.
  for (const auto& [spec, order, lambda, coarse_dofs] :
       {std::tuple{cycle_box({4, 3, 3}, all_periodic, Deformation::sine), 3, 0.0, 20},
        std::tuple{cycle_box({5, 4, 4}, all_dirichlet, Deformation::sine), 2, 1.0, 20},
        std::tuple{cycle_box({4, 3, 2}, all_periodic, Deformation::sine), 2, 0.0, 1}}) {
    const MultigridOptions options{.orders = {}, .coarse_dofs = coarse_dofs};
    Cycled<TypeParam> together(MPI_COMM_WORLD, spec, order, lambda, options,
                               Summation::deterministic),
        alone(MPI_COMM_SELF, spec, order, lambda, options, Summation::deterministic);
    ASSERT_EQ(together.m.coarsest().mesh.elements, alone.m.coarsest().mesh.elements);
    const auto bounds = [](const Multigrid<TypeParam>& m) {
      std::vector<double> all;
      for (const auto& level : m.levels()) all.push_back(level.lambda_max);
      if (m.replicated())
        for (const auto& level : m.replicated()->levels()) all.push_back(level.lambda_max);
      return all;
    };
    EXPECT_EQ(bounds(together.m), bounds(alone.m));
    const ById r = alone.right_hand_side(2);
    EXPECT_EQ(together.apply(r), alone.apply(r));
    ById x, expected;
    EXPECT_EQ(together.solve(r, &x).history, alone.solve(r, &expected).history);
    EXPECT_EQ(x, expected);
  }
}

TYPED_TEST(MultigridOf, RejectsAnOperatorThatIsNotPositiveDefinite) {
  EXPECT_THROW(Cycled<TypeParam>(MPI_COMM_WORLD, cycle_box({3, 3, 2}, mixed_ends), 2, -1e4),
               InternalError);
}

}  // namespace
}  // namespace nekbone_k
