// SPDX-License-Identifier: BSD-3-Clause
#include "operators/geometric_factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "input/case.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {
namespace {

constexpr std::array deformations{Deformation::none, Deformation::sine, Deformation::kershaw};

// Six elements in the first direction and two in the others, so that the kinks of the Kershaw map
// are between elements.
MeshSpec kershaw_spec(Deformation deformation, double epsilon = 0.3) {
  MeshSpec spec;
  spec.elements = {6, 2, 2};
  spec.extent = {2, 1, 1.5};
  spec.periodic = {false, false, false};
  spec.deformation = deformation;
  spec.epsilon = epsilon;
  return spec;
}

struct Factors {
  Factors(const MeshSpec& spec, int order)
      : mesh(spec, order, comm.size(), comm.rank()), space(comm, mesh), geometry(space) {}

  // Values of g(reader, position, i, j, k) at the rank's nodes, in the order of assembled_points().
  template <class G>
  std::vector<double> at_nodes(const G& g) const {
    const FactorReader reader(geometry, space.layout());
    const int nq = mesh.nq(), points = nq * nq * nq;
    DeviceVector<double> values("values", std::size_t(mesh.n_elements()) * points);
    Kokkos::parallel_for(
        Kokkos::RangePolicy<ExecutionSpace>(0, static_cast<LocalIndex>(values.extent(0))),
        KOKKOS_LAMBDA(const LocalIndex at) {
          const LocalIndex q = at % points;
          values(at) = g(reader, at / points, q % nq, q / nq % nq, q / (nq * nq));
        });
    return to_host(values);
  }
  std::vector<double> factor(int c) const {
    return at_nodes(KOKKOS_LAMBDA(const FactorReader& reader, LocalIndex e, int i, int j, int k) {
      return reader.factor(e, c, i, j, k);
    });
  }
  std::vector<double> mass() const {
    return at_nodes(KOKKOS_LAMBDA(const FactorReader& reader, LocalIndex e, int i, int j, int k) {
      return reader.mass(e, i, j, k);
    });
  }
  // ∫ y^power over the whole mesh.
  double integral_of_power(int power) const {
    const ReferenceMesh reference(mesh.spec(), mesh.order());
    const auto points = assembled_points(space, reference);
    const std::vector<double> m = mass();
    double sum = 0;
    for (std::size_t at = 0; at < points.size(); ++at) {
      const auto [i, j, k] = points[at].node;
      const int e = reference.element_number(points[at].element);
      sum += m[at] * std::pow(reference.coordinates(e, i, j, k)[1], power);
    }
    return comm.sum(sum);
  }

  Communicator comm{MPI_COMM_WORLD};
  BoxMesh mesh;
  AssembledSpace space;
  GeometricFactors geometry;
};

class GeometricFactorsOrder : public testing::TestWithParam<int> {};

// Errors are relative to the largest entry of the point, because an entry may nearly cancel.
// Differentiating the coordinates loses up to N² ulps. The largest measured error is 3e-13, at
// order 12.
TEST_P(GeometricFactorsOrder, EqualThePlainLoops) {
  std::vector<MeshSpec> specs;
  for (const Deformation deformation : deformations)
    for (const Geometry geometry : {Geometry::stored, Geometry::trilinear, Geometry::affine}) {
      if (geometry == Geometry::affine && deformation != Deformation::none) continue;
      specs.push_back(kershaw_spec(deformation));
      specs.back().geometry = geometry;
    }
  for (const MeshSpec& spec : specs) {
    const Factors factors(spec, GetParam());
    const ReferenceOperator reference(spec, GetParam(), 0);
    const auto points = assembled_points(factors.space, reference.mesh());
    std::vector<double> differences;
    for (int c = 0; c < 6; ++c) {
      const std::vector<double> found = factors.factor(c);
      for (std::size_t at = 0; at < points.size(); ++at) {
        const auto& p = points[at];
        const auto [i, j, k] = p.node;
        const auto& g = reference.metric(reference.mesh().element_number(p.element), i, j, k).g;
        differences.push_back((found[at] - g[c]) / std::max({g[0], g[3], g[5]}));
      }
    }
    EXPECT_LE(max_abs(differences), 5e-12) << name(spec.deformation) << ", " << name(spec.geometry);
  }
}

TEST_P(GeometricFactorsOrder, DerivativeAndWeightsAreTheBasis) {
  const Factors factors(kershaw_spec(Deformation::none), GetParam());
  const ReferenceMesh reference(factors.mesh.spec(), GetParam());
  const auto derivative = to_host(factors.geometry.derivative);
  const auto weights = to_host(factors.geometry.weights);
  for (int i = 0; i < reference.nq(); ++i) {
    EXPECT_NEAR(weights[i], reference.weights()[i], 1e-14);
    for (int j = 0; j < reference.nq(); ++j)
      EXPECT_NEAR(derivative[i * reference.nq() + j], reference.derivative(i, j),
                  1e-14 * GetParam() * (GetParam() + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, GeometricFactorsOrder, testing::Values(1, 2, 3, 5, 8, 12),
                         [](const auto& instance) { return "N" + std::to_string(instance.param); });

// The mass is det G / w², which suffers from cancellation if G is ill-conditioned. On this mesh,
// w J has a relative accuracy of 1e-11 at every point. Measured errors are 8e-15 at order 2 and
// 5e-13 at order 12.
TEST(GeometricFactors, MassIsAccurateOnAStronglyDeformedMesh) {
  for (const int order : {2, 6, 12}) {
    const MeshSpec spec = kershaw_spec(Deformation::kershaw, 0.3);
    const Factors factors(spec, order);
    const ReferenceOperator reference(spec, order, 0);
    const auto points = assembled_points(factors.space, reference.mesh());
    const std::vector<double> mass = factors.mass();
    std::vector<double> differences;
    for (std::size_t at = 0; at < points.size(); ++at) {
      const auto& p = points[at];
      const auto [i, j, k] = p.node;
      const double expected =
          reference.metric(reference.mesh().element_number(p.element), i, j, k).mass;
      differences.push_back(mass[at] / expected - 1);
    }
    EXPECT_LE(max_abs(differences), 1e-11) << "order " << order;
  }
}

TEST(GeometricFactors, MassOfTheUndeformedBoxIsItsVolume) {
  for (const int order : {1, 2, 3, 7})
    EXPECT_NEAR(Factors(kershaw_spec(Deformation::none), order).integral_of_power(0), 3, 1e-12);
}

// In an element, the Kershaw map has degree 5 in the first fraction. Its Jacobian has degree 10,
// which order 6 integrates exactly.
TEST(GeometricFactors, MassOfTheKershawBoxIsItsVolume) {
  EXPECT_NEAR(Factors(kershaw_spec(Deformation::kershaw), 6).integral_of_power(0), 3, 1e-12);
}

// ∫ y⁶ = 2 · 1.5 / 7. The volume itself would be exact at any order, by symmetry.
TEST(GeometricFactors, MassOfTheSineBoxConverges) {
  double before = std::numeric_limits<double>::max();
  for (const int order : {3, 5, 7, 9}) {
    const Factors factors(kershaw_spec(Deformation::sine), order);
    const double error = std::abs(factors.integral_of_power(6) - 3.0 / 7);
    EXPECT_LT(error, 0.1 * before) << "order " << order;
    before = error;
  }
  EXPECT_LT(before, 1e-11);
}

TEST(GeometricFactors, LanesOfEmptyElementsAreZero) {
  for (const int order : {1, 3}) {
    const Factors factors(kershaw_spec(Deformation::sine), order);
    const std::vector<double> stored = to_host(factors.geometry.factors);
    const ElementLayout& layout = factors.space.layout();
    const int items = ElementLayout::n_factors * layout.points();
    const auto padded = static_cast<LocalIndex>(layout.n_geometry_values(1));
    ASSERT_EQ(stored.size(), static_cast<std::size_t>(padded) * items);
    for (LocalIndex e = layout.n_elements; e < padded; ++e)
      for (int item = 0; item < items; ++item)
        ASSERT_EQ(stored[ElementLayout::geometry_offset(layout.nq, e, item, items)], 0);
  }
}

bool inverted_somewhere(const MeshSpec& spec, int order) {
  const Communicator comm(MPI_COMM_WORLD);
  return !comm.all(!has_inverted_elements(BoxMesh(spec, order, comm.size(), comm.rank())));
}

// Beyond epsilon 0.86 the sine map folds. Only ranks with folded elements notice it.
TEST(GeometricFactors, NoticesElementsTurnedInsideOut) {
  for (const double epsilon : {0.3, 3.0}) {
    const MeshSpec spec = kershaw_spec(Deformation::sine, epsilon);
    const Factors factors(spec, 5);
    const ReferenceOperator reference(spec, 5, 0);
    bool positive = true;
    for (const auto& p : assembled_points(factors.space, reference.mesh())) {
      const auto [i, j, k] = p.node;
      const int e = reference.mesh().element_number(p.element);
      positive &= reference.metric(e, i, j, k).jacobian > 0;
    }
    EXPECT_EQ(has_inverted_elements(factors.mesh), !positive);
    EXPECT_EQ(inverted_somewhere(spec, 5), epsilon > 0.86);
  }
}

// As a run's message advises: the kinks in y and z are between elements, or weak.
TEST(GeometricFactors, KershawInvertsNoElementsThatTheKinksLieBetween) {
  const auto inverted = [](std::array<int, 3> elements, double epsilon, int order) {
    MeshSpec spec = kershaw_spec(Deformation::kershaw, epsilon);
    spec.elements = elements;
    return inverted_somewhere(spec, order);
  };
  for (int order = 1; order <= 9; ++order) {
    EXPECT_FALSE(inverted({5, 4, 2}, 0.01, order)) << order;
    EXPECT_FALSE(inverted({7, 3, 5}, 0.51, order)) << order;
    EXPECT_EQ(inverted({6, 5, 4}, 0.01, order), order > 1) << order;
    EXPECT_EQ(inverted({6, 4, 5}, 0.01, order), order > 1) << order;
  }
}

}  // namespace
}  // namespace nekbone_k
