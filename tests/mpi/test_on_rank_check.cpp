// SPDX-License-Identifier: BSD-3-Clause
// The check of the on-rank gather–scatter accepts correct spaces and finds both kinds of faults.
#include "operators/on_rank_check.hpp"

#include <gtest/gtest.h>

#include "support/reference_operator.hpp"

namespace nekbone_k {
namespace {

MeshSpec box(const std::array<int, 3>& elements, const std::array<bool, 3>& periodic) {
  MeshSpec spec;
  spec.elements = elements;
  spec.periodic = periodic;
  return spec;
}

TEST(OnRankCheck, PassesRightSpaces) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const bool px : {false, true})
    for (const bool pz : {false, true})
      for (const int order : {1, 2, 5})
        for (const Summation summation : {Summation::ordinary, Summation::deterministic}) {
          const MeshSpec spec = box({7, 2, 3}, {px, true, pz});
          AssembledSpace space(comm, BoxMesh(spec, order, comm.size(), comm.rank()), summation);
          EXPECT_EQ(check_on_rank(comm, space), "") << px << pz << order;
        }
}

TEST(OnRankCheck, PassesOneElementThatTouchesItself) {
  const Communicator comm(MPI_COMM_SELF);
  for (const int order : {1, 4}) {
    AssembledSpace space(comm, BoxMesh(box({1, 1, 1}, {true, true, true}), order, 1, 0));
    EXPECT_EQ(check_on_rank(comm, space), "");
  }
}

// An element at a wrong position joins nodes with different ids. Only one rank has the fault, but
// every rank must report it.
TEST(OnRankCheck, FindsNodesOfOtherIds) {
  const Communicator comm(MPI_COMM_WORLD);
  AssembledSpace space(comm,
                       BoxMesh(box({7, 4, 4}, {true, true, true}), 3, comm.size(), comm.rank()));
  if (comm.rank() == comm.size() - 1) {
    // Readers get const views of the space's memory, so cast the const away.
    const auto read = space.elements();
    const Kokkos::View<int* [3], Kokkos::LayoutRight, DeviceMemory> elements(
        const_cast<int*>(read.data()), read.extent(0));
    const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), elements);
    host(0, 1) = (host(0, 1) + 1) % 4;
    Kokkos::deep_copy(elements, host);
  }
  const std::string failure = check_on_rank(comm, space);
  EXPECT_EQ(failure.find("WRONG on-rank QQ^T: rank " + std::to_string(comm.size() - 1)), 0U)
      << failure;
}

}  // namespace
}  // namespace nekbone_k
