// SPDX-License-Identifier: BSD-3-Clause
#include "flow/line_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace nekbone_k {
namespace {

/// A random matrix with A(rows-1-i, columns-1-j) = ± A(i, j), row-major.
std::vector<double> mirrored_matrix(int rows, int columns, Mirror mirror) {
  std::mt19937 random(static_cast<unsigned>(100 * rows + columns));
  const auto uniform = [&] { return std::uniform_real_distribution<double>(-1, 1)(random); };
  std::vector<double> a(rows * columns), b(rows * columns);
  for (double& entry : b) entry = uniform();
  const int sign = mirror == Mirror::same ? 1 : -1;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      a[i * columns + j] =
          b[i * columns + j] + sign * b[(rows - 1 - i) * columns + columns - 1 - j];
  return a;
}

/// Compares y = A x with a plain loop, for every lane of `Value`.
template <class Value, int rows, int columns, Mirror mirror, class Lane>
void compare_with_loop(const Value (&x)[columns], const Lane& lane_of, int n_lanes) {
  const std::vector<double> a = mirrored_matrix(rows, columns, mirror);
  const LineMatrix<rows, columns, mirror> matrix(a);
  constexpr int longest = rows > columns ? rows : columns;
  Value line[columns], y[longest];
  int times[rows] = {};
  for (int j = 0; j < columns; ++j) line[j] = x[j];
  matrix(line, [&](int i, const Value& value) {
    if (i < columns) line[i] = Value(1e30);  // set() may overwrite x
    y[i] = value;
    ++times[i];
  });
  for (int i = 0; i < rows; ++i) {
    EXPECT_EQ(times[i], 1);
    for (int j = 0; j < columns; ++j) EXPECT_NEAR(matrix(i, j), a[i * columns + j], 1e-15);
    for (int lane = 0; lane < n_lanes; ++lane) {
      double sum = 0, size = 0;
      for (int j = 0; j < columns; ++j) {
        const double term = a[i * columns + j] * lane_of(x[j], lane);
        sum += term;
        size += std::abs(term);
      }
      // The matrix and x are divided into even and odd parts, which may be larger.
      EXPECT_NEAR(lane_of(y[i], lane), sum,
                  8 * std::numeric_limits<double>::epsilon() * (size + columns))
          << rows << " x " << columns << ", row " << i << ", lane " << lane;
    }
  }
}

template <int rows, int columns, Mirror mirror>
void compare() {
  double x[columns];
  for (int j = 0; j < columns; ++j) x[j] = std::sin(1.0 + 3 * j);
  compare_with_loop<double, rows, columns, mirror>(
      x, [](double value, int) { return value; }, 1);
  Lanes in_lanes[columns];
  for (int j = 0; j < columns; ++j)
    in_lanes[j] =
        Lanes([&](auto lane) { return std::sin(1.0 + 3 * j + 0.7 * static_cast<double>(lane)); });
  compare_with_loop<Lanes, rows, columns, mirror>(
      in_lanes, [](const Lanes& value, int lane) { return double(value[lane]); },
      static_cast<int>(Lanes::size()));
}

template <int rows, int... columns>
void compare_columns(std::integer_sequence<int, columns...>) {
  ((compare<rows, columns + 1, Mirror::same>(), compare<rows, columns + 1, Mirror::opposite>()),
   ...);
}

template <int... rows>
void compare_rows(std::integer_sequence<int, rows...>) {
  (compare_columns<rows + 1>(std::make_integer_sequence<int, 7>{}), ...);
}

TEST(LineMatrix, IsTheMatrixForEverySmallShape) {
  compare_rows(std::make_integer_sequence<int, 7>{});
}

// The shapes of the interpolation to Gauss points and of its transpose, and large derivatives.
TEST(LineMatrix, IsTheMatrixForLargeShapes) {
  compare<12, 8, Mirror::same>();
  compare<8, 12, Mirror::same>();
  compare<24, 16, Mirror::same>();
  compare<15, 24, Mirror::same>();
  compare<17, 11, Mirror::same>();
  compare<16, 16, Mirror::opposite>();
  compare<17, 17, Mirror::opposite>();
}

TEST(LineMatrix, KeepsTheMirrorImageOfALine) {
  const LineMatrix<5, 4, Mirror::same> same(mirrored_matrix(5, 4, Mirror::same));
  const LineMatrix<5, 4, Mirror::opposite> opposite(mirrored_matrix(5, 4, Mirror::opposite));
  const double x[4] = {0.3, -1.7, 0.9, 0.1}, back[4] = {0.1, 0.9, -1.7, 0.3};
  double y[5], y_back[5];
  same(x, [&](int i, double value) { y[i] = value; });
  same(back, [&](int i, double value) { y_back[i] = value; });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(y[i], y_back[4 - i]);
  opposite(x, [&](int i, double value) { y[i] = value; });
  opposite(back, [&](int i, double value) { y_back[i] = value; });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(y[i], -y_back[4 - i]);
}

}  // namespace
}  // namespace nekbone_k
