// SPDX-License-Identifier: BSD-3-Clause
// The operator on floats equals a multiple of the one on doubles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "support/available_strategies.hpp"
#include "support/operator_case.hpp"

namespace nekbone_k {
namespace {

// Relative to the largest entry. The largest measured error is 4e-7.
constexpr double single_tolerance = 4e-6;

/// An operator on floats beside the one on doubles.
struct SingleCase {
  SingleCase(const MeshSpec& spec, int order, double lambda, double scale)
      : op(spec, order, lambda),
        factors(op.geometry, op.space, scale),
        a(op.space, factors, lambda) {}

  DeviceVector<float> floats(const ById& u) const {
    const auto vector = op.space.make_vector<float>("floats");
    Kokkos::deep_copy(vector, to_assembled(op.space, op.reference.mesh(), u));
    return vector;
  }
  /// A vector for results, whose rows hold what the operator has to overwrite.
  DeviceVector<float> results() const {
    const auto au = op.space.make_vector<float>("Au");
    const auto rows = [&](LocalIndex begin, LocalIndex end) {
      return Kokkos::subview(au, std::pair(begin, end));
    };
    Kokkos::deep_copy(rows(a.n_cleared_rows(), op.space.n_rows()),
                      std::numeric_limits<float>::quiet_NaN());
    return au;
  }
  /// An assembled vector of floats by id. Collective.
  ById by_id(const DeviceVector<float>& vector) const {
    const auto doubles = op.space.make_vector("doubles");
    Kokkos::deep_copy(doubles, vector);
    return to_ids(op.comm, op.space, op.reference.mesh(), doubles);
  }
  /// Collective.
  ById apply(const ById& u) const {
    const auto au = results();
    a.apply_without_sum(floats(u), au);
    return by_id(au);
  }
  /// Collective.
  void expect_equals_doubles() const {
    const ById u = op.reference.mesh().random(1);
    ById expected = op.apply(u).first;
    for (double& value : expected) value *= factors.scale;
    const ById found = apply(u);
    if (max_abs(expected) == 0) {  // every node is a Dirichlet node
      EXPECT_EQ(found, expected);
    } else {
      EXPECT_LE(relative_difference(found, expected), single_tolerance);
    }
  }

  OperatorCase op;
  SingleFactors factors;
  EllipticOperatorOf<float> a;
};

class SinglePrecisionOrder : public testing::TestWithParam<int> {};

TEST_P(SinglePrecisionOrder, EqualsAMultipleOfTheOperatorOnDoubles) {
  for (const Geometry geometry : {Geometry::stored, Geometry::trilinear, Geometry::affine})
    for (const Deformation deformation : {Deformation::sine, Deformation::none})
      for (const double lambda : {0.0, 1.0})
        for (const double scale : {1.0, 0.3}) {
          if (geometry == Geometry::affine && deformation != Deformation::none) continue;
          SCOPED_TRACE(fmt::format("{}, {}, lambda {}, scale {}", name(geometry), name(deformation),
                                   lambda, scale));
          MeshSpec spec = operator_spec(deformation);
          spec.geometry = geometry;
          SingleCase(spec, GetParam(), lambda, scale).expect_equals_doubles();
        }
}

// Orders 9 and 17 run the kernel for a run-time order unless they are compiled.
INSTANTIATE_TEST_SUITE_P(Orders, SinglePrecisionOrder, testing::Values(1, 2, 3, 7, 9, 17),
                         [](const auto& instance) { return "N" + std::to_string(instance.param); });

TEST(SinglePrecision, EqualsAMultipleOnEveryKindOfBox) {
  for (const std::array<int, 3>& elements : {std::array{7, 1, 1}, {7, 6, 5}, {1, 3, 9}})
    for (const std::array<bool, 3>& periodic :
         {std::array{false, false, false}, {true, true, true}, {true, false, true}})
      for (const int order : {1, 3, 9})
        for (const double lambda : {0.0, 1.0})
          SingleCase(operator_spec(Deformation::sine, elements, periodic), order, lambda, 2.0)
              .expect_equals_doubles();
}

// Factors grow with the extent h of the box and determinants with its cube. The mass is as large as
// the stiffness if lambda is about 1 / h^2.
TEST(SinglePrecision, HasNoOverflowWithAScaleThatNormalisesTheFactors) {
  for (const double extent : {1e-60, 1e-30, 1e30, 1e60})
    for (const int order : {1, 3, 9})
      for (const double relative_lambda : {0.0, 1.0}) {
        SCOPED_TRACE(fmt::format("extent {}, order {}", extent, order));
        MeshSpec spec = operator_spec(Deformation::sine);
        for (double& length : spec.extent) length *= extent;
        SingleCase(spec, order, relative_lambda / extent / extent, 1 / extent)
            .expect_equals_doubles();
      }
}

TEST(SinglePrecision, EveryStrategyGivesTheSameResult) {
  for (const int order : {1, 3, 9}) {
    SingleCase c(operator_spec(Deformation::sine, {7, 6, 5}, {true, false, true}), order, 0.1, 3);
    c.expect_equals_doubles();
    const auto u = c.floats(c.op.reference.mesh().random(1));
    const auto applied = [&] {
      const auto au = c.results();
      c.a.apply_without_sum(u, au);
      return to_host(au);
    };
    const std::vector<float> expected = applied();
    for (const Strategy& strategy : available_strategies(c.op.comm)) {
      SCOPED_TRACE(strategy.name);
      c.op.space.gs().select(strategy);
      for (int call = 0; call < 2; ++call) {
        if (adds_in_any_order(order)) {
          c.expect_equals_doubles();
        } else {  // compares on each rank what was compared by id above
          EXPECT_TRUE(applied() == expected) << "order " << order;
        }
      }
      c.op.space.gs().check();
    }
  }
}

TEST(SinglePrecision, WorksOnADeterministicSpace) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const int order : {1, 3, 9}) {
    const MeshSpec spec = operator_spec(Deformation::sine, {7, 6, 5}, {true, false, true});
    const BoxMesh mesh(spec, order, comm.size(), comm.rank());
    AssembledSpace space(comm, mesh, Summation::deterministic);
    const GeometricFactors geometry(space);
    const SingleFactors factors(geometry, space, 2);
    const EllipticOperator doubles(space, geometry, 1);
    const EllipticOperatorOf<float> floats(space, factors, 1);
    const ReferenceMesh reference(spec, order);
    const auto u = to_assembled(space, reference, reference.random(1));
    const auto single_u = space.make_vector<float>("u"), single_au = space.make_vector<float>("Au");
    const auto au = space.make_vector("Au"), found = space.make_vector("found");
    doubles.apply(u, au);
    Kokkos::deep_copy(single_u, u);
    floats.apply_without_sum(single_u, single_au);
    Kokkos::deep_copy(found, single_au);
    ById expected = to_ids(comm, space, reference, au);
    for (double& value : expected) value *= factors.scale;
    EXPECT_LE(relative_difference(to_ids(comm, space, reference, found), expected),
              single_tolerance);
  }
}

TEST(SinglePrecision, LambdaMayChange) {
  for (const int order : {3, 9}) {
    SingleCase c(operator_spec(Deformation::sine), order, 0.0, 0.5);
    const ById u = c.op.reference.mesh().random(1);
    const auto doubles = c.op.apply(u).first;
    c.a.set_lambda(0.7);
    c.op.a.set_lambda(0.7);
    EXPECT_EQ(c.a.lambda(), 0.7);
    const SingleCase expected(operator_spec(Deformation::sine), order, 0.7, 0.5);
    const ById found = c.apply(u), found_doubles = c.op.apply(u).first;
    EXPECT_GT(relative_difference(found_doubles, doubles), 1e-4);
    if (adds_in_any_order(order)) {
      EXPECT_LE(relative_difference(found, expected.apply(u)), single_tolerance);
    } else {
      EXPECT_EQ(found, expected.apply(u));
      EXPECT_EQ(found_doubles, expected.op.apply(u).first);
    }
  }
}

TEST(SinglePrecision, RejectsALambdaBeyondTheRangeOfAFloat) {
  SingleCase c(operator_spec(Deformation::sine), 2, 1.0, 1.0);
  EXPECT_THROW(c.a.set_lambda(1e39), InternalError);
  EXPECT_EQ(c.a.lambda(), 1.0);
  const SingleFactors tiny(c.op.geometry, c.op.space, 1e-30);
  EXPECT_THROW(EllipticOperatorOf<float>(c.op.space, tiny, 1.0), InternalError);
  EXPECT_NO_THROW(EllipticOperatorOf<float>(c.op.space, tiny, 1e-30));
}

TEST(SinglePrecision, HasNoKernelsForOtherGeometries) {
  const SingleCase c(operator_spec(Deformation::sine), 3, 0.0, 1.0);
  const auto u = c.op.space.make_vector<float>("u"), au = c.op.space.make_vector<float>("Au");
  auto arguments = c.a.element_arguments(u, au, 0, c.op.space.layout().n_blocks());
  arguments.geometry = Geometry::trilinear;
  EXPECT_THROW(axhelm(arguments), InternalError);
  EXPECT_THROW(axhelm_run_time(arguments), InternalError);
}

// An interior point belongs to one element, so its value is complete if that element was applied.
TEST(SinglePrecision, AppliesPortions) {
  for (const int order : {3, 9}) {
    SingleCase c(operator_spec(Deformation::sine, {7, 6, 5}, {true, false, true}), order, 0.1, 1.0);
    const ById random = c.op.reference.mesh().random(1);
    const auto u = c.floats(random), whole = c.results(), parts = c.results(),
               at_once = c.results();
    c.a.apply_without_sum(u, whole);
    c.a.apply_some_boundary(u, parts, 1.0);
    c.a.apply_some_interior(u, parts, 1.0);
    c.a.apply_some(u, at_once, 1.0);
    const auto host = [](const DeviceVector<float>& vector) {
      return Kokkos::create_mirror_view_and_copy(HostMemory(), vector);
    };
    const auto expected = host(whole), found = host(parts), also_found = host(at_once);
    for (LocalIndex a = c.op.space.interior_begin(); a < c.op.space.size(); ++a) {
      ASSERT_EQ(found(a), expected(a));
      ASSERT_EQ(also_found(a), expected(a));
    }
  }
}

// A CPU processes two blocks at once. The bits of a result must not depend on the other block. The
// meshes have an odd number of blocks, an even one, one, and a block with one element.
TEST(SinglePrecision, HasTheSameBitsInAnyRangeOfBlocks) {
  for (const std::array<int, 3>& elements :
       {std::array{7, 6, 5}, {8, 2, 2}, {2, 2, 2}, {7, 1, 1}, {9, 1, 1}})
    for (const auto& [order, deformation] :
         {std::pair{1, Deformation::sine}, std::pair{3, Deformation::sine},
          std::pair{4, Deformation::sine}, std::pair{7, Deformation::sine},
          std::pair{7, Deformation::none}, std::pair{9, Deformation::sine}}) {
      SCOPED_TRACE(fmt::format("order {}, {}, {} x {} x {} elements", order, name(deformation),
                               elements[0], elements[1], elements[2]));
      // Periodic, because at order 1 a single element between Dirichlet faces has no DOF.
      const SingleCase c(operator_spec(deformation, elements, {true, true, true}), order, 0.1, 1.0);
      const AssembledSpace& space = c.op.space;
      const LocalIndex n_blocks = space.layout().n_blocks();
      const auto u = c.floats(c.op.reference.mesh().random(1));
      // Interior values, and surface values or rows, by these ranges of blocks.
      const auto results = [&](SurfaceResults surface, const std::vector<LocalIndex>& ends) {
        const auto au = space.make_vector<float>("Au");
        const DeviceVector<float> values("surface", space.layout().n_surface_values());
        LocalIndex first = 0;
        for (const LocalIndex end : ends) {
          auto arguments = c.a.element_arguments(u, au, first, end);
          arguments.surface_results = surface;
          arguments.au_surface = values;
          axhelm(arguments);
          first = end;
        }
        ById all;
        for (const auto& view : {au, values}) {
          const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), view);
          all.insert(all.end(), host.data(), host.data() + host.extent(0));
        }
        return all;
      };
      std::vector<LocalIndex> one_by_one(n_blocks);
      std::iota(one_by_one.begin(), one_by_one.end(), 1);
      const bool can_add = can_add_surface_results(order) && !adds_in_any_order(order);
      for (const SurfaceResults surface : {SurfaceResults::stored, SurfaceResults::added}) {
        if (surface == SurfaceResults::added && !can_add) continue;
        const ById whole = results(surface, {n_blocks});
        EXPECT_GT(max_abs(whole), 0);
        EXPECT_EQ(results(surface, one_by_one), whole);
        for (LocalIndex end = 0; end <= n_blocks; ++end)
          EXPECT_EQ(results(surface, {end, n_blocks}), whole) << "divided at " << end;
      }
    }
}

TEST(SinglePrecision, HasOneFactorPerElementIfAllAreBricks) {
  for (const Geometry geometry : {Geometry::stored, Geometry::trilinear, Geometry::affine}) {
    MeshSpec spec = operator_spec(Deformation::none);
    spec.geometry = geometry;
    const SingleCase bricks(spec, 3, 0.1, 1.0);
    EXPECT_EQ(bricks.factors.geometry, Geometry::affine);
    EXPECT_EQ(bricks.factors.factors.extent(0),
              bricks.op.space.layout().n_geometry_values(ElementLayout::n_factors));
    if (geometry == Geometry::affine) continue;
    spec.deformation = Deformation::sine;
    const SingleCase deformed(spec, 3, 0.1, 1.0);
    EXPECT_EQ(deformed.factors.geometry, Geometry::stored);
    EXPECT_LT(bricks.a.least_bytes(), deformed.a.least_bytes());
  }
}

TEST(SinglePrecision, MovesHalfTheBytesBesideItsLists) {
  const SingleCase c(operator_spec(Deformation::sine), 3, 0.1, 1.0);
  EXPECT_LT(c.a.least_bytes(), c.op.a.least_bytes());
  EXPECT_GE(2 * c.a.least_bytes(), c.op.a.least_bytes());
}

}  // namespace
}  // namespace nekbone_k
