// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// Cutting planes to try per direction: all of them, except in meshes too large for any machine.
constexpr int most_planes = 1 << 14;

struct Cut {
  int direction = 0, plane = 0, ranks_below = 0;
};

Cut best_cut(const ElementBox& box, int ranks) {
  using Cost = std::tuple<double, std::int64_t, int>;  // imbalance, area, unevenness of the ranks
  Cut best;
  Cost best_cost{1e300, 0, 0};
  for (int d = 0; d < 3; ++d) {
    const std::int64_t area = box.volume() / box.length(d);
    // Further planes balance no better than the nearest of these.
    const int step = std::max(1, box.length(d) / most_planes);
    for (int plane = step; plane < box.length(d); plane += step) {
      const std::int64_t below = plane * area, above = box.volume() - below;
      const double share = static_cast<double>(ranks) * below / box.volume();
      for (const int ranks_below :
           {static_cast<int>(std::floor(share)), static_cast<int>(std::ceil(share))}) {
        const int ranks_above = ranks - ranks_below;
        if (ranks_below < 1 || ranks_above < 1 || ranks_below > below || ranks_above > above)
          continue;
        const double load = std::max(static_cast<double>(below) / ranks_below,
                                     static_cast<double>(above) / ranks_above);
        const Cost cost{load, area, std::abs(ranks_above - ranks_below)};
        if (cost < best_cost) {
          best_cost = cost;
          best = {d, plane, ranks_below};
        }
      }
    }
  }
  require(best.ranks_below > 0, "no cut leaves every rank an element");
  return best;
}

/// A box and the ranks that share it.
struct SharedBox {
  ElementBox box;
  int first_rank = 0, ranks = 1;
};

std::array<SharedBox, 2> bisect(const SharedBox& whole) {
  const Cut cut = best_cut(whole.box, whole.ranks);
  const int plane = whole.box.begin[cut.direction] + cut.plane;
  SharedBox below{whole.box, whole.first_rank, cut.ranks_below};
  SharedBox above{whole.box, whole.first_rank + cut.ranks_below, whole.ranks - cut.ranks_below};
  below.box.end[cut.direction] = above.box.begin[cut.direction] = plane;
  return {below, above};
}

void find_ranks(const SharedBox& at, const std::function<bool(const ElementBox&)>& meets,
                std::vector<int>& ranks) {
  if (!meets(at.box)) return;
  if (at.ranks == 1) {
    ranks.push_back(at.first_rank);
    return;
  }
  for (const SharedBox& half : bisect(at)) find_ranks(half, meets, ranks);
}

ElementBox grid_box(const ElementBox& whole, const std::array<int, 3>& blocks, int rank) {
  ElementBox box;
  for (int d = 0; d < 3; ++d) {
    const int block = rank % blocks[d];
    rank /= blocks[d];
    const int length = whole.length(d) / blocks[d], longer = whole.length(d) % blocks[d];
    box.begin[d] = whole.begin[d] + block * length + std::min(block, longer);
    box.end[d] = box.begin[d] + length + (block < longer ? 1 : 0);
  }
  return box;
}

}  // namespace

bool Partition::is_slabs() const {
  return is_grid() && std::count(blocks.begin(), blocks.end(), 1) == 2;
}

bool Partition::fits(const std::array<int, 3>& elements, int ranks) const {
  const ElementBox whole{{0, 0, 0}, elements};
  if (!is_grid()) return ranks <= whole.volume();
  // The product of three numbers of blocks could overflow; ElementBox::volume() counts in 64 bits.
  for (int d = 0; d < 3; ++d)
    if (blocks[d] > elements[d] || blocks[d] > ranks) return false;
  return ElementBox{{0, 0, 0}, {blocks[0], blocks[1], 1}}.volume() <= ranks &&
         ElementBox{{0, 0, 0}, blocks}.volume() == ranks;
}

std::string Partition::name() const {
  if (!is_grid()) return "bisection";
  return fmt::format("{} × {} × {}", blocks[0], blocks[1], blocks[2]);
}

ElementBox partition_box(const ElementBox& whole, int ranks, int rank, const Partition& partition) {
  require(partition.fits({whole.length(0), whole.length(1), whole.length(2)}, ranks),
          partition.is_grid() ? "a grid that does not fit" : "more ranks than elements");
  if (partition.is_grid()) return grid_box(whole, partition.blocks, rank);
  SharedBox share{whole, 0, ranks};
  while (share.ranks > 1) {
    const auto [below, above] = bisect(share);
    share = rank < above.first_rank ? below : above;
  }
  return share.box;
}

std::vector<int> bisection_ranks(const ElementBox& whole, int ranks,
                                 const std::function<bool(const ElementBox&)>& meets) {
  std::vector<int> found;
  find_ranks({whole, 0, ranks}, meets, found);
  return found;
}

}  // namespace nekbone_k
