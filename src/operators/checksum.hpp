/// @file
/// A number that tells assembled vectors apart.
#pragma once

#include <cstdint>

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// A sum over the nodes of all elements of a hash of the node's global id and of the bits of its
/// value: the same for vectors of the same bits, whatever the division of the mesh, and as good as
/// never for others. Collective.
std::uint64_t checksum(const Communicator& comm, const AssembledSpace& space,
                       const DeviceVector<double>& vector);

}  // namespace nekbone_k
