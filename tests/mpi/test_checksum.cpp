// SPDX-License-Identifier: BSD-3-Clause
#include "operators/checksum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "support/reference_operator.hpp"

namespace nekbone_k {
namespace {

// The checksum differs if vectors differ in one bit.
TEST(Checksum, SeesOneBit) {
  const Communicator comm(MPI_COMM_WORLD);
  MeshSpec spec;
  spec.elements = {7, 2, 2};
  const ReferenceMesh reference(spec, 3);
  const AssembledSpace space(comm, BoxMesh(spec, 3, comm.size(), comm.rank()));
  ById values = reference.random(3);
  const std::uint64_t before = checksum(comm, space, to_assembled(space, reference, values));
  EXPECT_EQ(checksum(comm, space, to_assembled(space, reference, values)), before);
  values[5] = std::nextafter(values[5], 2);
  EXPECT_NE(checksum(comm, space, to_assembled(space, reference, values)), before);
  std::swap(values[6], values[7]);
  const std::uint64_t swapped = checksum(comm, space, to_assembled(space, reference, values));
  std::swap(values[6], values[7]);
  EXPECT_NE(checksum(comm, space, to_assembled(space, reference, values)), swapped);
}

}  // namespace
}  // namespace nekbone_k
