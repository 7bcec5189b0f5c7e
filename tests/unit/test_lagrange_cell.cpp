// SPDX-License-Identifier: BSD-3-Clause
#include "output/lagrange_cell.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace nekbone_k {
namespace {

TEST(LagrangeCell, HasEveryNodeOnce) {
  for (const int order : {1, 2, 3, 7}) {
    const auto nodes = vtk_nodes(order);
    EXPECT_EQ(nodes.size(), std::size_t(order + 1) * (order + 1) * (order + 1));
    EXPECT_EQ(std::set(nodes.begin(), nodes.end()).size(), nodes.size());
    for (const auto& node : nodes)
      for (const int index : node) {
        EXPECT_GE(index, 0);
        EXPECT_LE(index, order);
      }
  }
}

// Corners, then edges, then faces, then the inside.
TEST(LagrangeCell, BeginsWithItsCornersAndEndsInside) {
  constexpr int order = 4;
  int last = 3;
  for (const auto& node : vtk_nodes(order)) {
    int at_ends = 0;
    for (const int index : node) at_ends += index == 0 || index == order ? 1 : 0;
    EXPECT_LE(at_ends, last);
    last = at_ends;
  }
  EXPECT_EQ(last, 0);
}

// The cell of order 2 as in VTK's documentation of its quadratic hexahedron with 27 nodes, whose
// faces come in the same sequence.
TEST(LagrangeCell, NumbersTheQuadraticCellAsVtkDoes) {
  const auto nodes = vtk_nodes(2);
  const auto expect = [&](int at, int i, int j, int k) {
    EXPECT_EQ(nodes[at], (std::array<int, 3>{i, j, k})) << at;
  };
  expect(2, 2, 2, 0);
  expect(3, 0, 2, 0);
  expect(9, 2, 1, 0);
  expect(11, 0, 1, 0);
  expect(16, 0, 0, 1);
  expect(18, 2, 2, 1);
  expect(20, 0, 1, 1);
  expect(21, 2, 1, 1);
  expect(24, 1, 1, 0);
  expect(26, 1, 1, 1);
}

// x³ y² z is a polynomial of the element.
TEST(LagrangeCell, InterpolatesPolynomialsExactly) {
  for (const int order : {3, 4, 11}) {
    const GllBasis basis = make_gll_basis(order);
    const int nq = basis.nq();
    const auto value = [](double x, double y, double z) { return x * x * x * y * y * z + 2 * z; };
    std::vector<double> values;
    for (int k = 0; k < nq; ++k)
      for (int j = 0; j < nq; ++j)
        for (int i = 0; i < nq; ++i)
          values.push_back(value(basis.nodes[i], basis.nodes[j], basis.nodes[k]));
    ToEquispaced(basis).apply(values.data());
    const auto x = [&](int i) { return -1 + 2.0 * i / order; };
    for (int k = 0; k < nq; ++k)
      for (int j = 0; j < nq; ++j)
        for (int i = 0; i < nq; ++i)
          EXPECT_NEAR(values[(k * nq + j) * nq + i], value(x(i), x(j), x(k)), 1e-13) << order;
  }
}

}  // namespace
}  // namespace nekbone_k
