// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Global ids of the entries of assembled vectors, on the host.
#pragma once

#include <array>
#include <vector>

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// The lattice of GLL points of a whole mesh, whose positions are global ids.
struct Lattice {
  explicit Lattice(const BoxMesh& mesh)
      : length{mesh.global_lattice_length(0), mesh.global_lattice_length(1),
               mesh.global_lattice_length(2)} {}

  GlobalId id(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (k * length[1] + j) * length[0] + i;
  }
  std::array<std::int64_t, 3> point(GlobalId id) const {
    return {id % length[0], id / length[0] % length[1], id / length[0] / length[1]};
  }

  std::array<std::int64_t, 3> length;
};

/// A mesh as if this rank had all of it.
BoxMesh whole_mesh(const MeshSpec& mesh, int order);

/// The ids of the DOFs of a mesh that is on one rank, ascending.
std::vector<GlobalId> dof_ids(const BoxMesh& mesh);

/// The global id of every entry of assembled vectors; -1 for padding. Not collective.
std::vector<GlobalId> entry_ids(const AssembledSpace& space);

}  // namespace nekbone_k
