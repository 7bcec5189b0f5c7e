// SPDX-License-Identifier: BSD-3-Clause
// The gather-scatter within one rank, in both orders of work.
#include "gs/assembly.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

constexpr int components = 2;
constexpr LocalIndex border = 700;

/// The rows of the points of a lattice of elements with 4 points in each direction, as a face, an
/// edge or a corner gives them, and of random points. The first rows are random, too, like those
/// that ranks share.
std::vector<LocalIndex> rows_of_points(LocalIndex& n_rows) {
  std::vector<LocalIndex> rows;
  constexpr int elements = 9, nodes = 4, side = elements * (nodes - 1) + 1;
  for (int ey = 0; ey < elements; ++ey)
    for (int ex = 0; ex < elements; ++ex)
      for (int j = 0; j < nodes; ++j)
        for (int i = 0; i < nodes; ++i)
          rows.push_back((ey * (nodes - 1) + j) * side + ex * (nodes - 1) + i);
  n_rows = side * side;
  std::mt19937 random(7);
  std::vector<LocalIndex> numbers(n_rows);
  for (LocalIndex row = 0; row < n_rows; ++row) numbers[row] = row;
  std::shuffle(numbers.begin(), numbers.begin() + border / 2, random);
  for (LocalIndex& row : rows) row = numbers[row];
  for (int extra = 0; extra < 500; ++extra)
    rows.push_back(extra % 7 == 0 ? Assembly::no_row : LocalIndex(random() % n_rows));
  return rows;
}

DeviceField<double> field(std::size_t size, bool is_filled) {
  const DeviceField<double> values("values", size, components);
  const auto host = Kokkos::create_mirror_view(values);
  for (std::size_t i = 0; is_filled && i < size; ++i)
    for (int c = 0; c < components; ++c) host(i, c) = double((i * 37 + c * 11) % 101) - 50;
  Kokkos::deep_copy(values, host);
  return values;
}

std::vector<double> on_host(const DeviceField<double>& values) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  std::vector<double> all;
  for (int c = 0; c < components; ++c)
    for (std::size_t i = 0; i < host.extent(0); ++i) all.push_back(host(i, c));
  return all;
}

class AssemblyOrder : public testing::TestWithParam<LocalIndex> {
 protected:
  LocalIndex m_n_rows = 0;
  const std::vector<LocalIndex> m_rows = rows_of_points(m_n_rows);
  const Assembly m_assembly{m_n_rows, m_rows, Assembly::ByNumber(), GetParam()};
  const std::size_t m_n_points = m_rows.size();
};

// Sums of small integers are exact in any order.
TEST_P(AssemblyOrder, GathersAndScattersLikeALoop) {
  const DeviceField<double> points = field(m_n_points, true), rows = field(m_n_rows, false);
  m_assembly.gather(points, rows, Reduction::add, 0, border);
  m_assembly.gather(points, rows, Reduction::add, border, m_n_rows);
  std::vector<double> expected(components * std::size_t(m_n_rows), 0.0), given = on_host(points);
  for (int c = 0; c < components; ++c)
    for (std::size_t p = 0; p < m_n_points; ++p)
      if (m_rows[p] != Assembly::no_row)
        expected[c * std::size_t(m_n_rows) + m_rows[p]] += given[c * m_n_points + p];
  EXPECT_EQ(on_host(rows), expected);

  m_assembly.scatter(rows, points, 0, border);
  for (int c = 0; c < components; ++c)
    for (std::size_t p = 0; p < m_n_points; ++p)
      if (m_rows[p] != Assembly::no_row && m_rows[p] < border)
        given[c * m_n_points + p] = expected[c * std::size_t(m_n_rows) + m_rows[p]];
  EXPECT_EQ(on_host(points), given);
}

TEST_P(AssemblyOrder, CombinesInPlaceLikeALoop) {
  const DeviceField<double> points = field(m_n_points, true);
  std::vector<double> expected = on_host(points);
  constexpr LocalIndex between = border + 23;  // parts together are the whole
  m_assembly.gather_scatter(points, Reduction::max, border, between);
  m_assembly.gather_scatter(points, Reduction::max, between, m_n_rows);
  for (int c = 0; c < components; ++c) {
    std::vector<double> largest(m_n_rows, -1e300);
    double* const values = &expected[c * m_n_points];
    for (std::size_t p = 0; p < m_n_points; ++p)
      if (m_rows[p] >= border) largest[m_rows[p]] = std::max(largest[m_rows[p]], values[p]);
    for (std::size_t p = 0; p < m_n_points; ++p)
      if (m_rows[p] >= border) values[p] = largest[m_rows[p]];
  }
  EXPECT_EQ(on_host(points), expected);
}

INSTANTIATE_TEST_SUITE_P(, AssemblyOrder, testing::Values(Assembly::no_border, border));

TEST(AssemblyBorder, IsCrossedByNoCall) {
  const std::vector<LocalIndex> point_rows{0, 1, 2, 3, 0, 1};
  const Assembly assembly(4, point_rows, Assembly::ByNumber(), 2);
  const DeviceField<double> points = field(6, true), rows = field(4, false);
  EXPECT_THROW(assembly.gather(points, rows, Reduction::add, 0, 1), InternalError);
  EXPECT_THROW(assembly.scatter(rows, points, 1, 4), InternalError);
  EXPECT_NO_THROW(assembly.gather(points, rows, Reduction::add, 0, 4));
}

}  // namespace
}  // namespace nekbone_k
