// SPDX-License-Identifier: BSD-3-Clause
#include "solver/queued_cg.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/available_strategies.hpp"
#include "support/cg_system.hpp"

namespace nekbone_k {
namespace {

struct Result : CgResult {
  ById x, r;
};

/// An all-reduce that kernels can call, if there is one, else the first.
const AllReduceStrategy& best_sum(const Communicator& comm) {
  const AllReduceStrategy* const peer = find_all_reduce("peer-memory");
  return why_unavailable(comm, *peer).empty() ? *peer : all_reduce_strategies().front();
}

/// A variant and a launch on the vectors of a system.
template <class Op = EllipticOperator>
struct Method {
  Method(System& s, const Op& op, CgVariant variant, CgLaunch launch, bool jacobi)
      : system(s), vectors(s.vectors()), extra(extra_vectors(s, variant, jacobi)) {
    ConstDeviceVector<double> diagonal;
    if (jacobi) diagonal = s.a.inverse_diagonal();
    cg.emplace(s.comm, op, s.range, diagonal, best_sum(s.comm), variant, launch, vectors, extra);
  }
  Method(System& s, CgVariant variant, CgLaunch launch, bool jacobi)
      : Method(s, s.a, variant, launch, jacobi) {}

  static CgExtraVectors extra_vectors(const System& s, CgVariant variant, bool jacobi) {
    CgExtraVectors extra;
    int made = 0;
    extra.provide(variant, jacobi, [&](const char* label) {
      ++made;
      auto vector = s.space.make_vector(label);
      Kokkos::deep_copy(vector, not_a_number);  // the solver must not rely on what it finds there
      return vector;
    });
    EXPECT_EQ(made, CgExtraVectors::count(variant, jacobi));
    return extra;
  }

  CgResult run(const ById& b, const CgOptions& options,
               const std::function<void(int)>& progress = {}) {
    return cg->solve(to_assembled(system.space, system.reference.mesh(), b), options, progress);
  }
  Result solve(const ById& b, const CgOptions& options,
               const std::function<void(int)>& progress = {}) {
    Result result;
    static_cast<CgResult&>(result) = run(b, options, progress);
    result.x = system.by_id(vectors.x);
    result.r = system.by_id(vectors.r);
    return result;
  }

  System& system;
  CgVectors vectors;
  CgExtraVectors extra;
  std::optional<QueuedCg<Op>> cg;
};

/// Calls action(variant, launch, jacobi) for all that this build and these ranks can do with the
/// selected exchange strategy.
template <class Action>
void for_each_method(System& s, const Action& action) {
  for (const CgVariant variant : all_cg_variants)
    for (const CgLaunch launch : {CgLaunch::plain, CgLaunch::graph, CgLaunch::persistent})
      for (const bool jacobi : {false, true}) {
        SCOPED_TRACE(std::string(name(variant)) + ", " + name(launch) + (jacobi ? ", jacobi" : ""));
        const bool is_queued =
            s.a.is_queued() &&
            (s.comm.size() == 1 || best_sum(s.comm).name == std::string("peer-memory"));
        const bool has_kernel = !is_host_device && s.comm.size() == 1 &&
                                is_compiled_order(s.space.mesh().order()) &&
                                variant == CgVariant::pipelined;
        if ((launch == CgLaunch::graph && !(KernelGraph::is_available && is_queued)) ||
            (launch == CgLaunch::persistent && !has_kernel)) {
          EXPECT_THROW(Method(s, variant, launch, jacobi), UnavailableError);
          continue;
        }
        action(variant, launch, jacobi);
      }
}

/// Selects an exchange by one kernel if there is one, so that graphs are tested.
void select_queued_exchange(System& s) {
  for (const Strategy& strategy : available_strategies(s.comm)) {
    s.space.gs().select(strategy);
    if (s.a.is_queued()) return;
  }
  s.space.gs().select(first_strategy());
}

ById residual_of(const System& s, const ById& b, const ById& x) {
  ById residual = b;
  const ById ax = s.reference.apply(x);
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= ax[i];
  return residual;
}

TEST(QueuedCg, HistoryIsTheTextbooks) {
  for (const int order : {1, 3, 5, 8}) {
    System s(MPI_COMM_WORLD, mixed_box(), order, 0.1);
    select_queued_exchange(s);
    CgResult plain, with_jacobi;
    plain.history = reference_history(s.reference, s.b, ById(s.b.size(), 1), 20);
    with_jacobi.history = reference_history(s.reference, s.b, s.by_id(s.a.inverse_diagonal()), 20);
    for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
      Method method(s, variant, launch, jacobi);
      for (int run = 0; run < 2; ++run) {  // the second run replays what the first one recorded
        const CgResult result = method.run(s.b, {20, 0});
        EXPECT_EQ(result.iterations, 20);
        EXPECT_TRUE(result.converged);
        expect_same_history(result, jacobi ? with_jacobi : plain, 1e-11);
      }
    });
  }
}

TEST(QueuedCg, WorksWithEveryExchangeStrategy) {
  System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  CgResult expected;
  expected.history = reference_history(s.reference, s.b, ById(s.b.size(), 1), 21);
  for (const Strategy& strategy : available_strategies(s.comm)) {
    SCOPED_TRACE(strategy.name);
    s.space.gs().select(strategy);
    for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
      if (jacobi) return;
      expect_same_history(Method(s, variant, launch, jacobi).run(s.b, {21, 0}), expected, 1e-11);
    });
  }
}

TEST(QueuedCg, WorksWithEveryAllReduce) {
  System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  CgResult expected;
  expected.history = reference_history(s.reference, s.b, ById(s.b.size(), 1), 21);
  for (const AllReduceStrategy& sum : all_reduce_strategies()) {
    if (!why_unavailable(s.comm, sum).empty()) continue;
    for (const CgVariant variant : all_cg_variants) {
      SCOPED_TRACE(sum.name + ", " + name(variant));
      const CgVectors vectors = s.vectors();
      QueuedCg<EllipticOperator> cg(s.comm, s.a, s.range, {}, sum, variant, CgLaunch::plain,
                                    vectors, Method<>::extra_vectors(s, variant, false));
      expect_same_history(cg.solve(to_assembled(s.space, s.reference.mesh(), s.b), {21, 0}),
                          expected, 1e-11);
    }
  }
}

TEST(QueuedCg, StopsAtTheFirstResidualBelowTheTolerance) {
  System s(MPI_COMM_WORLD, mixed_box(), 4, 0.1);
  select_queued_exchange(s);
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    Method method(s, variant, launch, jacobi);
    // At the first iterations, within a batch, and some batches later.
    for (const double tolerance : {0.5, 1e-3, 1e-8}) {
      const Result result = method.solve(s.b, {400, tolerance});
      EXPECT_TRUE(result.converged);
      EXPECT_FALSE(result.broke_down);
      ASSERT_EQ(result.history.size(), result.iterations + 1u);
      EXPECT_LE(result.residual(), tolerance * result.history.front());
      for (int i = 0; i < result.iterations; ++i)
        EXPECT_GT(result.history[i], tolerance * result.history.front()) << i;
      // The iterate is that of this iteration, although later ones were launched.
      const ById residual = residual_of(s, s.b, result.x);
      EXPECT_NEAR(norm(residual), result.residual(), 1e-11 * norm(s.b));
      EXPECT_LE(relative_difference(result.r, residual), 1e-11 * norm(s.b) / result.residual());
    }
    // No memory is taken for iterations that CG does not need.
    EXPECT_TRUE(method.solve(s.b, {std::numeric_limits<int>::max(), 1e-3}).converged);
    const Result late = method.solve(s.b, {7, 1e-12});
    EXPECT_EQ(late.iterations, 7);
    EXPECT_FALSE(late.converged);
    EXPECT_FALSE(late.broke_down);
    EXPECT_LE(relative_difference(late.r, residual_of(s, s.b, late.x)), 1e-11);
  });
}

// The larger of both tolerances counts.
TEST(QueuedCg, StopsAtAnAbsoluteTolerance) {
  System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  select_queued_exchange(s);
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    Method method(s, variant, launch, jacobi);
    const double target = 1e-5 * norm(s.b);
    const CgResult expected = method.run(s.b, {400, 1e-5});
    for (const double relative : {0.0, 1e-9}) {
      const CgResult result = method.run(s.b, {400, relative, target * (1 + 1e-12)});
      EXPECT_TRUE(result.converged);
      EXPECT_EQ(result.iterations, expected.iterations);
    }
    EXPECT_FALSE(method.run(s.b, {5, 0, target}).converged);
    EXPECT_EQ(method.run(s.b, {400, 0, 2 * norm(s.b)}).iterations, 0);
  });
}

TEST(QueuedCg, RunsExactlyTheIterationsWithoutATolerance) {
  System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  select_queued_exchange(s);
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    Method method(s, variant, launch, jacobi);
    for (const int iterations : {0, 1, 17, 40, 53}) {
      std::vector<int> progress;
      const Result result =
          method.solve(s.b, {iterations, 0}, [&](int i) { progress.push_back(i); });
      EXPECT_EQ(result.iterations, iterations);
      EXPECT_EQ(result.history.size(), iterations + 1u);
      EXPECT_TRUE(result.converged);
      EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
      if (iterations > 0 && is_host_device) {
        EXPECT_EQ(progress.back(), iterations);
      }
      const int at_once = is_host_device                   ? 1
                          : launch == CgLaunch::persistent ? persistent_iterations
                                                           : graph_iterations;
      for (const int ended : progress) EXPECT_TRUE(ended % at_once == 0) << ended;
      EXPECT_NEAR(norm(residual_of(s, s.b, result.x)), result.residual(), 1e-11 * norm(s.b));
    }
  });
}

// Far past convergence the products underflow.
TEST(QueuedCg, RunsExactlyTheIterationsPastUnderflow) {
  System s(MPI_COMM_WORLD, mixed_box(), 1, 1.0);
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    const Result result = Method(s, variant, launch, jacobi).solve(s.b, {90, 0});
    EXPECT_EQ(result.iterations, 90);
    EXPECT_FALSE(result.broke_down);
    EXPECT_LE(relative_difference(result.x, s.exact), 1e-11);
  });
}

TEST(QueuedCg, SolvesNothingForNothing) {
  System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    for (const CgOptions options : {CgOptions{20, 0}, CgOptions{20, 1e-8}}) {
      const Result result = Method(s, variant, launch, jacobi).solve(ById(s.b.size(), 0), options);
      EXPECT_EQ(result.iterations, options.tolerance > 0 ? 0 : 20);
      EXPECT_TRUE(result.converged);
      EXPECT_FALSE(result.broke_down);
      EXPECT_EQ(result.residual(), 0);
      EXPECT_EQ(max_abs(result.x), 0);
    }
  });
}

// The condition number is large, so that CG takes many iterations, and rounding decides what is
// attained.
MeshSpec stretched_box() {
  MeshSpec stretched = mixed_box();
  stretched.extent = {30, 1, 1};
  return stretched;
}

// On a GPU the residual is replaced after 100 iterations, before the host knows that the solve has
// ended.
TEST(QueuedCg, ReplacesNoResidualAfterTheEnd) {
  System s(MPI_COMM_WORLD, stretched_box(), 5, 1e-3);
  select_queued_exchange(s);
  const std::vector<double> history = reference_history(s.reference, s.b, ById(s.b.size(), 1), 99);
  // The first residual below all earlier ones, shortly before the replacement.
  int last = 99;
  while (last > 80 &&
         history[last] >= 0.999 * *std::min_element(history.begin(), history.begin() + last))
    --last;
  ASSERT_GT(last, 80);
  const double tolerance = 1.0005 * history[last] / history[0];
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    if (jacobi) return;
    const Result result = Method(s, variant, launch, jacobi).solve(s.b, {400, tolerance});
    EXPECT_TRUE(result.converged);
    EXPECT_NEAR(result.iterations, last, 2);
    EXPECT_NEAR(norm(result.r), result.residual(), 1e-12 * result.residual());
  });
}

TEST(QueuedCg, RecordsAnewForAnotherExchange) {
  System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  select_queued_exchange(s);
  const Strategy queued = s.space.gs().strategy();
  CgResult expected;
  expected.history = reference_history(s.reference, s.b, ById(s.b.size(), 1), 40);
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    Method method(s, variant, launch, jacobi);
    if (jacobi) return;
    for (int round = 0; round < 2; ++round) {
      expect_same_history(method.solve(s.b, {40, 0}), expected, 1e-11);
      s.space.gs().select(first_strategy());
      s.solve(s.vectors(), {3, 0});
      s.space.gs().select(queued);
      s.solve(s.vectors(), {3, 0});
      method.cg->forget_recording();
    }
  });
}

TEST(QueuedCg, AttainsTheAccuracyOfClassicCg) {
  System s(MPI_COMM_WORLD, stretched_box(), 5, 1e-3);
  const auto attained = [&](const ById& x) { return norm(residual_of(s, s.b, x)) / norm(s.b); };
  for (const bool jacobi : {false, true}) {
    const CgVectors v = s.vectors();
    conjugate_gradients(s.a, jacobi ? s.jacobi() : s.plain(), v, {1000, 0});
    const double classic = attained(s.by_id(v.x));
    EXPECT_LT(classic, 1e-11);
    for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool with_jacobi) {
      if (with_jacobi != jacobi) return;
      const Result result = Method(s, variant, launch, jacobi).solve(s.b, {1000, 0});
      EXPECT_FALSE(result.broke_down);
      EXPECT_LE(attained(result.x), 3 * classic);
    });
  }
}

// More iterations than the device keeps residuals of, which end between two reads of the state,
// before one and after one.
TEST(QueuedCg, ReportsAllResidualsOfLongSolves) {
  System s(MPI_COMM_WORLD, stretched_box(), 3, 1e-3);
  select_queued_exchange(s);
  const CgResult expected = s.solve(s.vectors(), {40, 0});
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    Method method(s, variant, launch, jacobi);
    std::vector<double> longest = method.run(s.b, {350, 0}).history;
    ASSERT_EQ(longest.size(), 351U);
    for (const double residual : longest) EXPECT_TRUE(std::isfinite(residual) && residual > 0);
    for (int i = 0; i <= 40 && !jacobi; ++i)
      EXPECT_NEAR(longest[i], expected.history[i], 1e-9 * longest[0]) << i;
    for (const int iterations : {99, 100, 101, 200}) {
      const Result result = method.solve(s.b, {iterations, 0});
      ASSERT_EQ(result.history.size(), iterations + 1U);
      EXPECT_NEAR(norm(result.r), result.residual(), 1e-9 * result.residual()) << iterations;
      // Sums of a GPU, and of several ranks, are rounded differently in each solve.
      for (int i = 0; i <= 40; ++i) EXPECT_NEAR(result.history[i], longest[i], 1e-9 * longest[0]);
    }
  });
}

// Teams with several elements at once, and with several one after the other; groups of threads with
// and without a barrier of their own.
TEST(QueuedCg, OneKernelWorksOnMoreElementsThanTeams) {
  if (is_host_device) GTEST_SKIP() << "kernels run on the host";
  if (Communicator(MPI_COMM_WORLD).size() > 1) GTEST_SKIP() << "the kernel works on one rank";
  MeshSpec spec;
  spec.extent = {1.2, 1, 0.9};
  spec.periodic = {true, false, false};
  for (const auto& [order, elements] : {std::pair(1, std::array{33, 32, 31}),
                                        {2, {24, 20, 18}},
                                        {3, {16, 15, 14}},
                                        {7, {12, 10, 9}}}) {
    if (!is_compiled_order(order)) continue;
    spec.elements = elements;
    for (const Geometry geometry : {Geometry::stored, Geometry::trilinear, Geometry::affine}) {
      SCOPED_TRACE(std::to_string(order) + ", " + name(geometry));
      spec.geometry = geometry;
      System s(MPI_COMM_WORLD, spec, order, 0.1);
      for (const bool jacobi : {false, true}) {
        const CgResult plain =
            Method(s, CgVariant::pipelined, CgLaunch::plain, jacobi).run(s.b, {40, 0});
        const Result result =
            Method(s, CgVariant::pipelined, CgLaunch::persistent, jacobi).solve(s.b, {40, 0});
        for (int i = 0; i <= 40; ++i)
          EXPECT_NEAR(result.history[i], plain.history[i], 1e-11 * plain.history[0]) << i;
        EXPECT_NEAR(norm(residual_of(s, s.b, result.x)), result.residual(), 1e-11 * norm(s.b));
      }
    }
  }
}

TEST(QueuedCg, SaysHowMuchSharedMemoryOneKernelNeeds) {
  if (is_host_device) GTEST_SKIP() << "kernels run on the host";
  if (Communicator(MPI_COMM_WORLD).size() > 1) GTEST_SKIP() << "the kernel works on one rank";
  MeshSpec spec;
  spec.elements = {120, 120, 120};
  System s(MPI_COMM_WORLD, spec, 1, 0.1);
  try {
    Method(s, CgVariant::pipelined, CgLaunch::persistent, false);
    FAIL();
  } catch (const UnavailableError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("a team needs "), std::string::npos) << text;
    EXPECT_NE(text.find(" KB of shared memory, and a multiprocessor has "), std::string::npos);
  }
}

// An indefinite operator breaks down at the same iteration as in classic CG.
TEST(QueuedCg, ReportsTheIterationOfABreakdown) {
  System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  select_queued_exchange(s);
  EllipticOperator indefinite(s.space, s.geometry, -60.0, best_sum(s.comm));
  const CgVectors v = s.vectors();
  const CgResult expected = conjugate_gradients(indefinite, s.plain(), v, {50, 0});
  const ById expected_x = s.by_id(v.x);
  ASSERT_TRUE(expected.broke_down);
  ASSERT_GT(expected.iterations, 0);
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    if (jacobi) return;
    const Result result = Method(s, indefinite, variant, launch, jacobi).solve(s.b, {50, 0});
    EXPECT_TRUE(result.broke_down);
    EXPECT_FALSE(result.converged);
    EXPECT_EQ(result.iterations, expected.iterations);
    EXPECT_EQ(result.history.size(), expected.history.size());
    EXPECT_LE(relative_difference(result.x, expected_x), 1e-9);
  });
}

TEST(QueuedCg, ReportsNotANumber) {
  System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  ById b = s.b;
  *std::find_if(b.begin() + static_cast<std::ptrdiff_t>(b.size() / 2), b.end(),
                [](double value) { return value != 0; }) = not_a_number;
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    Method method(s, variant, launch, jacobi);
    const CgResult broken = method.run(b, {50, 1e-8});
    EXPECT_TRUE(broken.broke_down);
    EXPECT_FALSE(broken.converged);
    EXPECT_EQ(broken.iterations, 0);
    // Nothing of it is left in the vectors.
    const Result result = method.solve(s.b, {400, 1e-10});
    EXPECT_TRUE(result.converged);
    EXPECT_LE(norm(residual_of(s, s.b, result.x)), 2e-10 * norm(s.b));
  });
}

// A is broken, not b: x and r stay as they were when CG began.
TEST(QueuedCg, KeepsXAndRIfAIsNotANumber) {
  System s(MPI_COMM_WORLD, mixed_box(), 3, 0.1);
  select_queued_exchange(s);
  EllipticOperator broken(s.space, s.geometry, not_a_number, best_sum(s.comm));
  for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
    if (jacobi) return;
    const Result result = Method(s, broken, variant, launch, jacobi).solve(s.b, {50, 0});
    EXPECT_TRUE(result.broke_down);
    EXPECT_EQ(result.iterations, 0);
    EXPECT_EQ(max_abs(result.x), 0);
    EXPECT_EQ(max_abs(result.r), max_abs(s.b));
  });
}

// Ranks without elements in the interior, without neighbours, and with one element.
TEST(QueuedCg, WorksOnTheSmallestMeshes) {
  for (const std::array<int, 3> elements : {std::array{1, 1, 7}, std::array{7, 2, 1}}) {
    MeshSpec spec = mixed_box();
    spec.elements = elements;
    for (const bool periodic : {false, true}) {
      spec.periodic = {false, false, periodic};
      System s(MPI_COMM_WORLD, spec, 2, 1.0);
      select_queued_exchange(s);
      for_each_method(s, [&](CgVariant variant, CgLaunch launch, bool jacobi) {
        const Result result = Method(s, variant, launch, jacobi).solve(s.b, {400, 1e-12});
        EXPECT_TRUE(result.converged);
        EXPECT_LE(relative_difference(result.x, s.exact), 1e-9);
      });
    }
  }
}

}  // namespace
}  // namespace nekbone_k
