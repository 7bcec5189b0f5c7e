// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Global ids of element nodes, in kernels.
#pragma once

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// The global id of node (i, j, k) of the element at a position of the processing order. See
/// BoxMesh::global_id.
struct NodeIds {
  explicit NodeIds(const AssembledSpace& space)
      : elements(space.elements()), order(space.mesh().order()) {
    for (int d = 0; d < 3; ++d) length[d] = space.mesh().global_lattice_length(d);
  }
  KOKKOS_FUNCTION GlobalId operator()(LocalIndex e, int i, int j, int k) const {
    const auto at = [&](int d, int node) {
      return (std::int64_t{1} * elements(e, d) * order + node) % length[d];
    };
    return (at(2, k) * length[1] + at(1, j)) * length[0] + at(0, i);
  }
  Kokkos::View<const int* [3], Kokkos::LayoutRight, DeviceMemory> elements;
  int order;
  std::int64_t length[3];
};

}  // namespace nekbone_k
