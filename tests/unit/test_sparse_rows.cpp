// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/sparse_rows.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace nekbone_k {
namespace {

template <class T>
std::vector<T> host_values(const DeviceVector<T>& vector) {
  std::vector<T> values(vector.extent(0));
  Kokkos::deep_copy(Kokkos::View<T*, HostMemory>(values.data(), values.size()), vector);
  return values;
}

template <class T>
class SparseRowsOf : public testing::Test {};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(SparseRowsOf, ValueTypes);

// Small integers are exact in both types. Rows without entries are first, last and between others.
TYPED_TEST(SparseRowsOf, MultipliesAsADenseMatrix) {
  const std::vector<std::vector<double>> dense{{0, 0, 0}, {2, 0, -3}, {0, 0, 0},
                                               {0, 5, 0}, {1, 2, 3},  {0, 0, 0}};
  typename SparseRows<TypeParam>::Builder builder;
  for (const auto& row : dense) {
    for (LocalIndex column = 0; column < 3; ++column)
      if (row[column] != 0) builder.add(column, row[column]);
    builder.end_row();
  }
  const SparseRows<TypeParam> rows(builder);
  const std::vector<TypeParam> x{7, -11, 13};
  DeviceVector<TypeParam> y("y", dense.size());
  Kokkos::deep_copy(y, std::numeric_limits<TypeParam>::quiet_NaN());
  rows.multiply("rows", to_device("x", x), y);
  std::vector<TypeParam> expected;
  for (const auto& row : dense)
    expected.push_back(TypeParam(row[0] * x[0] + row[1] * x[1] + row[2] * x[2]));
  EXPECT_EQ(host_values(y), expected);
}

TYPED_TEST(SparseRowsOf, MultipliesRowsOfAnyLength) {
  constexpr LocalIndex n = 14;
  typename SparseRows<TypeParam>::Builder builder;
  std::vector<TypeParam> x, expected;
  for (LocalIndex length = 0; length < n; ++length) {
    TypeParam sum = 0;
    x.push_back(TypeParam(length * length + 1));
    for (LocalIndex column = 0; column < length; ++column) {
      builder.add(column, 3 + column);
      sum += TypeParam(3 + column) * x[column];
    }
    builder.end_row();
    expected.push_back(sum);
  }
  const DeviceVector<TypeParam> y("y", n);
  SparseRows<TypeParam>(builder).multiply("rows", to_device("x", x), y);
  EXPECT_EQ(host_values(y), expected);
}

// 1 is lost beside 2^60, so sums depend on the order.
TYPED_TEST(SparseRowsOf, AddsInAnOrderOfTheRow) {
  typename SparseRows<TypeParam>::Builder builder;
  for (const LocalIndex column : {0, 1, 2}) builder.add(column, 1);
  builder.end_row();
  for (const LocalIndex column : {0, 2, 1}) builder.add(column, 1);
  builder.end_row();
  const TypeParam large = TypeParam(1LL << 60);
  const DeviceVector<TypeParam> y("y", 2);
  SparseRows<TypeParam>(builder).multiply(
      "rows", to_device("x", std::vector<TypeParam>{large, 1, -large}), y);
  EXPECT_EQ(host_values(y), (std::vector<TypeParam>{0, 1}));
}

TYPED_TEST(SparseRowsOf, MayRepeatAColumn) {
  typename SparseRows<TypeParam>::Builder builder;
  builder.add(0, 2);
  builder.add(0, 3);
  builder.end_row();
  const DeviceVector<TypeParam> y("y", 1);
  SparseRows<TypeParam>(builder).multiply("rows", to_device("x", std::vector<TypeParam>{4}), y);
  EXPECT_EQ(host_values(y), (std::vector<TypeParam>{20}));
}

// More rows than the matrix are left alone.
TYPED_TEST(SparseRowsOf, WithoutRowsDoesNothing) {
  const std::vector<TypeParam> before{1, 2};
  const auto y = to_device("y", before);
  SparseRows<TypeParam>().multiply("rows", to_device("x", std::vector<TypeParam>{4}), y);
  EXPECT_EQ(host_values(y), before);
}

}  // namespace
}  // namespace nekbone_k
