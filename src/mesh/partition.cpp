#include "mesh/partition.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// Cutting planes tried in a direction: all of them but in meshes larger than any machine can hold.
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
    // More planes than this are no better balanced than the nearest of these.
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

}  // namespace

ElementBox partition_box(const ElementBox& whole, int ranks, int rank) {
  require(ranks <= whole.volume(), "more ranks than elements");
  ElementBox box = whole;
  while (ranks > 1) {
    const Cut cut = best_cut(box, ranks);
    const int plane = box.begin[cut.direction] + cut.plane;
    if (rank < cut.ranks_below) {
      box.end[cut.direction] = plane;
      ranks = cut.ranks_below;
    } else {
      box.begin[cut.direction] = plane;
      rank -= cut.ranks_below;
      ranks -= cut.ranks_below;
    }
  }
  return box;
}

}  // namespace nekbone_k
