// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The null space of the singular operator.
#pragma once

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// Subtracts `value` from a vector at every DOF; padding stays zero. Device memory. Not collective.
void subtract_constant(const AssembledSpace& space, double value,
                       const DeviceVector<double>& vector);

/// Subtracts from `vector` (device memory) its mean over the DOFs of the whole mesh, each counted
/// once. This removes the constants, which A annihilates for λ = 0 on a fully periodic box. Padding
/// stays zero. Collective.
void remove_constants(const Communicator& comm, const AssembledSpace& space,
                      const DeviceVector<double>& vector);

}  // namespace nekbone_k
