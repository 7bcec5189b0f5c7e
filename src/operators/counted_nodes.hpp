// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All nodes of a rank's elements, for kernels.
#pragma once

#include <cstdint>

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// The nodes of a rank's elements, counted through; elements have copies of the nodes that they
/// share. For kernels; the space must outlive it.
struct CountedNodes {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

  explicit CountedNodes(const AssembledSpace& space) : reader(space), layout(space.layout()) {}

  Policy policy() const { return {0, std::int64_t{layout.n_elements} * layout.points()}; }

  /// Calls f(position, i, j, k) with the position of the element and the place in it.
  template <class Function>
  KOKKOS_FUNCTION auto at(std::int64_t node, const Function& f) const {
    const int q = static_cast<int>(node % layout.points()), nq = layout.nq;
    return f(static_cast<LocalIndex>(node / layout.points()), q % nq, q / nq % nq, q / (nq * nq));
  }
  /// The entry in an assembled vector.
  KOKKOS_FUNCTION LocalIndex entry(std::int64_t node) const {
    return at(node, [this](LocalIndex position, int i, int j, int k) {
      return reader.entry(position / ElementLayout::lanes, position % ElementLayout::lanes, i, j,
                          k);
    });
  }

  NodeReader reader;
  ElementLayout layout;
};

}  // namespace nekbone_k
