// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/box_mesh.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace nekbone_k {
namespace {

struct Box {
  const char* name;
  std::array<int, 3> elements;
  std::array<bool, 3> periodic;
  int order;
};

MeshSpec spec_of(const Box& box) {
  MeshSpec spec;
  spec.elements = box.elements;
  spec.periodic = box.periodic;
  return spec;
}

// The position of a point, wrapped in periodic directions. Rounded, so that positions computed from
// two elements compare equal.
using Place = std::array<long, 3>;
constexpr double places_per_unit = 1e9;

Place place_of(const BoxMesh& mesh, const std::array<int, 3>& element, std::array<int, 3> node) {
  Place place;
  for (int d = 0; d < 3; ++d) {
    const double at = element[d] + (mesh.basis().nodes[node[d]] + 1) / 2;
    place[d] = std::lround(at * places_per_unit);
    if (mesh.spec().periodic[d] && at == mesh.spec().elements[d]) place[d] = 0;
  }
  return place;
}

bool on_dirichlet_face(const MeshSpec& spec, const Place& place) {
  for (int d = 0; d < 3; ++d)
    if (!spec.periodic[d] &&
        (place[d] == 0 || place[d] == std::lround(spec.elements[d] * places_per_unit)))
      return true;
  return false;
}

class BoxMeshBox : public testing::TestWithParam<Box> {
 protected:
  const MeshSpec spec = spec_of(GetParam());
  const int order = GetParam().order;
  const std::vector<int> rank_counts() const {
    std::vector<int> counts;
    for (const int ranks : {1, 2, 3, 4, 7})
      if (ranks <= spec.total_elements()) counts.push_back(ranks);
    return counts;
  }

  // Calls action(mesh, place, lattice point) at every node of every element of every rank.
  template <class Action>
  void for_each_node(int ranks, const Action& action) const {
    for (int rank = 0; rank < ranks; ++rank) {
      const BoxMesh mesh(spec, order, ranks, rank);
      for (LocalIndex e = 0; e < mesh.n_elements(); ++e)
        for (int k = 0; k <= order; ++k)
          for (int j = 0; j <= order; ++j)
            for (int i = 0; i <= order; ++i)
              action(mesh, place_of(mesh, mesh.element(e), {i, j, k}),
                     mesh.lattice_point(mesh.element(e), i, j, k));
    }
  }
};

TEST_P(BoxMeshBox, IdsAreEqualWhereAndOnlyWherePlacesAre) {
  std::map<Place, GlobalId> id_at;  // the same for every number of ranks
  for (const int ranks : rank_counts()) {
    std::map<GlobalId, Place> place_with;
    for_each_node(ranks, [&](const BoxMesh& mesh, const Place& place, const LatticePoint& p) {
      const GlobalId id = mesh.global_id(p);
      ASSERT_EQ(id_at.emplace(place, id).first->second, id) << ranks << " ranks";
      ASSERT_EQ(place_with.emplace(id, place).first->second, place) << ranks << " ranks";
    });
    // Ids are dense and begin at 0.
    const BoxMesh mesh(spec, order, 1, 0);
    const std::int64_t points = mesh.global_lattice_length(0) * mesh.global_lattice_length(1) *
                                mesh.global_lattice_length(2);
    EXPECT_EQ(static_cast<std::int64_t>(place_with.size()), points);
    EXPECT_EQ(place_with.begin()->first, 0);
    EXPECT_EQ(place_with.rbegin()->first, points - 1);
  }
}

TEST_P(BoxMeshBox, MasksDirichletFacesAndCountsTheRest) {
  for (const int ranks : rank_counts()) {
    std::set<GlobalId> unmasked;
    std::int64_t total = -1;
    for_each_node(ranks, [&](const BoxMesh& mesh, const Place& place, const LatticePoint& p) {
      ASSERT_EQ(mesh.is_masked(p), on_dirichlet_face(spec, place));
      if (!mesh.is_masked(p)) unmasked.insert(mesh.global_id(p));
      total = mesh.total_dofs();
    });
    EXPECT_EQ(total, static_cast<std::int64_t>(unmasked.size())) << ranks << " ranks";
  }
}

// A rank's lattice has exactly one point per id.
TEST_P(BoxMeshBox, LatticeIsAsLongAsItsPoints) {
  for (const int ranks : rank_counts())
    for (int rank = 0; rank < ranks; ++rank) {
      const BoxMesh mesh(spec, order, ranks, rank);
      std::set<LatticePoint> points;
      std::set<GlobalId> ids;
      for (LocalIndex e = 0; e < mesh.n_elements(); ++e)
        for (int k = 0; k <= order; ++k)
          for (int j = 0; j <= order; ++j)
            for (int i = 0; i <= order; ++i) {
              const LatticePoint p = mesh.lattice_point(mesh.element(e), i, j, k);
              points.insert(p);
              ids.insert(mesh.global_id(p));
              for (int d = 0; d < 3; ++d) {
                ASSERT_GE(p[d], 0);
                ASSERT_LT(p[d], mesh.lattice_length(d));
              }
            }
      const std::int64_t length =
          mesh.lattice_length(0) * mesh.lattice_length(1) * mesh.lattice_length(2);
      EXPECT_EQ(static_cast<std::int64_t>(points.size()), length);
      EXPECT_EQ(static_cast<std::int64_t>(ids.size()), length);
    }
}

TEST_P(BoxMeshBox, RanksHaveEveryElementOnce) {
  for (const int ranks : rank_counts()) {
    std::set<std::array<int, 3>> elements;
    std::int64_t count = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const BoxMesh mesh(spec, order, ranks, rank);
      for (LocalIndex e = 0; e < mesh.n_elements(); ++e, ++count) elements.insert(mesh.element(e));
    }
    EXPECT_EQ(count, spec.total_elements());
    EXPECT_EQ(static_cast<std::int64_t>(elements.size()), count);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Boxes, BoxMeshBox,
    testing::Values(Box{"Periodic", {4, 3, 2}, {true, true, true}, 3},
                    Box{"Dirichlet", {3, 2, 4}, {false, false, false}, 2},
                    Box{"Mixed", {3, 3, 2}, {true, false, true}, 4},
                    Box{"OneElement", {1, 1, 1}, {true, true, true}, 3},
                    Box{"OneElementDirichlet", {1, 1, 1}, {false, false, false}, 3},
                    Box{"OneAndTwoPeriodic", {1, 2, 7}, {true, true, false}, 2},
                    Box{"LineOrder1", {7, 1, 2}, {true, true, true}, 1},
                    Box{"OnlyBoundary", {7, 1, 1}, {false, false, false}, 1}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(BoxMesh, NumbersElementsFirstDirectionFastest) {
  MeshSpec spec;
  spec.elements = {3, 2, 2};
  const BoxMesh mesh(spec, 1, 1, 0);
  ASSERT_EQ(mesh.n_elements(), 12);
  EXPECT_EQ(mesh.element(0), (std::array{0, 0, 0}));
  EXPECT_EQ(mesh.element(1), (std::array{1, 0, 0}));
  EXPECT_EQ(mesh.element(3), (std::array{0, 1, 0}));
  EXPECT_EQ(mesh.element(6), (std::array{0, 0, 1}));
  EXPECT_EQ(mesh.element(11), (std::array{2, 1, 1}));
}

// A single element in a periodic direction is its own neighbour, so its two ends are one point.
TEST(BoxMesh, ClosesOneElementOnItself) {
  MeshSpec spec;
  spec.elements = {1, 1, 1};
  const BoxMesh mesh(spec, 4, 1, 0);
  EXPECT_EQ(mesh.lattice_length(0), 4);
  EXPECT_TRUE(mesh.wraps(0));
  EXPECT_EQ(mesh.lattice_point({0, 0, 0}, 4, 0, 4), mesh.lattice_point({0, 0, 0}, 0, 0, 0));
  EXPECT_EQ(mesh.total_dofs(), 64);
}

// Two elements on two ranks touch on both sides, and neither is its own neighbour.
TEST(BoxMesh, TwoRanksMeetOnBothSides) {
  MeshSpec spec;
  spec.elements = {2, 1, 1};
  const BoxMesh left(spec, 3, 2, 0), right(spec, 3, 2, 1);
  EXPECT_FALSE(left.wraps(0));
  EXPECT_TRUE(left.wraps(1));
  EXPECT_EQ(left.lattice_length(0), 4);
  EXPECT_EQ(left.global_id({3, 1, 2}), right.global_id({0, 1, 2}));
  EXPECT_EQ(left.global_id({0, 1, 2}), right.global_id({3, 1, 2}));
}

TEST(BoxMesh, IdsNeed64Bits) {
  MeshSpec spec;
  spec.elements = {2048, 2048, 2048};
  spec.periodic = {false, false, false};
  const BoxMesh mesh(spec, 15, 512, 511);
  const std::int64_t length = 2048 * 15 + 1;
  const LatticePoint last = mesh.lattice_point({2047, 2047, 2047}, 15, 15, 15);
  EXPECT_EQ(mesh.global_id(last), length * length * length - 1);
  EXPECT_TRUE(mesh.is_masked(last));
  EXPECT_EQ(mesh.total_dofs(), (length - 2) * (length - 2) * (length - 2));
  EXPECT_EQ(spec.total_elements(), std::int64_t{1} << 33);
}

TEST(BoxMesh, HandsTheMappingOn) {
  MeshSpec spec;
  spec.extent = {2, 3, 5};
  spec.deformation = Deformation::sine;
  spec.epsilon = 0.2;
  const BoxMapping mapping = BoxMesh(spec, 2, 1, 0).mapping();
  EXPECT_EQ(mapping.deformation, Deformation::sine);
  EXPECT_EQ(mapping.epsilon, 0.2);
  EXPECT_EQ(mapping.extent[0], 2);
  EXPECT_EQ(mapping.extent[1], 3);
  EXPECT_EQ(mapping.extent[2], 5);
  spec.periodic = {true, true, false};
  EXPECT_FALSE(spec.fully_periodic());
}

}  // namespace
}  // namespace nekbone_k
