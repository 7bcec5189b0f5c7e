// SPDX-License-Identifier: BSD-3-Clause
#include "solver/vector_ops.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

namespace nekbone_k {
namespace {

using Values = std::vector<double>;

// Arbitrary values of both signs.
Values numbers(LocalIndex n, double seed) {
  Values values(n);
  for (LocalIndex a = 0; a < n; ++a) values[a] = std::sin(seed + 12.9898 * a);
  return values;
}

Values to_host(const DeviceVector<double>& vector) {
  Values values(vector.extent(0));
  Kokkos::deep_copy(Kokkos::View<double*, HostMemory>(values.data(), values.size()), vector);
  return values;
}

struct Shape {
  LocalIndex size, first_owned;
  bool jacobi;
};

// Sizes around a SIMD register and above several chunks of a thread. Other ranks own none, some or
// all of the entries.
std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const LocalIndex size : {0, 1, 7, 8, 33, 5000})
    for (const LocalIndex first_owned : {0, 1, size / 3, size})
      for (const bool jacobi : {false, true})
        if (first_owned <= size) all.push_back({size, first_owned, jacobi});
  return all;
}

template <class Ops>
class VectorOpsVersion : public testing::Test {
 protected:
  // Calls action(ops, shape, inverse diagonal) for every shape; the diagonal is 1 without Jacobi.
  template <class Action>
  void for_each_shape(const Action& action) const {
    for (const Shape& shape : shapes()) {
      SCOPED_TRACE(testing::Message() << "size " << shape.size << ", first owned "
                                      << shape.first_owned << ", Jacobi " << shape.jacobi);
      Values diagonal(shape.size, 1.0);
      if (shape.jacobi) diagonal = numbers(shape.size, 4.0);
      DeviceVector<double> on_device;
      if (shape.jacobi) on_device = to_device("diagonal", diagonal);
      action(Ops(m_comm, {shape.size, shape.first_owned}, on_device), shape, diagonal);
    }
  }

  static void expect_products(const ResidualProducts& products, const Shape& shape, const Values& r,
                              const Values& diagonal) {
    double r_dot_r = 0, r_dot_z = 0;
    for (LocalIndex a = shape.first_owned; a < shape.size; ++a) {
      r_dot_r += r[a] * r[a];
      r_dot_z += r[a] * diagonal[a] * r[a];
    }
    // The library chooses the order of addition.
    EXPECT_NEAR(products.r_dot_r, r_dot_r, 1e-13 * r_dot_r);
    EXPECT_NEAR(products.r_dot_z, r_dot_z, 1e-13 * r_dot_r);
  }

  // An entry takes one or two operations, which may be fused.
  static void expect_near(const DeviceVector<double>& found, const Values& expected) {
    const Values values = to_host(found);
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t a = 0; a < values.size(); ++a)
      ASSERT_NEAR(values[a], expected[a], 1e-15 * (1 + std::abs(expected[a]))) << "entry " << a;
  }

  const Communicator m_comm{MPI_COMM_WORLD};
};

using Versions = testing::Types<FusedVectorOps, KokkosKernelsVectorOps>;
TYPED_TEST_SUITE(VectorOpsVersion, Versions);

TYPED_TEST(VectorOpsVersion, ProductsCountOwnedEntries) {
  this->for_each_shape([&](const auto& ops, const Shape& shape, const Values& diagonal) {
    const Values r = numbers(shape.size, 1.0);
    const auto r_device = to_device("r", r);
    this->expect_products(ops.products(r_device), shape, r, diagonal);
    EXPECT_EQ(to_host(r_device), r);
  });
}

TYPED_TEST(VectorOpsVersion, UpdateResidualSubtractsEverywhereAndCountsOwned) {
  this->for_each_shape([&](const auto& ops, const Shape& shape, const Values& diagonal) {
    Values r = numbers(shape.size, 1.0);
    const Values ap = numbers(shape.size, 2.0);
    const auto r_device = to_device("r", r), ap_device = to_device("Ap", ap);
    const double alpha = 0.75;
    const ResidualProducts products = ops.update_residual(alpha, ap_device, r_device);
    for (LocalIndex a = 0; a < shape.size; ++a) r[a] -= alpha * ap[a];
    this->expect_near(r_device, r);
    this->expect_products(products, shape, r, diagonal);
    EXPECT_EQ(to_host(ap_device), ap);
  });
}

// Calls the products of r first, as in an iteration, because one version forms z there.
TYPED_TEST(VectorOpsVersion, UpdateSolutionThenDirection) {
  this->for_each_shape([&](const auto& ops, const Shape& shape, const Values& diagonal) {
    const Values r = numbers(shape.size, 1.0);
    Values x = numbers(shape.size, 2.0), p = numbers(shape.size, 3.0);
    const auto r_device = to_device("r", r), x_device = to_device("x", x),
               p_device = to_device("p", p);
    const double alpha = -1.25, beta = 0.375;
    ops.products(r_device);
    ops.update_solution_and_direction(alpha, beta, r_device, x_device, p_device, 0,
                                      p_device.extent(0));
    for (LocalIndex a = 0; a < shape.size; ++a) {
      x[a] += alpha * p[a];
      p[a] = diagonal[a] * r[a] + beta * p[a];
    }
    this->expect_near(x_device, x);
    this->expect_near(p_device, p);
    EXPECT_EQ(to_host(r_device), r);
  });
}

TYPED_TEST(VectorOpsVersion, JacobiMovesMoreData) {
  const TypeParam plain(this->m_comm, {8, 0}, {});
  const TypeParam jacobi(this->m_comm, {8, 0}, to_device("diagonal", Values(8, 2.0)));
  EXPECT_GT(plain.traffic(), 0);
  EXPECT_GT(jacobi.traffic(), plain.traffic());
}

// r·z and Ap·z of a z that is stored; with reproducible sums the same.
TEST(VectorOps, FlexibleProductsCountOwnedEntries) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const Shape& shape : shapes())
    for (const std::optional<double> terms : {std::optional<double>(), std::optional(5000.0)}) {
      if (shape.jacobi) continue;  // z is given
      const Values r = numbers(shape.size, 1.0), ap = numbers(shape.size, 2.0),
                   z = numbers(shape.size, 3.0);
      double r_dot_z = 0, ap_dot_z = 0;
      for (LocalIndex a = shape.first_owned; a < shape.size; ++a) {
        r_dot_z += r[a] * z[a];
        ap_dot_z += ap[a] * z[a];
      }
      const FusedVectorOps ops(comm, {shape.size, shape.first_owned}, {},
                               all_reduce_strategies().front(), terms);
      const FlexibleProducts found =
          ops.products(to_device("r", r), to_device("Ap", ap), to_device("z", z));
      EXPECT_NEAR(found.r_dot_z, r_dot_z, 1e-15 * shape.size) << "size " << shape.size;
      EXPECT_NEAR(found.ap_dot_z, ap_dot_z, 1e-15 * shape.size) << "size " << shape.size;
    }
}

}  // namespace
}  // namespace nekbone_k
