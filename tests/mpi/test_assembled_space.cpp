// SPDX-License-Identifier: BSD-3-Clause
#include "operators/assembled_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {
namespace {

struct NamedBox {
  const char* name;
  std::array<int, 3> elements;
  std::array<bool, 3> periodic;
  int order;
};

MeshSpec spec_of(const NamedBox& box) {
  MeshSpec spec;
  spec.elements = box.elements;
  spec.periodic = box.periodic;
  return spec;
}

class AssembledSpaceBox : public testing::TestWithParam<NamedBox> {
 protected:
  const Communicator comm{MPI_COMM_WORLD};
  const MeshSpec spec = spec_of(GetParam());
  const ReferenceMesh reference{spec, GetParam().order};
  const BoxMesh mesh{spec, GetParam().order, comm.size(), comm.rank()};
  AssembledSpace space{comm, mesh};
  const std::vector<AssembledPoint> points = assembled_points(space, reference);

  // Number of ranks that have each point, by id.
  ById sharing_ranks() const {
    ById ranks(reference.n_points(), 0);
    for (const AssembledPoint& p : points) ranks[p.id] = 1;
    comm.sum(ranks);
    return ranks;
  }
};

TEST_P(AssembledSpaceBox, EveryDofHasOneEntryOnARank) {
  std::map<GlobalId, LocalIndex> entry_of;
  std::set<LocalIndex> entries;
  for (const AssembledPoint& p : points) {
    if (p.masked) {
      ASSERT_EQ(p.entry, space.zero_slot());
      continue;
    }
    ASSERT_GE(p.entry, 0);
    ASSERT_LT(p.entry, space.size());
    ASSERT_NE(p.entry, space.zero_slot());
    ASSERT_EQ(entry_of.emplace(p.id, p.entry).first->second, p.entry) << "DOF " << p.id;
    entries.insert(p.entry);
  }
  EXPECT_EQ(entries.size(), entry_of.size());
}

TEST_P(AssembledSpaceBox, EveryDofIsOwnedOnce) {
  EXPECT_EQ(comm.sum(space.n_owned()), mesh.total_dofs());
  ById owners(reference.n_points(), 0), expected(reference.n_points());
  for (const AssembledPoint& p : points)
    if (!p.masked && p.entry >= space.n_not_owned()) owners[p.id] = 1;
  comm.sum(owners);
  for (GlobalId id = 0; id < reference.n_points(); ++id) expected[id] = !reference.is_masked(id);
  EXPECT_EQ(owners, expected);
}

// The shared DOFs come first, then the other surface DOFs, then the interior ones.
TEST_P(AssembledSpaceBox, PartsFollowEachOther) {
  const ById ranks = sharing_ranks();
  const LocalIndex n_shared = space.gs().plan().n_shared();
  EXPECT_LE(space.n_not_owned(), n_shared);
  EXPECT_LE(n_shared, space.n_rows());
  EXPECT_EQ(space.zero_slot(), space.n_rows());
  EXPECT_LT(space.zero_slot(), space.interior_begin());
  for (const AssembledPoint& p : points) {
    if (p.masked) continue;
    ASSERT_EQ(p.entry<n_shared, ranks[p.id]> 1) << "DOF " << p.id;
    const auto [i, j, k] = p.node;
    ASSERT_EQ(p.entry < space.n_rows(), ElementLayout::on_surface(mesh.nq(), i, j, k));
    ASSERT_TRUE(p.entry < space.n_rows() || p.entry >= space.interior_begin());
  }
}

TEST_P(AssembledSpaceBox, ElementsOfTheBoxAreProcessedOnce) {
  std::set<std::array<int, 3>> processed, expected;
  for (const AssembledPoint& p : points) processed.insert(p.element);
  for (LocalIndex e = 0; e < mesh.n_elements(); ++e) expected.insert(mesh.element(e));
  EXPECT_EQ(processed, expected);
  EXPECT_EQ(space.layout().n_elements, mesh.n_elements());
}

TEST_P(AssembledSpaceBox, BoundaryElementsTouchSharedDofsAndComeFirst) {
  const ById ranks = sharing_ranks();
  std::vector<bool> touches_shared(mesh.n_elements(), false), expected(mesh.n_elements(), false);
  for (const AssembledPoint& p : points)
    if (!p.masked && ranks[p.id] > 1) touches_shared[p.position] = true;
  std::fill_n(expected.begin(), space.n_boundary_elements(), true);
  EXPECT_EQ(touches_shared, expected);
  const int lanes = ElementLayout::lanes;
  EXPECT_GE(space.n_boundary_blocks() * lanes, space.n_boundary_elements());
  EXPECT_LT((space.n_boundary_blocks() - 1) * lanes, space.n_boundary_elements());
}

TEST_P(AssembledSpaceBox, AssemblingOnesCountsElements) {
  const auto ones = space.make_vector("ones");
  space.assemble(
      KOKKOS_LAMBDA(LocalIndex, int, int, int) { return 1.0; }, ones);
  EXPECT_EQ(to_ids(comm, space, reference, ones), reference.multiplicity());
}

// Values differ at every node of every element, and their sums are exact.
TEST_P(AssembledSpaceBox, AssembleSumsNodalValues) {
  const auto value = [](int ex, int ey, int ez, int i, int j, int k) {
    return 1.0 + ex + 10 * ey + 100 * ez + 0.25 * i - 0.5 * j + 0.125 * k * (i - j);
  };
  const auto elements = space.elements();
  const auto sum = space.make_vector("sum");
  space.assemble(
      KOKKOS_LAMBDA(LocalIndex e, int i, int j, int k) {
        return 1.0 + elements(e, 0) + 10 * elements(e, 1) + 100 * elements(e, 2) + 0.25 * i -
               0.5 * j + 0.125 * k * (i - j);
      },
      sum);
  ById expected(reference.n_points(), 0);
  const auto& n = spec.elements;
  reference.for_each_node([&](int e, int i, int j, int k) {
    const GlobalId id = reference.id(e, i, j, k);
    if (reference.is_masked(id)) return;
    expected[id] += value(e % n[0], e / n[0] % n[1], e / n[0] / n[1], i, j, k);
  });
  EXPECT_EQ(to_ids(comm, space, reference, sum), expected);
}

// QQᵀ of surface values. Points without a row (Dirichlet or of empty elements) keep their value.
TEST_P(AssembledSpaceBox, GatherScatterOfOnesIsTheMultiplicity) {
  const auto& surface = space.surface_values();
  Kokkos::deep_copy(surface, 1.0);
  space.gs().gs_op(as_field(surface), Reduction::add);
  const std::vector<double> values = to_host(surface);
  const ById multiplicity = reference.multiplicity();
  std::vector<double> expected(values.size(), 1);
  const ElementLayout& layout = space.layout();
  for (const AssembledPoint& p : points) {
    const auto [i, j, k] = p.node;
    if (p.masked || !ElementLayout::on_surface(layout.nq, i, j, k)) continue;
    const int s = ElementLayout::surface_index(layout.nq, i, j, k);
    const std::size_t at =
        ElementLayout::offset(p.position / ElementLayout::lanes, s, layout.n_surface());
    expected[at + p.position % ElementLayout::lanes] = multiplicity[p.id];
  }
  EXPECT_EQ(values, expected);
}

TEST_P(AssembledSpaceBox, NodeReaderFindsTheSameEntries) {
  const NodeReader nodes(space);
  const int nq = mesh.nq(), n_points = nq * nq * nq;
  DeviceVector<LocalIndex> found("found", points.size());
  Kokkos::parallel_for(
      Kokkos::RangePolicy<ExecutionSpace>(0, static_cast<LocalIndex>(points.size())),
      KOKKOS_LAMBDA(const LocalIndex at) {
        const LocalIndex e = at / n_points, q = at % n_points;
        found(at) = nodes.entry(e / ElementLayout::lanes, e % ElementLayout::lanes, q % nq,
                                q / nq % nq, q / (nq * nq));
      });
  const auto on_host = Kokkos::create_mirror_view_and_copy(HostMemory(), found);
  for (std::size_t at = 0; at < points.size(); ++at) ASSERT_EQ(on_host(at), points[at].entry);
}

// At least seven elements, so that each of up to seven ranks has one.
INSTANTIATE_TEST_SUITE_P(
    Boxes, AssembledSpaceBox,
    testing::Values(NamedBox{"Periodic", {4, 3, 2}, {true, true, true}, 3},
                    NamedBox{"Dirichlet", {5, 4, 4}, {false, false, false}, 2},
                    NamedBox{"Mixed", {3, 5, 3}, {true, false, true}, 4},
                    NamedBox{"WithInterior", {8, 8, 8}, {true, true, true}, 1},
                    NamedBox{"OneAndTwoPeriodic", {1, 2, 7}, {true, true, false}, 2},
                    NamedBox{"PeriodicLine", {7, 1, 1}, {true, true, true}, 3},
                    NamedBox{"OnlyDirichletPoints", {7, 1, 1}, {false, false, false}, 1}),
    [](const auto& instance) { return std::string(instance.param.name); });

// 2048^3 elements have more points than a rank can number. Every rank throws before it allocates.
TEST(AssembledSpace, RefusesMorePointsThanARankCanNumber) {
  const Communicator comm(MPI_COMM_WORLD);
  MeshSpec spec;
  spec.elements = {2048, 2048, 2048};
  const BoxMesh mesh(spec, 7, comm.size(), comm.rank());
  EXPECT_THROW(AssembledSpace(comm, mesh), InputError);
}

}  // namespace
}  // namespace nekbone_k
