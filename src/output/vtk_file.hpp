// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Files of fields for ParaView and other readers of VTK.
#pragma once

#include <span>
#include <string>

#include "core/communicator.hpp"
#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// An assembled vector, or one with three components one after the other.
struct VtkField {
  std::string name;
  DeviceVector<double> values;
};

/// Writes a VTKHDF file with the mesh as Lagrange hexahedra of its order and the fields at their
/// nodes, in single precision, a piece per rank. Collective; throws FileError on all ranks.
void write_vtk(const Communicator& comm, const std::string& path, const AssembledSpace& space,
               std::span<const VtkField> fields);

}  // namespace nekbone_k
