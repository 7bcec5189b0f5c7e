// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The layout of the tiles through which lines along r and s pass.
#pragma once

#include "core/types.hpp"

namespace nekbone_k {

/// Positions of values in the two tiles of some layers; lines along r and s pass through these
/// tiles.
///
/// Threads traverse the points of a layer in order, and the lines of all layers. In both cases, any
/// `banks` consecutive threads should use different banks:
/// - Points do so if rows follow each other without a gap.
/// - Lines along s then need a distance of layers at which the lines of one layer continue those of
///   the layer before.
/// - Lines along r need rows of odd length. One way is a gap after each row (`padded_rows`). The
///   other way traverses lines in stretches. Lines whose places in a layer differ by `period` begin
///   in the same bank, and layers are an odd number of banks apart. A stretch therefore takes
///   `period` lines of every layer before the next stretch begins. That conflicts less at orders 3
///   and 9, but the beginning of a line takes longer to compute.
template <int nq, int layers, int banks, bool padded_rows>
struct AxhelmTiles {
  static constexpr bool is_even = banks > 1 && nq % 2 == 0;
  static constexpr int pitch = is_even && padded_rows ? nq + 1 : nq;
  static constexpr int layer_r = nq * pitch + (is_even && !padded_rows ? 1 : 0);
  static constexpr int layer_s = nq * nq + ((nq - nq * nq) % banks + banks) % banks;
  static constexpr int size_r = (layers - 1) * layer_r + nq * pitch;
  static constexpr int size_s = (layers - 1) * layer_s + nq * nq;
  static constexpr int period = [] {
    int shortest = banks;
    while (shortest > 1 && nq * shortest / 2 % banks == 0) shortest /= 2;
    return shortest;
  }();

  /// Position of the value at (i, j) of a layer, in the tile of r or of s.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int at_r(int layer, int i, int j) {
    return layer * layer_r + j * pitch + i;
  }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int at_s(int layer, int i, int j) {
    return layer * layer_s + j * nq + i;
  }
  /// Beginning of the n-th line along r or s in a tile of some layers.
  template <int n_layers>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int line_r(int n) {
    if (layer_r == nq * pitch) return n * pitch;
    if (period >= nq) return at_r(n / nq, 0, n % nq);
    constexpr int in_stretches = nq / period * period * n_layers;
    if (nq % period == 0 || n < in_stretches)
      return at_r(n / period % n_layers, 0, n / (period * n_layers) * period + n % period);
    constexpr int rest = nq % period == 0 ? 1 : nq % period;
    return at_r((n - in_stretches) / rest, 0, nq - rest + (n - in_stretches) % rest);
  }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int line_s(int n) { return at_s(n / nq, n % nq, 0); }
};

}  // namespace nekbone_k
