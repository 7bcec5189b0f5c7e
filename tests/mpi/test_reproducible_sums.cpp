// SPDX-License-Identifier: BSD-3-Clause
// Sums of products over all ranks do not depend on the distribution of entries.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "reduce/all_reduce.hpp"
#include "reduce/reproducible_sum.hpp"

namespace nekbone_k {
namespace {

struct Pairs {
  static constexpr int n_products = 2;
  const double *u, *v;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&x)[2], Value (&y)[2]) const {
    x[0] = load_entry<Value>(u + a);
    y[0] = load_entry<Value>(v + a);
    x[1] = y[1] = x[0];
  }
};

// Numbers of many magnitudes and both signs.
std::vector<double> wide(int n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> mantissa(-1, 1), exponent(-20, 20);
  std::vector<double> values(n);
  for (double& value : values) value = std::ldexp(mantissa(random), int(exponent(random)));
  return values;
}

// u·v and u·u. Each rank gets part of the entries, after `n_not_owned` entries that do not count.
std::array<double, 2> sums_of(const Communicator& comm, const std::vector<double>& u,
                              const std::vector<double>& v, int n_not_owned,
                              const AllReduceStrategy& by) {
  std::vector<double> mine[2];
  for (int a = 0; a < n_not_owned; ++a)
    for (auto& part : mine) part.push_back(1e30);
  const std::size_t size = u.size(), begin = size * comm.rank() / comm.size(),
                    end = size * (comm.rank() + 1) / comm.size();
  mine[0].insert(mine[0].end(), u.begin() + begin, u.begin() + end);
  mine[1].insert(mine[1].end(), v.begin() + begin, v.begin() + end);
  const auto x = to_device("x", mine[0]), y = to_device("y", mine[1]);
  const VectorRange range{static_cast<LocalIndex>(mine[0].size()), n_not_owned};
  const ReproducibleSums<2> sums(comm, range, static_cast<double>(size), by);
  return sums.sum("products", Pairs{x.data(), y.data()});
}

TEST(ReproducibleSums, DoNotDependOnTheDivision) {
  const Communicator together(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  for (const int size : {1, 7, 1000, 40000}) {
    std::vector<double> u = wide(size, 1), v = wide(size, 2);
    const auto expected = sums_of(alone, u, v, 0, all_reduce_strategies().front());
    for (const AllReduceStrategy& by : all_reduce_strategies()) {
      if (!why_unavailable(together, by).empty()) continue;
      EXPECT_EQ(sums_of(together, u, v, 3, by), expected) << by.name << ", " << size;
    }
    // In another order.
    std::reverse(u.begin(), u.end());
    std::reverse(v.begin(), v.end());
    EXPECT_EQ(sums_of(alone, u, v, 1, all_reduce_strategies().front()), expected) << size;
  }
}

TEST(ReproducibleSums, AreExactBesidesOneRounding) {
  const Communicator comm(MPI_COMM_WORLD);
  const AllReduceStrategy& by = all_reduce_strategies().front();
  for (const int size : {2, 300, 20000}) {
    const std::vector<double> u = wide(size, 3), v = wide(size, 4);
    long double dot = 0, square = 0;  // 11 more bits
    for (int a = 0; a < size; ++a) {
      dot += static_cast<long double>(u[a]) * v[a];
      square += static_cast<long double>(u[a]) * u[a];
    }
    const auto sums = sums_of(comm, u, v, 0, by);
    EXPECT_NEAR(sums[0], static_cast<double>(dot), 1e-15 * static_cast<double>(square));
    EXPECT_NEAR(sums[1], static_cast<double>(square), 4e-16 * static_cast<double>(square));
  }
  // The large values cancel exactly.
  const std::vector<double> ones{1, 1, 1};
  EXPECT_EQ(sums_of(comm, {1e15, 0.25, -1e15}, ones, 0, by)[0], 0.25);
}

TEST(ReproducibleSums, HandleTheEndsOfTheNumbers) {
  const Communicator comm(MPI_COMM_WORLD);
  const AllReduceStrategy& by = all_reduce_strategies().front();
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> ones(4, 1);
  EXPECT_EQ(sums_of(comm, {0, 0, 0, 0}, ones, 0, by)[0], 0);
  EXPECT_EQ(sums_of(comm, {1e-300, 2e-300, 0, 1e-300}, ones, 0, by)[0], 1e-300 + 3e-300);
  EXPECT_TRUE(std::isnan(sums_of(comm, {1, nan, 1, 1}, ones, 0, by)[0]));
  EXPECT_FALSE(std::isfinite(sums_of(comm, {1, inf, 1, 1}, ones, 0, by)[0]));
  EXPECT_FALSE(std::isfinite(sums_of(comm, {1e308, 1e308, 1e308, 1}, ones, 0, by)[0]));
}

}  // namespace
}  // namespace nekbone_k
