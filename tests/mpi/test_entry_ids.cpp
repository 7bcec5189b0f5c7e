// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/entry_ids.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "support/reference_operator.hpp"

namespace nekbone_k {
namespace {

// Entries that no node of an element has are padding.
TEST(EntryIds, AreThoseOfTheNodes) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const std::array<bool, 3>& periodic :
       {std::array{true, true, true}, {true, false, true}, {false, false, false}})
    for (const int order : {1, 2, 5})
      for (const Summation summation : {Summation::ordinary, Summation::deterministic}) {
        MeshSpec spec;
        spec.elements = {5, 3, 2};
        spec.periodic = periodic;
        const AssembledSpace space(comm, BoxMesh(spec, order, comm.size(), comm.rank()), summation);
        std::vector<GlobalId> expected(space.size(), -1);
        for (const AssembledPoint& point : assembled_points(space, ReferenceMesh(spec, order)))
          if (!point.masked) expected[point.entry] = point.id;
        EXPECT_EQ(entry_ids(space), expected) << "order " << order;
      }
}

// Every DOF of the mesh has one owner.
TEST(EntryIds, AreOwnedOnce) {
  const Communicator comm(MPI_COMM_WORLD);
  MeshSpec spec;
  spec.elements = {5, 3, 2};
  spec.periodic = {true, false, true};
  const AssembledSpace space(comm, BoxMesh(spec, 3, comm.size(), comm.rank()));
  const ReferenceMesh mesh(spec, 3);
  const std::vector<GlobalId> ids = entry_ids(space);
  ById owners(mesh.n_points(), 0), expected(mesh.n_points(), 0);
  for (std::size_t e = space.n_not_owned(); e < ids.size(); ++e)
    if (ids[e] >= 0) owners[ids[e]] += 1;
  comm.sum(owners);
  for (GlobalId id = 0; id < mesh.n_points(); ++id) expected[id] = mesh.is_masked(id) ? 0 : 1;
  EXPECT_EQ(owners, expected);
}

}  // namespace
}  // namespace nekbone_k
