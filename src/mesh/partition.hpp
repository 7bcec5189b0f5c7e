/// @file
/// Division of a box of elements among the ranks.
#pragma once

#include <array>
#include <cstdint>

namespace nekbone_k {

/// A box of elements: index d runs over [begin[d], end[d]).
struct ElementBox {
  std::array<int, 3> begin{0, 0, 0}, end{0, 0, 0};

  int length(int d) const { return end[d] - begin[d]; }
  std::int64_t volume() const { return std::int64_t{1} * length(0) * length(1) * length(2); }
  bool operator==(const ElementBox&) const = default;
};

/// The box that `rank` of `ranks` gets of `whole`, by recursive bisection: each cut is the plane,
/// and the division of the ranks, with the best balance of elements a rank; among equals the
/// smallest cut area, then the most even division of the ranks. Every rank gets at least one
/// element. Not collective. Throws InternalError if there are more ranks than elements.
ElementBox partition_box(const ElementBox& whole, int ranks, int rank);

}  // namespace nekbone_k
