// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Division of a box of elements among the ranks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nekbone_k {

/// A box of elements: index d runs over [begin[d], end[d]).
struct ElementBox {
  std::array<int, 3> begin{0, 0, 0}, end{0, 0, 0};

  int length(int d) const { return end[d] - begin[d]; }
  std::int64_t volume() const { return std::int64_t{1} * length(0) * length(1) * length(2); }
  bool operator==(const ElementBox&) const = default;
};

/// A division of a box of elements into one box per rank.
///
/// - Recursive bisection: each cut takes the plane and the division of the ranks with the best
///   balance of elements per rank. Ties are broken by the smallest cut area, then by the most even
///   division of the ranks. It works for any number of ranks, and consecutive ranks get boxes that
///   lie together.
/// - Process grid: the blocks of a direction differ by at most one element; the longer blocks come
///   first. Ranks are numbered first direction fastest.
struct Partition {
  std::array<int, 3> blocks{0, 0, 0};  ///< of the process grid, per direction; zeros: bisection

  bool is_grid() const { return blocks[0] > 0; }
  /// Whether only one direction is cut.
  bool is_slabs() const;
  /// Whether each of `ranks` ranks gets at least one element, and each element a rank.
  bool fits(const std::array<int, 3>& elements, int ranks) const;
  /// The name in the report: "bisection" or e.g. "4 × 2 × 1".
  std::string name() const;
  bool operator==(const Partition&) const = default;
};

/// The box of `rank` of `ranks` in `whole`; every rank gets at least one element. Throws
/// InternalError if the partition does not fit. Not collective.
ElementBox partition_box(const ElementBox& whole, int ranks, int rank,
                         const Partition& partition = {});

/// The ranks, ascending, for whose boxes of the bisection `meets` is true. `meets` must also be
/// true of every box around such a box. The time grows with the number of these ranks and with
/// log(ranks), not with all ranks. Not collective.
std::vector<int> bisection_ranks(const ElementBox& whole, int ranks,
                                 const std::function<bool(const ElementBox&)>& meets);

}  // namespace nekbone_k
