// SPDX-License-Identifier: BSD-3-Clause
#include "operators/elliptic_operator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "input/case.hpp"
#include "operators/axhelm/axhelm.hpp"
#include "support/available_strategies.hpp"
#include "support/operator_case.hpp"
#include "support/running_work.hpp"

namespace nekbone_k {
namespace {

class EllipticOperatorOrder : public testing::TestWithParam<int> {};

TEST_P(EllipticOperatorOrder, EqualsThePlainLoopsOnEveryDeformation) {
  for (const Deformation deformation : {Deformation::none, Deformation::sine, Deformation::kershaw})
    OperatorCase(operator_spec(deformation), GetParam(), 0.1)
        .expect_equals_reference(deformation == Deformation::kershaw ? 5 * operator_tolerance
                                                                     : operator_tolerance);
}

// Order 17 is never compiled, so it uses the run-time kernel.
INSTANTIATE_TEST_SUITE_P(Orders, EllipticOperatorOrder,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17),
                         [](const auto& instance) { return "N" + std::to_string(instance.param); });

// All orders, because each has its own kernels.
TEST_P(EllipticOperatorOrder, EqualsThePlainLoopsOnStraightElements) {
  MeshSpec spec = operator_spec(Deformation::sine);
  spec.geometry = Geometry::trilinear;
  OperatorCase(spec, GetParam(), 0.1).expect_equals_reference();
}

TEST_P(EllipticOperatorOrder, EqualsThePlainLoopsOnParallelepipeds) {
  MeshSpec spec = operator_spec(Deformation::none);
  spec.geometry = Geometry::affine;
  OperatorCase(spec, GetParam(), 0.1).expect_equals_reference();
}

TEST(EllipticOperator, EqualsThePlainLoopsOnStraightElementsOfEveryDeformation) {
  for (const Deformation deformation : {Deformation::none, Deformation::kershaw})
    for (const double lambda : {0.0, 1.0})
      for (const int order : {1, 3, 6}) {
        MeshSpec spec = operator_spec(deformation);
        spec.geometry = Geometry::trilinear;
        OperatorCase(spec, order, lambda).expect_equals_reference();
      }
}

using OrderDeformationLambda = std::tuple<int, Deformation, double>;

std::string case_name(const testing::TestParamInfo<OrderDeformationLambda>& instance) {
  const auto [order, deformation, lambda] = instance.param;
  return fmt::format("N{}_{}_lambda{}", order, name(deformation), static_cast<int>(10 * lambda));
}

class EllipticOperatorCase : public testing::TestWithParam<OrderDeformationLambda> {};

TEST_P(EllipticOperatorCase, EqualsThePlainLoops) {
  const auto [order, deformation, lambda] = GetParam();
  OperatorCase(operator_spec(deformation), order, lambda).expect_equals_reference();
}

INSTANTIATE_TEST_SUITE_P(Cases, EllipticOperatorCase,
                         testing::Combine(testing::Values(1, 2, 3, 6),
                                          testing::Values(Deformation::none, Deformation::sine,
                                                          Deformation::kershaw),
                                          testing::Values(0.0, 0.1, 1.0)),
                         case_name);

TEST(EllipticOperator, EqualsThePlainLoopsOnEveryKindOfBox) {
  using Flags = std::array<bool, 3>;
  for (const auto& [elements, periodic] :
       {std::pair{std::array{7, 1, 1}, Flags{true, true, true}},
        std::pair{std::array{1, 2, 7}, Flags{true, true, false}},
        std::pair{std::array{5, 4, 3}, Flags{false, false, false}},
        std::pair{std::array{4, 4, 4}, Flags{true, true, true}},
        std::pair{std::array{3, 3, 3}, Flags{false, true, true}}})
    for (const int order : {1, 3})
      OperatorCase(operator_spec(Deformation::sine, elements, periodic), order, 1.0)
          .expect_equals_reference();
}

TEST(EllipticOperator, IsSymmetricAndPositive) {
  for (const Deformation deformation : {Deformation::none, Deformation::sine, Deformation::kershaw})
    for (const double lambda : {0.0, 1.0}) {
      const OperatorCase op(operator_spec(deformation), 4, lambda);
      const ById u = op.reference.mesh().random(1), v = op.reference.mesh().random(2);
      const auto [au, u_dot_au] = op.apply(u);
      const auto [av, v_dot_av] = op.apply(v);
      EXPECT_NEAR(dot(v, au), dot(u, av), 1e-13 * u_dot_au);
      EXPECT_NEAR(u_dot_au, dot(u, au), 1e-13 * u_dot_au);
      EXPECT_GT(u_dot_au, 0);
      EXPECT_GT(v_dot_av, 0);
    }
}

TEST(EllipticOperator, AnnihilatesConstantsOnlyWhereItIsSingular) {
  for (const double lambda : {0.0, 0.1})
    for (const bool periodic : {true, false}) {
      const OperatorCase op(operator_spec(Deformation::sine, {3, 3, 2}, {true, true, periodic}), 5,
                            lambda);
      EXPECT_EQ(op.a.is_singular(), lambda == 0 && periodic);
      const ReferenceMesh& mesh = op.reference.mesh();
      ById ones(mesh.n_points());
      for (GlobalId id = 0; id < mesh.n_points(); ++id) ones[id] = !mesh.is_masked(id);
      const double size = max_abs(op.apply(ones).first);
      const double usual_size = max_abs(op.apply(mesh.random(1)).first);
      if (op.a.is_singular()) {
        EXPECT_LE(size, 1e-13 * usual_size);
      } else {
        EXPECT_GE(size, 1e-5 * usual_size);
      }
    }
}

// Enough elements that each of up to seven ranks has interior ones.
TEST(EllipticOperator, EveryStrategyGivesTheSameResult) {
  for (const int order : {1, 2, 3, 7, 11}) {
    OperatorCase op(operator_spec(Deformation::sine, {7, 6, 5}, {true, false, true}), order, 0.1);
    const ById values = op.reference.mesh().random(1);
    const auto u = to_assembled(op.space, op.reference.mesh(), values);
    const auto by_id = [&](const DeviceVector<double>& v) {
      return to_ids(op.comm, op.space, op.reference.mesh(), v);
    };
    const auto expected = op.space.make_vector("expected");
    const double expected_product = op.a.apply(u, expected);
    const ById expected_by_id = by_id(expected);
    const std::vector<double> expected_here = to_host(expected);
    EXPECT_LE(relative_difference(expected_by_id, op.reference.apply(values)), operator_tolerance);
    for (const Strategy& strategy : available_strategies(Communicator(MPI_COMM_WORLD))) {
      SCOPED_TRACE(strategy.name);
      op.space.gs().select(strategy);
      for (int call = 0; call < 2; ++call) {
        const auto found = op.space.make_vector("found");
        const double product = op.a.apply(u, found);
        if (adds_in_any_order(order)) {
          EXPECT_LE(relative_difference(by_id(found), expected_by_id), operator_tolerance);
        } else {  // compares on each rank what was compared by id above
          EXPECT_TRUE(to_host(found) == expected_here) << "order " << order;
        }
        if (is_host_device) {
          EXPECT_EQ(product, expected_product) << "order " << order;
        } else {  // with overlap, partial products belong to other elements
          EXPECT_NEAR(product, expected_product, operator_tolerance * std::abs(expected_product));
        }
      }
    }
  }
}

// The number of partial products u·Au may differ with and without overlap, so none may be stale.
TEST(EllipticOperator, ProductsHaveNothingOfWhatWasAppliedBefore) {
  const Strategy& plain = *find_strategy("host-pairwise");
  const Strategy& overlapped = *find_strategy("host-pairwise+overlap");
  for (const int order : {1, 2, 3, 4, 5, 6, 7, 9})
    for (const int elements : {3, 4, 5, 7}) {
      OperatorCase op(operator_spec(Deformation::none, {7, 6, elements}, {true, true, true}), order,
                      0.1);
      const ReferenceMesh& mesh = op.reference.mesh();
      ById values = mesh.random(1);
      const auto u = to_assembled(op.space, mesh, values);
      for (double& value : values) value *= 100;
      const auto larger = to_assembled(op.space, mesh, values), au = op.space.make_vector("Au");
      const double expected = op.a.apply(u, au);
      for (const Strategy* strategy : {&overlapped, &plain, &overlapped, &plain}) {
        SCOPED_TRACE(fmt::format("{} at order {}", strategy->name, order));
        op.space.gs().select(*strategy);
        EXPECT_NEAR(op.a.apply(u, au), expected, operator_tolerance * expected);
        op.a.apply(larger, au);
      }
    }
}

TEST(EllipticOperator, OverlappedStrategiesWorkOnInteriorElementsMeanwhile) {
  OperatorCase op(operator_spec(Deformation::none, {7, 6, 5}, {true, true, true}), 2, 0.1);
  const auto u = to_assembled(op.space, op.reference.mesh(), op.reference.mesh().random(1));
  const auto au = op.space.make_vector("Au");
  using Events = std::vector<std::string>;
  for (const Strategy& strategy : available_strategies(Communicator(MPI_COMM_WORLD))) {
    op.space.gs().select(strategy);
    EventLog log;
    op.a.apply(u, au, {}, &log);
    Events expected{"elements", "exchange packed", "exchange posted", "exchange waited for",
                    "exchange unpacked"};
    // On a GPU, interior elements are launched before the host first waits.
    if (op.comm.size() == 1)
      expected = {"elements"};
    else if (strategy.overlapped && is_host_device)
      expected = {"boundary elements", "exchange packed",     "exchange posted",
                  "interior elements", "exchange waited for", "exchange unpacked"};
    else if (strategy.overlapped)
      expected = {"boundary elements", "exchange packed",     "interior elements",
                  "exchange posted",   "exchange waited for", "exchange unpacked"};
    else if (strategy.name == "peer-memory" && !is_host_device)
      expected = {"elements", "exchanged by a kernel"};
    EXPECT_EQ(log.events(), expected) << strategy.name;
  }
}

// Boundary elements have their own stream. If it is held up, neither the host nor the interior
// elements wait for it.
TEST(EllipticOperator, InteriorElementsDoNotWaitForBoundaryElements) {
  if (is_host_device) GTEST_SKIP() << "kernels run in turn with the host";
  const OperatorCase op(operator_spec(Deformation::sine, {7, 6, 5}, {true, true, true}), 3, 0.1);
  const auto u = to_assembled(op.space, op.reference.mesh(), op.reference.mesh().random(1));
  const auto au = op.space.make_vector("Au"), in_turn = op.space.make_vector("in turn");
  op.a.apply(u, in_turn);  // warm up: the first launch of a kernel may wait for other kernels
  op.a.apply_some_interior(u, in_turn, 1);
  op.a.apply_boundary(u, in_turn);
  Kokkos::fence("boundary elements in turn");
  const RunningWork work(side_stream());
  EventLog log;
  op.a.apply_boundary(u, au, {}, side_stream());
  log.record("boundary elements launched");
  op.a.apply_some_interior(u, au, 1);
  ExecutionSpace().fence("interior elements");
  log.record("interior elements done");
  log.record(work.has_ended() ? "the stream is free" : "the stream is held up");
  work.end();
  EXPECT_EQ(log.events(),
            (std::vector<std::string>{"boundary elements launched", "interior elements done",
                                      "the stream is held up"}));
  const std::vector<double> beside = to_host(au), expected = to_host(in_turn);
  for (LocalIndex s = 0; s < op.space.gs().plan().n_shared(); ++s)
    ASSERT_NEAR(beside[s], expected[s], 1e-12 * (1 + std::abs(expected[s])));
}

// The tuner times exchanges between portions of work. An interior point belongs to one element, so
// its value is complete if that element was applied.
TEST(EllipticOperator, AppliesPortionsOfBoundaryAndInteriorElements) {
  const OperatorCase op(operator_spec(Deformation::sine, {7, 6, 5}, {true, true, true}), 3, 0.1);
  const auto u = to_assembled(op.space, op.reference.mesh(), op.reference.mesh().random(1));
  const auto whole = op.space.make_vector("whole"), some = op.space.make_vector("some");
  op.a.apply(u, whole);
  const std::vector<double> expected = to_host(whole);
  const std::size_t begin = op.space.interior_begin();
  const auto count_applied = [&](const auto& apply) {
    Kokkos::deep_copy(some, 0.0);
    apply();
    Kokkos::fence("portions applied");
    const std::vector<double> found = to_host(some);
    std::size_t n = 0;
    for (std::size_t a = begin; a < expected.size(); ++a) {
      if (found[a] == 0) continue;
      EXPECT_EQ(found[a], expected[a]) << a;
      ++n;
    }
    return n;
  };
  const auto applied = [&](double boundary, double interior) {
    return count_applied([&] {
      if (boundary > 0) op.a.apply_some_boundary(u, some, boundary, side_stream());
      if (interior > 0) op.a.apply_some_interior(u, some, interior);
    });
  };
  const auto applied_of_all = [&](double portion) {
    return count_applied([&] { op.a.apply_some(u, some, portion); });
  };
  const std::size_t all = applied(1, 1), boundary = applied(1, 0), interior = applied(0, 1);
  EXPECT_EQ(all, std::count_if(expected.begin() + begin, expected.end(),
                               [](double value) { return value != 0; }));
  EXPECT_EQ(boundary + interior, all);
  EXPECT_EQ(boundary > 0, op.space.n_boundary_elements() > 0);
  EXPECT_EQ(applied(1e-9, 0) > 0, boundary > 0);
  EXPECT_GT(applied(1, 0) + applied(0, 1), applied(0.25, 0.25));
  EXPECT_EQ(applied_of_all(1), all);
  EXPECT_GT(applied_of_all(1e-9), 0u);
  // The same elements with and without an exchange in between, so the work is equal.
  for (const double portion : {0.1, 0.25, 0.7})
    EXPECT_EQ(applied_of_all(portion), applied(portion, portion)) << portion;
}

// Portions of 1 equal apply(), whatever the rows contained before, and give the same product.
TEST(EllipticOperator, PortionsClearTheirRowsAndHaveTheirProductSummed) {
  const OperatorCase op(operator_spec(Deformation::sine, {7, 6, 5}, {true, true, true}), 3, 0.1);
  const auto u = to_assembled(op.space, op.reference.mesh(), op.reference.mesh().random(1));
  const auto whole = op.space.make_vector("whole"), some = op.space.make_vector("some");
  const double expected = op.a.apply(u, whole);
  for (const bool at_once : {true, false}) {
    Kokkos::deep_copy(some, 1e30);
    if (at_once) {
      op.a.apply_some(u, some, 1);
    } else {
      op.a.apply_some_boundary(u, some, 1, side_stream());
      op.a.apply_some_interior(u, some, 1);
    }
    op.a.start_u_dot_au();
    EXPECT_NEAR(op.a.u_dot_au(), expected, operator_tolerance * expected) << at_once;
    // On a CPU with one thread, a sweep clears rows; portions omit it.
    if (is_host_device) continue;
    Kokkos::fence("portions applied");
    const std::vector<double> found = to_host(some);
    for (LocalIndex row = 0; row < op.space.n_rows(); ++row)
      ASSERT_LT(std::abs(found[row]), 1e20) << row;
  }
}

TEST(EllipticOperator, HasNoProductToSumWithThePortionsOfADeterministicSpace) {
  const Communicator comm(MPI_COMM_WORLD);
  const BoxMesh mesh(operator_spec(Deformation::none, {4, 3, 2}, {true, true, true}), 2,
                     comm.size(), comm.rank());
  AssembledSpace space(comm, mesh, Summation::deterministic);
  const GeometricFactors factors(space);
  const EllipticOperator a(space, factors, 0.1);
  const auto u = space.make_vector("u"), au = space.make_vector("Au"),
             again = space.make_vector("again");
  Kokkos::deep_copy(u, 1.0);
  const double product = a.apply(u, au);
  a.apply_some(u, again, 1);
  a.start_u_dot_au();
  EXPECT_EQ(a.apply(u, again), product);
}

// Only boundary elements contribute to shared DOFs. Interior elements leave them unchanged.
TEST(EllipticOperator, InteriorElementsLeaveSharedDofsAlone) {
  for (const int order : {1, 2, 3}) {
    const OperatorCase op(operator_spec(Deformation::sine, {7, 6, 5}, {true, true, true}), order,
                          0.1);
    const auto u = to_assembled(op.space, op.reference.mesh(), op.reference.mesh().random(1));
    const auto au = op.space.make_vector("Au");
    op.a.apply_boundary(u, au);
    const std::vector<double> posted = to_host(au);
    op.a.apply_interior(u, au);
    const std::vector<double> done = to_host(au);
    for (LocalIndex s = 0; s < op.space.gs().plan().n_shared(); ++s) ASSERT_EQ(posted[s], done[s]);
    const auto whole = op.space.make_vector("whole");
    const double u_dot_au = op.a.u_dot_au();
    const double at_once = op.a.apply(u, whole);
    if (is_host_device) {
      EXPECT_EQ(at_once, u_dot_au);
    } else {
      EXPECT_NEAR(at_once, u_dot_au, operator_tolerance * u_dot_au);
    }
  }
}

// The preceding work computes u, which is NaN before. The work visits every entry once, but may
// skip padding, which is zero. At order 11, a CPU works on 72 elements at a time.
TEST(EllipticOperator, WorkBeforeIsDoneToEveryEntryOnceBeforeItIsRead) {
  for (const int order : {2, 7, 11}) {
    OperatorCase op(operator_spec(Deformation::sine, {9, 9, 8}, {true, false, true}), order, 0.1);
    const auto u = to_assembled(op.space, op.reference.mesh(), op.reference.mesh().random(1));
    const auto made = op.space.make_vector("made"), found = op.space.make_vector("found"),
               expected = op.space.make_vector("expected");
    const double u_dot_au = op.a.apply(u, expected);
    const ById expected_by_id = to_ids(op.comm, op.space, op.reference.mesh(), expected);
    for (const Strategy& strategy : available_strategies(op.comm)) {
      if (strategy.name != "device-pairwise" && strategy.name != "device-pairwise+overlap")
        continue;
      op.space.gs().select(strategy);
      Kokkos::deep_copy(made, std::numeric_limits<double>::quiet_NaN());
      const LocalIndex zero_slot = op.space.zero_slot();
      Kokkos::deep_copy(Kokkos::subview(made, zero_slot), 0.0);
      std::vector<int> times(op.space.size(), 0);
      const double product = op.a.apply(made, found, [&](LocalIndex begin, LocalIndex end) {
        const auto part = std::pair(begin, end);
        Kokkos::deep_copy(ExecutionSpace(), Kokkos::subview(made, part), Kokkos::subview(u, part));
        for (LocalIndex a = begin; a < end; ++a) ++times[a];
      });
      EXPECT_NEAR(product, u_dot_au, 1e-12 * u_dot_au);
      EXPECT_LE(relative_difference(to_ids(op.comm, op.space, op.reference.mesh(), found),
                                    expected_by_id),
                operator_tolerance);
      for (LocalIndex a = 0; a < op.space.size(); ++a) {
        const bool is_padding = a >= zero_slot && a < op.space.interior_begin();
        if (is_padding) continue;
        ASSERT_EQ(times[a], 1) << a << " of " << op.space.size();
      }
    }
  }
}

// Odd numbers of elements, because the mixed derivatives of neighbours cancel if elements meet on
// the deformation's planes of symmetry.
TEST(EllipticOperator, InverseDiagonalInvertsTheDiagonalOfTheMatrix) {
  using Flags = std::array<bool, 3>;
  MeshSpec straight = operator_spec(Deformation::sine, {3, 3, 3}, Flags{true, false, true});
  straight.geometry = Geometry::trilinear;
  MeshSpec affine = operator_spec(Deformation::none, {3, 3, 2}, Flags{true, false, true});
  affine.geometry = Geometry::affine;
  for (const auto& [spec, order] :
       {std::pair{operator_spec(Deformation::sine, {3, 3, 3}, Flags{true, false, true}), 2},
        std::pair{operator_spec(Deformation::kershaw, {5, 2, 2}, Flags{false, false, false}), 2},
        std::pair{operator_spec(Deformation::sine, {2, 2, 2}, Flags{true, true, true}), 3},
        std::pair{straight, 2}, std::pair{affine, 3}}) {
    const OperatorCase op(spec, order, 0.1);
    const ReferenceMesh& mesh = op.reference.mesh();
    ById unit(mesh.n_points(), 0), expected(mesh.n_points(), 0);
    for (GlobalId id = 0; id < mesh.n_points(); ++id) {
      if (mesh.is_masked(id)) continue;
      unit[id] = 1;
      expected[id] = 1 / op.reference.apply(unit)[id];
      unit[id] = 0;
    }
    const ById inverse = to_ids(op.comm, op.space, mesh, op.a.inverse_diagonal());
    EXPECT_LE(relative_difference(inverse, expected), 1e-12);
  }
}

// Otherwise, tests with several threads would run with one.
TEST(EllipticOperator, RunsOnTheThreadsThatItWasGiven) {
  const char* const threads = std::getenv("OMP_NUM_THREADS");
  if (threads == nullptr || std::string(ExecutionSpace::name()) != "OpenMP")
    GTEST_SKIP() << "no number of OpenMP threads is asked for";
  EXPECT_EQ(std::to_string(ExecutionSpace().concurrency()), threads);
}

}  // namespace
}  // namespace nekbone_k
