/// @file
/// The null space of the singular operator.
#pragma once

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// Doubles that remove_constants reads and writes an entry: one for the sum, or two where that does
/// not depend on the ranks, and two to subtract.
inline int projection_traffic(const AssembledSpace& space) {
  return space.is_deterministic() ? 4 : 3;
}

/// Removes from `vector` its mean over the DOFs of the whole mesh, each counted once: the part
/// along constants, which A annihilates for λ = 0 on a fully periodic box. Padding stays zero.
/// Collective.
void remove_constants(const Communicator& comm, const AssembledSpace& space,
                      const DeviceVector<double>& vector);

}  // namespace nekbone_k
