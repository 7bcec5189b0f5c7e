// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/level_plan.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

using Elements = std::array<int, 3>;
using Flags = std::array<bool, 3>;
using Orders = std::vector<int>;

constexpr Flags all_periodic{true, true, true}, all_dirichlet{false, false, false};

/// A box of cubic elements.
MeshSpec cubes(const Elements& elements, const Flags& periodic = all_periodic) {
  MeshSpec mesh;
  mesh.elements = elements;
  for (int d = 0; d < 3; ++d) mesh.extent[d] = elements[d];
  mesh.periodic = periodic;
  return mesh;
}
MeshSpec stretched(const Elements& elements, const std::array<double, 3>& extent,
                   const Flags& periodic = all_periodic) {
  MeshSpec mesh = cubes(elements, periodic);
  mesh.extent = extent;
  return mesh;
}
Elements coarser(const MeshSpec& mesh) { return coarser_mesh(mesh).elements; }

std::vector<Elements> elements_of(const std::vector<LevelPlan>& levels) {
  std::vector<Elements> all;
  for (const LevelPlan& level : levels) all.push_back(level.mesh.elements);
  return all;
}
Orders orders_of(const std::vector<LevelPlan>& levels) {
  Orders all;
  for (const LevelPlan& level : levels) all.push_back(level.order);
  return all;
}

TEST(LevelPlan, HalvesOrders) {
  EXPECT_EQ(halved_orders(1), (Orders{1}));
  EXPECT_EQ(halved_orders(2), (Orders{2, 1}));
  EXPECT_EQ(halved_orders(3), (Orders{3, 1}));
  EXPECT_EQ(halved_orders(4), (Orders{4, 2, 1}));
  EXPECT_EQ(halved_orders(5), (Orders{5, 2, 1}));
  EXPECT_EQ(halved_orders(6), (Orders{6, 3, 1}));
  EXPECT_EQ(halved_orders(7), (Orders{7, 3, 1}));
  EXPECT_EQ(halved_orders(8), (Orders{8, 4, 2, 1}));
  EXPECT_EQ(halved_orders(9), (Orders{9, 4, 2, 1}));
  EXPECT_EQ(halved_orders(10), (Orders{10, 5, 2, 1}));
  EXPECT_EQ(halved_orders(11), (Orders{11, 5, 2, 1}));
  EXPECT_EQ(halved_orders(12), (Orders{12, 6, 3, 1}));
  EXPECT_EQ(halved_orders(13), (Orders{13, 6, 3, 1}));
  EXPECT_EQ(halved_orders(14), (Orders{14, 7, 3, 1}));
  EXPECT_EQ(halved_orders(15), (Orders{15, 7, 3, 1}));
}

TEST(LevelPlan, CountsDofsWithoutDirichletPoints) {
  EXPECT_EQ((LevelPlan{3, cubes({4, 2, 1})}.total_dofs()), 12 * 6 * 3);
  EXPECT_EQ((LevelPlan{3, cubes({4, 2, 1}, all_dirichlet)}.total_dofs()), 11 * 5 * 2);
  EXPECT_EQ((LevelPlan{3, cubes({4, 2, 1}, {false, true, false})}.total_dofs()), 11 * 6 * 2);
  EXPECT_EQ((LevelPlan{1, cubes({1, 1, 1}, all_dirichlet)}.total_dofs()), 0);
}

TEST(LevelPlan, HalvesNumbersOfElementsAndRoundsUp) {
  EXPECT_EQ(coarser(cubes({8, 8, 8})), (Elements{4, 4, 4}));
  EXPECT_EQ(coarser(cubes({7, 5, 3})), (Elements{4, 3, 2}));
  EXPECT_EQ(coarser(cubes({7, 5, 3}, all_dirichlet)), (Elements{4, 3, 2}));
  EXPECT_EQ(coarser(cubes({9, 6, 5})), (Elements{5, 3, 3}));
  EXPECT_EQ(coarser(cubes({2, 2, 2})), (Elements{1, 1, 1}));
}

TEST(LevelPlan, KeepsWhatItDoesNotHalve) {
  MeshSpec mesh = stretched({8, 6, 4}, {8, 7, 5}, {true, false, true});
  mesh.deformation = Deformation::sine;
  mesh.epsilon = 0.125;
  mesh.geometry = Geometry::trilinear;
  mesh.partition.blocks = {2, 1, 1};
  const MeshSpec coarse = coarser_mesh(mesh);
  EXPECT_EQ(coarse.elements, (Elements{4, 3, 2}));
  EXPECT_EQ(coarse.extent, mesh.extent);
  EXPECT_EQ(coarse.periodic, mesh.periodic);
  EXPECT_EQ(coarse.deformation, mesh.deformation);
  EXPECT_EQ(coarse.epsilon, mesh.epsilon);
  EXPECT_EQ(coarse.geometry, mesh.geometry);
  EXPECT_EQ(coarse.partition, mesh.partition);
}

TEST(LevelPlan, LeavesOneElementInAPeriodicAndTwoInADirichletDirection) {
  EXPECT_EQ(coarser(cubes({2, 2, 2}, {true, false, true})), (Elements{1, 2, 1}));
  EXPECT_EQ(coarser(cubes({3, 3, 3}, all_dirichlet)), (Elements{2, 2, 2}));
  EXPECT_EQ(coarser(cubes({2, 2, 2}, all_dirichlet)), (Elements{2, 2, 2}));
  EXPECT_EQ(coarser(cubes({1, 1, 1}, all_dirichlet)), (Elements{1, 1, 1}));
  EXPECT_EQ(coarser(cubes({1, 1, 1})), (Elements{1, 1, 1}));
  EXPECT_EQ(coarser(cubes({4, 1, 1}, {true, false, true})), (Elements{2, 1, 1}));
}

// Elements of 1, 1.5 and more than 1.5 times the shortest length.
TEST(LevelPlan, HalvesOnlyDirectionsWhoseElementsAreAboutShortest) {
  EXPECT_EQ(coarser(stretched({4, 4, 4}, {4, 6, 4})), (Elements{2, 2, 2}));
  EXPECT_EQ(coarser(stretched({4, 4, 4}, {4, 6.1, 4})), (Elements{2, 4, 2}));
  EXPECT_EQ(coarser(stretched({8, 4, 4}, {1, 1, 1})), (Elements{4, 4, 4}));
  EXPECT_EQ(coarser(stretched({4, 4, 8}, {1e-30, 1e-30, 1e-30})), (Elements{4, 4, 4}));
  EXPECT_EQ(coarser(stretched({4, 4, 4}, {1, 10, 100})), (Elements{2, 4, 4}));
}

// The shortest elements are in a direction that cannot be halved.
TEST(LevelPlan, ComparesLengthsOfDirectionsThatCanBeHalved) {
  EXPECT_EQ(coarser(stretched({1, 4, 4}, {0.1, 4, 4})), (Elements{1, 2, 2}));
  EXPECT_EQ(coarser(stretched({2, 4, 4}, {0.1, 4, 40}, {false, true, true})), (Elements{2, 2, 4}));
}

TEST(LevelPlan, KeepsKinksOfKershawsMapOnFaces) {
  const auto kershaw = [](const Elements& elements) {
    MeshSpec mesh = cubes(elements, all_dirichlet);
    mesh.deformation = Deformation::kershaw;
    return mesh;
  };
  EXPECT_EQ(coarser(kershaw({24, 24, 24})), (Elements{12, 12, 12}));
  EXPECT_EQ(coarser(kershaw({18, 6, 10})), (Elements{12, 4, 6}));  // 9, 3 and 5 cut elements
  EXPECT_EQ(coarser(kershaw({12, 4, 4})), (Elements{6, 2, 2}));
  EXPECT_EQ(coarser(kershaw({6, 2, 2})), (Elements{6, 2, 2}));
  // Kinks within elements may move within elements.
  EXPECT_EQ(coarser(kershaw({10, 5, 4})), (Elements{5, 3, 2}));
}

TEST(LevelPlan, LowersTheOrderThenCoarsensTheMesh) {
  const auto levels = plan_levels(cubes({8, 8, 8}), {7, 3, 1}, 1, 20);
  EXPECT_EQ(orders_of(levels), (Orders{7, 3, 1, 1, 1}));
  EXPECT_EQ(elements_of(levels),
            (std::vector<Elements>{{8, 8, 8}, {8, 8, 8}, {8, 8, 8}, {4, 4, 4}, {2, 2, 2}}));
}

TEST(LevelPlan, CoarsensAtTheLowestOrder) {
  const auto levels = plan_levels(cubes({4, 4, 4}), {6, 3}, 1, 250);
  EXPECT_EQ(orders_of(levels), (Orders{6, 3, 3}));
  EXPECT_EQ(levels.back().mesh.elements, (Elements{2, 2, 2}));
}

TEST(LevelPlan, StopsAtTheNumberOfDofs) {
  const auto coarsest = [](double dofs) {
    return plan_levels(cubes({8, 8, 8}), {3, 1}, 1, dofs).back().total_dofs();
  };
  EXPECT_EQ(coarsest(512), 512);
  EXPECT_EQ(coarsest(511), 64);
  EXPECT_EQ(coarsest(64), 64);
  EXPECT_EQ(coarsest(63), 8);
  EXPECT_EQ(coarsest(1), 1);
  EXPECT_EQ(coarsest(0), 1);  // cannot be coarsened
}

TEST(LevelPlan, CoarsensOddAndStretchedMeshesToTheEnd) {
  EXPECT_EQ(elements_of(plan_levels(cubes({7, 5, 3}), {1}, 1, 1)),
            (std::vector<Elements>{{7, 5, 3}, {4, 3, 2}, {2, 2, 1}, {1, 1, 1}}));
  EXPECT_EQ(elements_of(plan_levels(cubes({7, 5, 3}, all_dirichlet), {1}, 1, 1)),
            (std::vector<Elements>{{7, 5, 3}, {4, 3, 2}, {2, 2, 2}}));
  EXPECT_EQ(elements_of(plan_levels(stretched({4, 4, 4}, {1, 1, 4}), {1}, 1, 1)),
            (std::vector<Elements>{{4, 4, 4}, {2, 2, 4}, {1, 1, 4}, {1, 1, 2}, {1, 1, 1}}));
}

TEST(LevelPlan, HasTwoLevelsAtLeast) {
  const auto one_order = plan_levels(cubes({2, 2, 2}), {3}, 1, 1000);
  EXPECT_EQ(orders_of(one_order), (Orders{3, 3}));
  EXPECT_EQ(elements_of(one_order), (std::vector<Elements>{{2, 2, 2}, {2, 2, 2}}));
  const auto one_element = plan_levels(cubes({1, 1, 1}), {1}, 1, 0);
  EXPECT_EQ(elements_of(one_element), (std::vector<Elements>{{1, 1, 1}, {1, 1, 1}}));
}

// One Dirichlet element has no DOF of order 1.
TEST(LevelPlan, LeavesOutLevelsWithoutDofs) {
  const auto levels = plan_levels(cubes({4, 4, 1}, {true, true, false}), {4, 2, 1}, 1, 1);
  EXPECT_EQ(orders_of(levels), (Orders{4, 2, 2, 2}));
  EXPECT_EQ(levels.back().mesh.elements, (Elements{1, 1, 1}));
}

TEST(LevelPlan, RejectsAHierarchyWithoutLevels) {
  EXPECT_THROW(plan_levels(cubes({2, 2, 2}), {}, 1, 1000), InternalError);
  EXPECT_THROW(plan_levels(cubes({1, 1, 1}, all_dirichlet), {1}, 1, 1000), InternalError);
}

TEST(LevelPlan, UsesValidMeshesAlone) {
  std::vector<Elements> asked;
  const auto levels = plan_levels(cubes({16, 16, 16}), {2, 1}, 1, 1, [&](const MeshSpec& mesh) {
    asked.push_back(mesh.elements);
    return mesh.elements[0] > 4;
  });
  EXPECT_EQ(elements_of(levels), (std::vector<Elements>{{16, 16, 16}, {16, 16, 16}, {8, 8, 8}}));
  EXPECT_EQ(asked, (std::vector<Elements>{{8, 8, 8}, {4, 4, 4}}));
}

// Levels on every rank may have fewer elements than there are ranks.
TEST(LevelPlan, LevelsThatRanksDivideHaveAnElementPerRank) {
  for (const int ranks : {1, 2, 7, 8, 9, 64, 65, 512}) {
    SCOPED_TRACE(ranks);
    const auto levels = plan_levels(cubes({8, 8, 8}), {3, 1}, ranks, 1);
    ASSERT_EQ(elements_of(levels),
              (std::vector<Elements>{{8, 8, 8}, {8, 8, 8}, {4, 4, 4}, {2, 2, 2}, {1, 1, 1}}));
    for (const LevelPlan& level : levels) {
      const int elements = static_cast<int>(level.mesh.total_elements());
      EXPECT_EQ(level.is_replicated, ranks > 1 && (ranks > elements || elements == 1));
      EXPECT_TRUE(level.is_replicated || level.mesh.partition.fits(level.mesh.elements, ranks));
    }
  }
}

TEST(LevelPlan, ReplicatesSmallLevelsOfTheLowestOrder) {
  const auto replicated = [](int ranks, double most) {
    std::vector<bool> is;
    for (const LevelPlan& level : plan_levels(
             cubes({8, 8, 8}), {3, 1}, ranks, 1, [](const MeshSpec&) { return true; }, most))
      is.push_back(level.is_replicated);
    return is;
  };
  // Levels have 13824, 512, 64, 8 and 1 DOFs.
  EXPECT_EQ(replicated(4, 63), (std::vector<bool>{false, false, false, true, true}));
  EXPECT_EQ(replicated(4, 64), (std::vector<bool>{false, false, true, true, true}));
  EXPECT_EQ(replicated(4, 512), (std::vector<bool>{false, true, true, true, true}));
  EXPECT_EQ(replicated(4, 1e9), (std::vector<bool>{false, true, true, true, true}));
  EXPECT_EQ(replicated(1, 1e9), (std::vector<bool>(5, false)));
}

// A process grid stays as long as it fits.
TEST(LevelPlan, KeepsAProcessGridThatFits) {
  MeshSpec mesh = cubes({8, 8, 8});
  mesh.partition.blocks = {4, 1, 1};
  const auto levels = plan_levels(mesh, {1}, 4, 1);
  ASSERT_EQ(elements_of(levels),
            (std::vector<Elements>{{8, 8, 8}, {4, 4, 4}, {2, 2, 2}, {1, 1, 1}}));
  EXPECT_EQ(levels[1].mesh.partition, mesh.partition);
  EXPECT_EQ(levels[2].mesh.partition, Partition{});
}

}  // namespace
}  // namespace nekbone_k
