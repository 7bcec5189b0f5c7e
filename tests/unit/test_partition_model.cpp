// SPDX-License-Identifier: BSD-3-Clause
// The model of a partition, computed from boxes, against brute force with all ids of all ranks.
#include "mesh/partition_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace nekbone_k {
namespace {

struct ModelledBox {
  const char* name;
  std::array<int, 3> elements;
  std::array<bool, 3> periodic;
  int order;
};

class PartitionModelBox : public testing::TestWithParam<ModelledBox> {
 protected:
  MeshSpec spec(const Partition& partition) const {
    MeshSpec spec;
    spec.elements = GetParam().elements;
    spec.periodic = GetParam().periodic;
    spec.partition = partition;
    return spec;
  }
};

// The ids of a rank's unmasked points.
std::set<GlobalId> ids_of(const MeshSpec& spec, int order, int ranks, int rank) {
  const BoxMesh mesh(spec, order, ranks, rank);
  std::set<GlobalId> ids;
  for (LocalIndex e = 0; e < mesh.n_elements(); ++e)
    for (int k = 0; k <= order; ++k)
      for (int j = 0; j <= order; ++j)
        for (int i = 0; i <= order; ++i) {
          const LatticePoint p = mesh.lattice_point(mesh.element(e), i, j, k);
          if (!mesh.is_masked(p)) ids.insert(mesh.global_id(p));
        }
  return ids;
}

TEST_P(PartitionModelBox, CountsTheHaloOfEveryRankOfEveryPartition) {
  const auto& [name, elements, periodic, order] = GetParam();
  int tried = 0;
  for (int ranks = 1; ranks <= std::min(12, elements[0] * elements[1] * elements[2]); ++ranks)
    for (const Partition& partition : possible_partitions(elements, ranks)) {
      ++tried;
      const MeshSpec mesh = spec(partition);
      std::vector<std::set<GlobalId>> ids;
      for (int rank = 0; rank < ranks; ++rank) ids.push_back(ids_of(mesh, order, ranks, rank));
      for (int rank = 0; rank < ranks; ++rank) {
        int neighbours = 0;
        std::int64_t sent = 0;
        for (int other = 0; other < ranks; ++other) {
          if (other == rank) continue;
          std::vector<GlobalId> shared;
          std::set_intersection(ids[rank].begin(), ids[rank].end(), ids[other].begin(),
                                ids[other].end(), std::back_inserter(shared));
          neighbours += shared.empty() ? 0 : 1;
          sent += static_cast<std::int64_t>(shared.size());
        }
        const HaloSize halo = halo_size(mesh, order, ranks, rank);
        ASSERT_EQ(halo.neighbours, neighbours)
            << partition.name() << ", rank " << rank << " of " << ranks;
        ASSERT_EQ(halo.sent, sent) << partition.name() << ", rank " << rank << " of " << ranks;
      }
    }
  EXPECT_GE(tried, 2);
}

TEST_P(PartitionModelBox, FacesHaveAllThatIsShared) {
  const auto& [name, elements, periodic, order] = GetParam();
  for (int ranks = 1; ranks <= std::min(7, elements[0] * elements[1] * elements[2]); ++ranks)
    for (const Partition& partition : possible_partitions(elements, ranks)) {
      const MeshSpec mesh = spec(partition);
      for (int rank = 0; rank < ranks; ++rank) {
        std::set<GlobalId> shared;
        const auto own = ids_of(mesh, order, ranks, rank);
        for (int other = 0; other < ranks; ++other)
          if (other != rank)
            for (const GlobalId id : ids_of(mesh, order, ranks, other))
              if (own.count(id) > 0) shared.insert(id);
        const BoxMesh part(mesh, order, ranks, rank);
        std::vector<GlobalId> candidates;
        for (const LatticePoint& p : part.sharing_candidates()) {
          EXPECT_FALSE(part.is_masked(p));
          candidates.push_back(part.global_id(p));
        }
        const std::set<GlobalId> distinct(candidates.begin(), candidates.end());
        EXPECT_EQ(distinct.size(), candidates.size()) << "a point is listed twice";
        EXPECT_TRUE(std::includes(distinct.begin(), distinct.end(), shared.begin(), shared.end()))
            << partition.name() << ", rank " << rank << " of " << ranks;
        EXPECT_TRUE(std::includes(own.begin(), own.end(), distinct.begin(), distinct.end()));
      }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Boxes, PartitionModelBox,
    testing::Values(ModelledBox{"Periodic", {4, 3, 2}, {true, true, true}, 2},
                    ModelledBox{"Dirichlet", {3, 2, 4}, {false, false, false}, 2},
                    ModelledBox{"Mixed", {3, 4, 2}, {true, false, true}, 3},
                    ModelledBox{"Order1", {3, 3, 3}, {true, true, false}, 1},
                    ModelledBox{"OneAndTwoPeriodic", {1, 2, 7}, {true, true, false}, 2},
                    ModelledBox{"LinePeriodic", {9, 1, 1}, {true, true, true}, 1},
                    ModelledBox{"OnlyBoundary", {7, 1, 1}, {false, false, false}, 1}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(PartitionModel, ListsBisectionAndEveryGridThatFits) {
  const auto expect = [](const std::array<int, 3>& elements, int ranks,
                         const std::vector<Partition>& expected) {
    EXPECT_EQ(possible_partitions(elements, ranks), expected) << ranks;
  };
  expect({8, 8, 8}, 1, {{}, {{1, 1, 1}}});
  expect({8, 8, 8}, 4,
         {{}, {{1, 1, 4}}, {{1, 2, 2}}, {{1, 4, 1}}, {{2, 1, 2}}, {{2, 2, 1}}, {{4, 1, 1}}});
  expect({8, 2, 1}, 4, {{}, {{2, 2, 1}}, {{4, 1, 1}}});
  expect({4, 4, 4}, 7, {{}});  // a prime larger than each direction: only bisection
  expect({4, 7, 4}, 7, {{}, {{1, 7, 1}}});
  // 2^5 5^5 has C(7, 2)^2 factorizations into three ordered factors.
  EXPECT_EQ(possible_partitions({100000, 100000, 100000}, 100000).size(), 441u + 1);
}

// As many ranks as on a large machine, too many to visit all pairs. Neighbours must be mutual.
TEST(PartitionModel, OfManyRanksLooksAtNeighboursAlone) {
  MeshSpec spec;
  spec.elements = {120, 100, 90};
  spec.periodic = {true, false, true};
  for (const Partition& partition : {Partition{}, Partition{{50, 50, 40}}}) {
    spec.partition = partition;
    const HaloSize inside = halo_size(spec, 3, 100'000, 51'234);
    EXPECT_GE(inside.neighbours, 26);
    EXPECT_LE(inside.neighbours, 100);
    // A rank sends at least the surface of its box.
    const ElementBox box = partition_box({{0, 0, 0}, spec.elements}, 100'000, 51'234, partition);
    std::int64_t volume = 1, interior = 1;
    for (int d = 0; d < 3; ++d) {
      volume *= 3 * box.length(d) + 1;
      interior *= 3 * box.length(d) - 1;
    }
    EXPECT_GE(inside.sent, volume - interior);
  }
}

TEST(PartitionModel, WeighsMessagesAgainstBytes) {
  const PartitionModel few{{}, 1, 2, 50e3}, many{{}, 1, 26, 40e3};
  EXPECT_LT(few.cost_bytes(), many.cost_bytes());
  const PartitionModel slabs{{}, 1, 2, 50e6}, cubes{{}, 1, 26, 40e6};
  EXPECT_GT(slabs.cost_bytes(), cubes.cost_bytes());
}

}  // namespace
}  // namespace nekbone_k
