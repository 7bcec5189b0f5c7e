// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/interpolation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "multigrid/lattice_interpolation.hpp"

namespace nekbone_k {
namespace {

/// A polynomial of a degree without symmetry.
double polynomial(int degree, double x) {
  double sum = 0;
  for (int power = degree; power >= 0; --power) sum = sum * x + std::cos(1.0 + power);
  return sum;
}

/// The Lagrange polynomial of node m, as a product.
double lagrange(const GllBasis& basis, int m, double x) {
  double product = 1;
  for (int n = 0; n < basis.nq(); ++n)
    if (n != m) product *= (x - basis.nodes[n]) / (basis.nodes[m] - basis.nodes[n]);
  return product;
}

TEST(Interpolation, LagrangeValuesAreTheProducts) {
  for (int order = 1; order <= 15; ++order) {
    const GllBasis basis = make_gll_basis(order);
    for (const double x : {-1.0, -0.9, -0.123, 0.0, 1e-9, 0.5, 0.99999, 1.0}) {
      const std::vector<double> values = lagrange_values(basis, x);
      ASSERT_EQ(values.size(), std::size_t(order) + 1);
      for (int m = 0; m <= order; ++m)
        EXPECT_NEAR(values[m], lagrange(basis, m, x), 1e-13) << "order " << order << ", x " << x;
    }
  }
}

TEST(Interpolation, LagrangeValuesAtNodesAreExact) {
  for (int order = 1; order <= 15; ++order) {
    const GllBasis basis = make_gll_basis(order);
    for (int node = 0; node <= order; ++node) {
      std::vector<double> expected(order + 1, 0);
      expected[node] = 1;
      EXPECT_EQ(lagrange_values(basis, basis.nodes[node]), expected) << "order " << order;
    }
  }
}

TEST(Interpolation, MatrixReproducesPolynomials) {
  for (const auto& [from, to] :
       {std::pair{1, 2}, {1, 3}, {2, 4}, {3, 7}, {7, 15}, {5, 3}, {4, 4}}) {
    const GllBasis coarse = make_gll_basis(from), fine = make_gll_basis(to);
    const std::vector<double> matrix = interpolation_matrix(coarse, fine);
    ASSERT_EQ(matrix.size(), std::size_t(from + 1) * (to + 1));
    for (int degree = 0; degree <= from; ++degree)
      for (int i = 0; i <= to; ++i) {
        double sum = 0;
        for (int m = 0; m <= from; ++m)
          sum += matrix[i * (from + 1) + m] * polynomial(degree, coarse.nodes[m]);
        EXPECT_NEAR(sum, polynomial(degree, fine.nodes[i]), 1e-13)
            << "orders " << from << " and " << to << ", degree " << degree;
      }
  }
}

// Faces of elements belong to both neighbours, whose values have to agree exactly.
TEST(Interpolation, MatrixIsExactAtTheEnds) {
  const std::vector<double> matrix = interpolation_matrix(make_gll_basis(3), make_gll_basis(7));
  EXPECT_EQ(std::vector<double>(matrix.begin(), matrix.begin() + 4),
            (std::vector<double>{1, 0, 0, 0}));
  EXPECT_EQ(std::vector<double>(matrix.end() - 4, matrix.end()), (std::vector<double>{0, 0, 0, 1}));
}

// ---- Lattices ----------------------------------------------------------------------------------

/// Positions in [0, 1] of the points of a line.
std::vector<double> positions(const LineOfElements& line) {
  const GllBasis basis = make_gll_basis(line.order);
  std::vector<double> all;
  for (int element = 0; element < line.elements; ++element)
    for (int node = 0; node < line.order; ++node)
      all.push_back((element + (basis.nodes[node] + 1) / 2) / line.elements);
  if (!line.periodic) all.push_back(1);
  return all;
}

std::vector<std::pair<LineOfElements, LineOfElements>> pairs(bool periodic) {
  std::vector<std::pair<LineOfElements, LineOfElements>> all;
  for (const auto& [coarse, fine] :
       {std::pair{1, 1}, {1, 2}, {2, 2}, {2, 3}, {2, 4}, {3, 5}, {4, 7}, {5, 9}, {49, 98}, {3, 2}})
    for (const auto& [low, high] : {std::pair{1, 1}, {1, 3}, {3, 3}, {2, 7}})
      all.push_back({{coarse, low, periodic}, {fine, high, periodic}});
  return all;
}

/// Σ weight · value(coarse point) at a fine point.
template <class Value>
double combination(const LatticeWeights& of, const Value& value) {
  double sum = 0;
  for (std::size_t c = 0; c < of.points.size(); ++c) sum += of.weights[c] * value(of.points[c]);
  return sum;
}

TEST(Interpolation, LinesHaveTheirPoints) {
  EXPECT_EQ((LineOfElements{4, 3, true}.n_points()), 12);
  EXPECT_EQ((LineOfElements{4, 3, false}.n_points()), 13);
  EXPECT_EQ((LineOfElements{1, 1, true}.n_points()), 1);
  for (const bool periodic : {false, true})
    for (const auto& [coarse, fine] : pairs(periodic))
      EXPECT_EQ(lattice_weights(coarse, fine).size(), std::size_t(fine.n_points()));
}

TEST(Interpolation, WeightsHaveDistinctPointsAndAreNotZero) {
  for (const bool periodic : {false, true})
    for (const auto& [coarse, fine] : pairs(periodic))
      for (const LatticeWeights& w : lattice_weights(coarse, fine)) {
        ASSERT_EQ(w.points.size(), w.weights.size());
        ASSERT_LE(w.points.size(), coarse.order + 1u);
        EXPECT_EQ(std::set(w.points.begin(), w.points.end()).size(), w.points.size());
        for (const double weight : w.weights) EXPECT_NE(weight, 0);
        for (const std::int64_t point : w.points) {
          ASSERT_GE(point, 0);
          ASSERT_LT(point, coarse.n_points());
        }
      }
}

// Polynomials that vanish at both ends, because the weights leave out the ends.
TEST(Interpolation, ReproducesPolynomialsBetweenDirichletLattices) {
  for (const auto& [coarse, fine] : pairs(false)) {
    const std::vector<double> from = positions(coarse), to = positions(fine);
    const auto weights = lattice_weights(coarse, fine);
    for (int degree = 2; degree <= coarse.order; ++degree) {
      const auto f = [&](double x) { return x * (1 - x) * polynomial(degree - 2, x); };
      for (std::size_t p = 0; p < to.size(); ++p)
        EXPECT_NEAR(combination(weights[p], [&](std::int64_t c) { return f(from[c]); }), f(to[p]),
                    1e-13);
    }
  }
}

TEST(Interpolation, LeavesOutTheEndsOfADirichletLattice) {
  for (const auto& [coarse, fine] : pairs(false)) {
    const auto weights = lattice_weights(coarse, fine);
    EXPECT_TRUE(weights.front().points.empty());
    EXPECT_TRUE(weights.back().points.empty());
    for (const LatticeWeights& w : weights)
      for (const std::int64_t point : w.points) {
        EXPECT_NE(point, 0);
        EXPECT_NE(point, coarse.n_points() - 1);
      }
  }
}

// Lagrange polynomials of a brute-force search for a coarse element that contains the point. Where
// two do, they give the same value.
TEST(Interpolation, IsThePiecewisePolynomialOfACoarseLattice) {
  for (const bool periodic : {false, true})
    for (const auto& [coarse, fine] : pairs(periodic)) {
      const GllBasis basis = make_gll_basis(coarse.order);
      const std::vector<double> to = positions(fine);
      const auto weights = lattice_weights(coarse, fine);
      const auto value = [&](std::int64_t point) {
        point %= coarse.n_points();
        const bool is_end = !coarse.periodic && (point == 0 || point == coarse.n_points() - 1);
        return is_end ? 0 : std::sin(1.0 + 5.0 * static_cast<double>(point));
      };
      for (std::size_t p = 0; p < to.size(); ++p)
        for (int element = 0; element < coarse.elements; ++element) {
          const double x = 2 * (to[p] * coarse.elements - element) - 1;
          if (std::abs(x) > 1 + 1e-12) continue;
          double expected = 0;
          for (int m = 0; m <= coarse.order; ++m)
            expected += lagrange(basis, m, x) * value(std::int64_t{element} * coarse.order + m);
          EXPECT_NEAR(combination(weights[p], value), expected, 1e-11)
              << coarse.elements << " to " << fine.elements << " elements, point " << p;
        }
    }
}

TEST(Interpolation, KeepsConstantsOfAPeriodicLattice) {
  for (const auto& [coarse, fine] : pairs(true))
    for (const LatticeWeights& w : lattice_weights(coarse, fine))
      EXPECT_NEAR(combination(w, [](std::int64_t) { return 1.0; }), 1, 1e-13);
}

TEST(Interpolation, IsTheIdentityBetweenEqualLattices) {
  for (const bool periodic : {false, true}) {
    const LineOfElements line{3, 4, periodic};
    const auto weights = lattice_weights(line, line);
    for (std::int64_t p = periodic ? 0 : 1; p < line.n_points() - (periodic ? 0 : 1); ++p) {
      EXPECT_EQ(weights[p].points, std::vector<std::int64_t>{p});
      EXPECT_EQ(weights[p].weights, std::vector<double>{1});
    }
  }
}

// A face of the coarse mesh has one weight, exactly 1, although thirds are not exact.
TEST(Interpolation, FindsFacesOfCoarseElementsExactly) {
  for (const int n : {3, 7, 49, 321}) {
    const LineOfElements coarse{n, 2, true}, fine{2 * n, 3, true};
    const auto weights = lattice_weights(coarse, fine);
    for (int face = 0; face < n; ++face) {
      const LatticeWeights& w = weights[6 * face];
      EXPECT_EQ(w.points, std::vector<std::int64_t>{2 * face});
      EXPECT_EQ(w.weights, std::vector<double>{1});
    }
  }
}

// ---- The tensor product ------------------------------------------------------------------------

TEST(Interpolation, IsATensorProductWithItsTranspose) {
  MeshSpec coarse_spec, fine_spec;
  coarse_spec.elements = {2, 2, 1};
  fine_spec.elements = {3, 4, 2};
  coarse_spec.periodic = fine_spec.periodic = {false, true, true};
  const BoxMesh coarse(coarse_spec, 2, 1, 0), fine(fine_spec, 3, 1, 0);
  const LatticeInterpolation p(coarse, fine);
  const Lattice from(coarse), to(fine);
  std::array<std::vector<LatticeWeights>, 3> along;
  for (int d = 0; d < 3; ++d)
    along[d] = lattice_weights({coarse_spec.elements[d], 2, coarse_spec.periodic[d]},
                               {fine_spec.elements[d], 3, fine_spec.periodic[d]});
  const auto weight = [&](int d, std::int64_t fine_point, std::int64_t coarse_point) {
    const LatticeWeights& w = along[d][fine_point];
    return combination(w, [&](std::int64_t c) { return c == coarse_point ? 1.0 : 0.0; });
  };
  std::map<std::pair<GlobalId, GlobalId>, double> expected, down, up;
  const GlobalId n_from = from.length[0] * from.length[1] * from.length[2],
                 n_to = to.length[0] * to.length[1] * to.length[2];
  for (GlobalId f = 0; f < n_to; ++f)
    for (GlobalId c = 0; c < n_from; ++c) {
      double product = 1;
      for (int d = 0; d < 3; ++d) product *= weight(d, to.point(f)[d], from.point(c)[d]);
      if (product != 0) expected[{f, c}] = product;
    }
  for (GlobalId f = 0; f < n_to; ++f)
    p.for_coarse(f, [&](GlobalId c, double w) {
      EXPECT_TRUE(down.emplace(std::pair{f, c}, w).second) << "twice";
    });
  for (GlobalId c = 0; c < n_from; ++c)
    p.for_fine(c, [&](GlobalId f, double w) {
      EXPECT_TRUE(up.emplace(std::pair{f, c}, w).second) << "twice";
    });
  EXPECT_EQ(down.size(), expected.size());
  for (const auto& [pair, product] : expected) EXPECT_NEAR(down[pair], product, 1e-15);
  EXPECT_EQ(up, down);
}

TEST(Interpolation, LatticePointsAndIdsAreInverse) {
  MeshSpec spec;
  spec.elements = {2, 3, 1};
  spec.periodic = {true, false, true};
  const Lattice lattice(BoxMesh(spec, 2, 1, 0));
  EXPECT_EQ(lattice.length, (std::array<std::int64_t, 3>{4, 7, 2}));
  GlobalId id = 0;
  for (std::int64_t k = 0; k < 2; ++k)
    for (std::int64_t j = 0; j < 7; ++j)
      for (std::int64_t i = 0; i < 4; ++i, ++id) {
        EXPECT_EQ(lattice.id(i, j, k), id);
        EXPECT_EQ(lattice.point(id), (std::array<std::int64_t, 3>{i, j, k}));
      }
}

}  // namespace
}  // namespace nekbone_k
