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

/// A way to divide a box of elements into a box for each rank.
///
/// - Recursive bisection: each cut is the plane, and the division of the ranks, with the best
///   balance of elements a rank; among equals the smallest cut area, then the most even division of
///   the ranks. It divides for any number of ranks, and ranks that follow each other get boxes that
///   lie together.
/// - A grid: the blocks of a direction differ by at most one element, the longer ones first. Ranks
///   are numbered first direction fastest.
struct Partition {
  std::array<int, 3> blocks{0, 0, 0};  ///< of a grid, in each direction; zeros: bisection

  bool is_grid() const { return blocks[0] > 0; }
  /// Whether one direction alone is cut.
  bool is_slabs() const;
  /// Whether every one of `ranks` ranks gets at least one element, and each element a rank.
  bool fits(const std::array<int, 3>& elements, int ranks) const;
  /// As the report has it: "bisection", "4 × 2 × 1".
  std::string name() const;
  bool operator==(const Partition&) const = default;
};

/// The box that `rank` of `ranks` gets of `whole`. Every rank gets at least one element. Not
/// collective. Throws InternalError if the partition does not fit.
ElementBox partition_box(const ElementBox& whole, int ranks, int rank,
                         const Partition& partition = {});

/// The ranks, ascending, whose boxes of the bisection `meets` holds of, which must hold of every
/// box around such a one, too. Takes time for these ranks and log(ranks), not for all. Not
/// collective.
std::vector<int> bisection_ranks(const ElementBox& whole, int ranks,
                                 const std::function<bool(const ElementBox&)>& meets);

}  // namespace nekbone_k
