// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A checksum of assembled vectors.
#pragma once

#include <cstdint>

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// Sum over the nodes of all elements of a hash of the node's global id and the bits of its value.
/// Vectors with the same bits have the same checksum for any division of the mesh; other vectors
/// almost never do. Collective.
std::uint64_t checksum(const Communicator& comm, const AssembledSpace& space,
                       const DeviceVector<double>& vector);

}  // namespace nekbone_k
