// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The team scratch of the element kernel.
#pragma once

#include "core/lanes.hpp"

namespace nekbone_k {

/// `size` lanes of scratch for each team of `team_size` threads.
template <int team_size, int size, class Lanes>
struct AxhelmScratch {
  /// Bytes that a team uses.
  KOKKOS_FUNCTION static constexpr std::size_t used_bytes() { return sizeof(Lanes) * size; }
  /// Bytes to ask for, with some for the alignment, which Kokkos does not add.
  KOKKOS_FUNCTION static constexpr std::size_t bytes() { return used_bytes() + alignof(Lanes); }
  /// Fast scratch on a GPU: a team has 48 KB without asking, of which Kokkos takes one double per
  /// thread and two more. On a CPU the two levels differ little.
  KOKKOS_FUNCTION static constexpr int level() {
    return bytes() + sizeof(double) * (team_size + 2) <= 49152 ? 0 : 1;
  }
};

}  // namespace nekbone_k
