// SPDX-License-Identifier: BSD-3-Clause
#include "flow/velocity_operator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "solver/conjugate_gradients.hpp"
#include "support/available_strategies.hpp"
#include "support/reference_flow.hpp"
#include "support/typed_vectors.hpp"

namespace nekbone_k {
namespace {

MeshSpec velocity_box(const std::array<int, 3>& elements) {
  MeshSpec spec;
  spec.elements = elements;
  spec.extent = {2, 1, 1.5};
  spec.deformation = Deformation::sine;
  spec.epsilon = 0.2;
  return spec;
}

struct VelocityCase {
  VelocityCase(const MeshSpec& spec, int order, double lambda,
               Summation summation = Summation::ordinary, MPI_Comm parent = MPI_COMM_WORLD)
      : comm(parent),
        reference(spec, order, lambda),
        space(comm, BoxMesh(spec, order, comm.size(), comm.rank()), summation),
        factors(space),
        a(space, factors, lambda),
        of_velocity(comm, a) {}

  const ReferenceMesh& mesh() const { return reference.mesh(); }
  VectorById random(unsigned seed) const {
    return {mesh().random(seed), mesh().random(seed + 1), mesh().random(seed + 2)};
  }
  VectorById expected(const VectorById& u) const {
    return {reference.apply(u[0]), reference.apply(u[1]), reference.apply(u[2])};
  }
  VectorField field(const VectorById& values) const {
    return to_vector_field(space, mesh(), values);
  }
  VectorById by_id(const VectorField& field) const { return to_ids(comm, space, mesh(), field); }
  FusedVectorOps ops(const ConstDeviceVector<double>& inverse_diagonal = {}) const {
    std::optional<double> terms;
    if (space.is_deterministic()) terms = 3.0 * static_cast<double>(mesh().n_points());
    return {comm, vector_range(space), inverse_diagonal, all_reduce_strategies().front(), terms};
  }

  Communicator comm;
  ReferenceOperator reference;
  AssembledSpace space;
  GeometricFactors factors;
  EllipticOperator a;
  VelocityOperator of_velocity;
};

class VelocityOperatorSums : public testing::TestWithParam<Summation> {};

TEST_P(VelocityOperatorSums, EqualThePlainLoops) {
  for (const auto& elements : {std::array{3, 2, 2}, std::array{1, 1, 7}, std::array{3, 3, 3}})
    for (const int order : {1, 2, 4}) {
      const VelocityCase v(velocity_box(elements), order, 0.5, GetParam());
      const VectorById u = v.random(1), expected = v.expected(u);
      const VectorField au = nan_vector_field(v.space, v.mesh());
      const double product = v.of_velocity.apply(v.field(u).values, au.values);
      EXPECT_LE(relative_difference(v.by_id(au), expected), 1e-13);
      EXPECT_NEAR(product, dot(u, expected), 1e-12 * dot(u, expected));
    }
}

// The components do not mix: each has the result of the operator of one component, by every
// strategy.
TEST_P(VelocityOperatorSums, EqualThreeOperators) {
  VelocityCase v(velocity_box({3, 3, 2}), 3, 2, GetParam());
  const VectorField u = v.field(v.random(1));
  VectorById expected;
  double product = 0;
  for (int c = 0; c < 3; ++c) {
    const auto au = nan_vector<double>(v.space, v.mesh());
    product += v.a.apply(u.component(c), au);
    expected[c] = to_ids(v.comm, v.space, v.mesh(), au);
  }
  for (const Strategy& strategy : available_strategies(v.comm)) {
    v.space.gs().select(strategy);
    const VectorField au = nan_vector_field(v.space, v.mesh());
    EXPECT_NEAR(v.of_velocity.apply(u.values, au.values), product, 1e-13 * product)
        << strategy.name;
    const VectorById found = v.by_id(au);
    EXPECT_LE(relative_difference(found, expected), 1e-15) << strategy.name;
    if (GetParam() == Summation::deterministic) {
      EXPECT_EQ(found, expected) << strategy.name;
    }
  }
}

// The work makes u, which is NaN before. It may skip padding, which is zero.
TEST_P(VelocityOperatorSums, CallWorkOnceForEveryEntryBeforeItIsRead) {
  const VelocityCase v(velocity_box({3, 3, 2}), 3, 2, GetParam());
  const VectorById u = v.random(1);
  const VectorField from = v.field(u), made = nan_vector_field(v.space, v.mesh()),
                    au = nan_vector_field(v.space, v.mesh());
  std::vector<int> times(from.values.extent(0), 0);
  v.of_velocity.apply(made.values, au.values, [&](LocalIndex begin, LocalIndex end) {
    const auto part = std::pair(begin, end);
    Kokkos::deep_copy(ExecutionSpace(), Kokkos::subview(made.values, part),
                      Kokkos::subview(from.values, part));
    for (LocalIndex a = begin; a < end; ++a) ++times[a];
  });
  EXPECT_LE(relative_difference(v.by_id(au), v.expected(u)), 1e-13);
  for (std::size_t a = 0; a < times.size(); ++a) {
    const auto at = static_cast<LocalIndex>(a) % v.space.size();
    const bool is_padding = at >= v.space.zero_slot() && at < v.space.interior_begin();
    if (is_padding) continue;
    ASSERT_EQ(times[a], 1) << a << " of " << times.size();
  }
}

// Dot products count every DOF of each component once.
TEST_P(VelocityOperatorSums, VectorOperationsEqualThePlainLoops) {
  const VelocityCase v(velocity_box({3, 3, 2}), 3, 2, GetParam());
  const VectorById r = v.random(1), ap = v.random(4), diagonal = v.random(7);
  const VectorField on_device = v.field(r), inverse = v.field(diagonal);
  const auto weighted = [&](const VectorById& a) {
    VectorById product = a;
    for (int c = 0; c < 3; ++c)
      for (std::size_t i = 0; i < a[c].size(); ++i) product[c][i] *= diagonal[c][i];
    return product;
  };
  const auto expect = [&](const ResidualProducts& found, const VectorById& expected) {
    const double square = dot(expected, expected);
    EXPECT_NEAR(found.r_dot_r, square, 1e-13 * square);
    EXPECT_NEAR(found.r_dot_z, dot(expected, weighted(expected)), 1e-13 * square);
  };
  const FusedVectorOps ops = v.ops(inverse.values);
  expect(ops.products(on_device.values), r);
  const double alpha = 0.3;
  VectorById updated = r;
  for (int c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < r[c].size(); ++i) updated[c][i] -= alpha * ap[c][i];
  expect(ops.update_residual(alpha, v.field(ap).values, on_device.values), updated);
  EXPECT_LE(relative_difference(v.by_id(on_device), updated), 1e-15);
  // The range has three components, and each has the same owned entries.
  const VectorRange range = vector_range(v.space);
  EXPECT_EQ(range.size, 3 * v.space.size());
  EXPECT_EQ(range.component, v.space.size());
  EXPECT_EQ(range.first_owned, v.space.n_not_owned());
}

// Components of very different size, of which one solve needs the most iterations.
TEST_P(VelocityOperatorSums, AreSolvedForTogether) {
  const VelocityCase v(velocity_box({3, 2, 2}), 3, 5, GetParam());
  VectorById exact = v.random(1);
  for (double& value : exact[1]) value *= 1e-3;
  for (double& value : exact[2]) value = 0;
  const VectorField diagonal("inverse diagonal", v.space);
  for (int c = 0; c < 3; ++c) Kokkos::deep_copy(diagonal.component(c), v.a.inverse_diagonal());
  const CgVectors vectors{VectorField("x", v.space).values, v.field(v.expected(exact)).values,
                          VectorField("p", v.space).values, VectorField("Ap", v.space).values};
  const CgResult result = conjugate_gradients(v.of_velocity, v.ops(diagonal.values), vectors,
                                              {.iterations = 200, .tolerance = 1e-11});
  EXPECT_TRUE(result.converged);
  EXPECT_LE(relative_difference(v.by_id(VectorField(vectors.x)), exact), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Summations, VelocityOperatorSums,
                         testing::Values(Summation::ordinary, Summation::deterministic),
                         [](const auto& instance) {
                           return instance.param == Summation::ordinary ? "Ordinary"
                                                                        : "Deterministic";
                         });

TEST(VelocityOperator, HasTheSameBitsAtAnyNumberOfRanksOnDeterministicSpaces) {
  const MeshSpec spec = velocity_box({3, 3, 2});
  const auto apply = [&](MPI_Comm parent) {
    const VelocityCase v(spec, 3, 2, Summation::deterministic, parent);
    const VectorField au("Au", v.space);
    const double product = v.of_velocity.apply(v.field(v.random(1)).values, au.values);
    return std::pair{v.by_id(au), product};
  };
  const auto together = apply(MPI_COMM_WORLD);
  if (!Communicator(MPI_COMM_WORLD).is_root()) return;
  EXPECT_EQ(apply(MPI_COMM_SELF), together);
}

TEST(VelocityOperator, FieldsHaveTheirComponentsOneAfterTheOther) {
  const VelocityCase v(velocity_box({3, 2, 2}), 2, 1);
  const VectorField field("field", v.space);
  EXPECT_EQ(field.size(), v.space.size());
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(field.component(c).data(), field.values.data() + c * field.size());
    EXPECT_EQ(&field.field()(0, c), field.component(c).data());
    EXPECT_EQ(LocalIndex(field.component(c).extent(0)), field.size());
  }
}

}  // namespace
}  // namespace nekbone_k
