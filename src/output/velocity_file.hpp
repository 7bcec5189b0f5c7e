// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Velocities from files, for a flow to begin with.
#pragma once

#include <array>
#include <string>

#include "core/communicator.hpp"
#include "output/hdf5_file.hpp"

namespace nekbone_k {

class FlowElements;
struct GeometricFactors;
struct VectorField;

/// The velocity in an HDF5 file, such as a checkpoint: the array "velocity/0" of shape (3, z, y, x,
/// k, j, i), a component, an element and a GLL node of it. Members are collective and throw
/// FileError on all ranks, in words that name the file.
class VelocityFile {
 public:
  /// Opens a file. Its velocity must have `elements` in each direction, and may have any order.
  /// `comm` outlives the object.
  VelocityFile(const Communicator& comm, const std::string& path,
               const std::array<int, 3>& elements);

  /// Sets `out` to the velocity plus a constant one, interpolated to the order of the space. Where
  /// elements meet it takes the mean of their values, weighted by mass, so that all ranks have the
  /// same. Throws if a value is not finite.
  void read(FlowElements& elements, const GeometricFactors& factors,
            const std::array<double, 3>& added, const VectorField& out) const;

 private:
  const Communicator& m_comm;
  std::string m_path;
  Hdf5File m_file;
  int m_nodes = 0;  ///< per direction of an element
};

}  // namespace nekbone_k
