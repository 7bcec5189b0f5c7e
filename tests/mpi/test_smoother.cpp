// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/smoother.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "operators/geometric_factors.hpp"
#include "support/available_strategies.hpp"
#include "support/cg_system.hpp"
#include "support/plain_levels.hpp"
#include "support/typed_vectors.hpp"

namespace nekbone_k {
namespace {

/// A system and its operator on values of a type. At least seven elements for up to seven ranks.
template <class T>
struct SmootherSystem {
  SmootherSystem(const MeshSpec& spec, int order, double lambda,
                 Summation summation = Summation::ordinary)
      : reference(spec, order, lambda),
        scaled(reference),
        space(comm, BoxMesh(spec, order, comm.size(), comm.rank()), summation),
        geometry(space),
        in_double(space, geometry, lambda),
        inverse_diagonal(space.template make_vector<T>("inverse diagonal")) {
    Kokkos::deep_copy(inverse_diagonal, in_double.inverse_diagonal());
    if constexpr (std::is_same_v<T, double>) {
      a = std::make_unique<EllipticOperator>(space, geometry, lambda);
    } else {
      factors = std::make_unique<SingleFactors>(geometry, space, 1);
      a = std::make_unique<EllipticOperatorOf<T>>(space, *factors, lambda);
    }
  }

  const ReferenceMesh& mesh() const { return reference.mesh(); }
  DeviceVector<T> vector(const ById& u) const { return to_assembled_of<T>(space, mesh(), u); }
  ById by_id(const DeviceVector<T>& u) const { return to_ids_of(comm, space, mesh(), u); }
  /// Vectors for a right-hand side. All others hold values that must be overwritten.
  LevelVectors<T> vectors(const ById& b) const {
    const auto nan = [&] { return nan_vector<T>(space, mesh()); };
    return {vector(b), nan(), nan(), nan(), nan()};
  }

  /// Compares both smoothings with polynomials of the plain operator. Collective.
  void expect_equals_polynomial(ChebyshevKind kind, int degree, double lambda_max) const {
    SCOPED_TRACE(fmt::format("{}, degree {}", name(kind), degree));
    const Smoother<T> smoother(*a, inverse_diagonal, chebyshev_steps(kind, degree, lambda_max));
    EXPECT_EQ(smoother.degree(), degree);
    const ById exact = mesh().random(1), b = reference.apply(exact), change = mesh().random(2);
    const LevelVectors<T> v = vectors(b);
    const double near = 500 * std::numeric_limits<T>::epsilon();

    smoother.smooth_from_zero(v);
    const ById smoothed = exact - smoothed_error(scaled, kind, degree, lambda_max, exact);
    EXPECT_LE(relative_difference(by_id(v.x), smoothed), near);
    EXPECT_LE(max_abs(by_id(v.r) - (b - reference.apply(smoothed))), near * max_abs(b));

    Kokkos::deep_copy(v.z, vector(change));
    smoother.correct_and_smooth(v);
    const ById corrected = smoothed + change;
    EXPECT_LE(
        relative_difference(by_id(v.x), exact - smoothed_error(scaled, kind, degree, lambda_max,
                                                               exact - corrected)),
        near);
    EXPECT_LE(relative_difference(by_id(v.b), b), near);  // unchanged
  }

  Communicator comm{MPI_COMM_WORLD};
  ReferenceOperator reference;
  ScaledOperator scaled;
  AssembledSpace space;
  GeometricFactors geometry;
  EllipticOperator in_double;
  DeviceVector<T> inverse_diagonal;
  std::unique_ptr<SingleFactors> factors;
  std::unique_ptr<EllipticOperatorOf<T>> a;
};

template <class T>
class SmootherOf : public testing::Test {};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(SmootherOf, ValueTypes);

TYPED_TEST(SmootherOf, IsThePolynomialOfTheScaledOperator) {
  const SmootherSystem<TypeParam> s(mixed_box(), 2, 0.1);
  for (const auto kind :
       {ChebyshevKind::first, ChebyshevKind::fourth, ChebyshevKind::optimized_fourth})
    for (int degree = 1; degree <= most_chebyshev_degree; ++degree)
      s.expect_equals_polynomial(kind, degree, 2.5);
}

// Orders 1 and 2 have few interior points; a periodic singular box has constants in its null space.
TYPED_TEST(SmootherOf, WorksAtOtherOrdersAndOnASingularBox) {
  const SmootherSystem<TypeParam> lowest(mixed_box(), 1, 0.0), singular(periodic_box(), 3, 0.0);
  for (const int degree : {1, 2, 3}) {
    lowest.expect_equals_polynomial(ChebyshevKind::optimized_fourth, degree, 2.2);
    singular.expect_equals_polynomial(ChebyshevKind::fourth, degree, 2.8);
  }
}

TYPED_TEST(SmootherOf, WorksWithEveryStrategyAndOnADeterministicSpace) {
  for (const Summation summation : {Summation::ordinary, Summation::deterministic}) {
    SmootherSystem<TypeParam> s(mixed_box(), 2, 0.1, summation);
    for (const Strategy& strategy : available_strategies(s.comm)) {
      SCOPED_TRACE(strategy.name);
      s.space.gs().select(strategy);
      s.expect_equals_polynomial(ChebyshevKind::optimized_fourth, 3, 2.5);
    }
  }
}

}  // namespace
}  // namespace nekbone_k
