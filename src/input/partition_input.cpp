// SPDX-License-Identifier: BSD-3-Clause
#include "input/partition_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "core/format.hpp"
#include "mesh/partition_model.hpp"

namespace nekbone_k {
namespace {

constexpr Integers blocks_rule{1, std::numeric_limits<int>::max()};
const Choices<PartitionMode> partition_words{
    {PartitionMode::automatic, PartitionMode::bisection, PartitionMode::slabs}};

/// The grid whose largest block has the least surface; nothing if no grid fits.
std::optional<Partition> compact_grid(const std::array<int, 3>& elements, int ranks) {
  std::optional<Partition> best;
  double least = std::numeric_limits<double>::infinity();
  for (const Partition& grid : possible_partitions(elements, ranks)) {
    if (!grid.is_grid()) continue;
    const ElementBox box = partition_box({{0, 0, 0}, elements}, ranks, 0, grid);
    double surface = 0;
    for (int d = 0; d < 3; ++d) surface += static_cast<double>(box.volume()) / box.length(d);
    if (surface < least) {
      least = surface;
      best = grid;
    }
  }
  return best;
}

}  // namespace

std::optional<GivenPartition> PartitionRule::convert(const YamlValue& given) const {
  if (given.kind == YamlValue::Kind::list && given.items.size() == 3) {
    GivenPartition grid{PartitionMode::grid, {}};
    for (std::size_t d = 0; d < 3; ++d) {
      const auto blocks = blocks_rule.convert(given.items[d]);
      if (!blocks) return std::nullopt;
      grid.blocks[d] = *blocks;
    }
    return grid;
  }
  const auto mode = partition_words.convert(given);
  return mode ? std::optional(GivenPartition{*mode, {}}) : std::nullopt;
}

std::string PartitionRule::allowed(const YamlValue& given) const {
  const std::string meant = list_meant_by(blocks_rule, given, 3);
  return fmt::format("a list of 3 integers, each at least 1, {}or {}",
                     meant.empty() ? "" : fmt::format("such as {}, ", meant),
                     partition_words.allowed(given));
}

Json PartitionRule::schema() const {
  return {{"oneOf", {partition_words.schema(), schema_by(blocks_rule, GivenPartition{}.blocks)}}};
}

void to_json(Json& json, const GivenPartition& given) {
  json = given.mode == PartitionMode::grid ? Json(given.blocks) : Json(name(given.mode));
}

Partition pinned_partition(const GivenPartition& given, const std::array<int, 3>& elements,
                           int ranks) {
  if (given.mode == PartitionMode::grid) return {given.blocks};
  if (given.mode != PartitionMode::slabs) return {};
  Partition slabs{{1, 1, 1}};
  const auto longest = std::max_element(elements.rbegin(), elements.rend());
  slabs.blocks[elements.rend() - longest - 1] = ranks;
  return slabs;
}

std::string complaint_about(const GivenPartition& given, const std::array<int, 3>& elements,
                            int ranks) {
  if (pinned_partition(given, elements, ranks).fits(elements, ranks)) return {};
  if (given.mode == PartitionMode::slabs) {
    const int longest = *std::max_element(elements.begin(), elements.end());
    return fmt::format(
        "given slabs for {} ranks and elements [{}]; allowed: slabs for at most {}, as many "
        "as a direction has elements, or auto or bisection",
        ranks, fmt::join(elements, ", "), counted(longest, "rank"));
  }
  const auto good = compact_grid(elements, ranks);
  const bool slabs_fit = complaint_about({PartitionMode::slabs, {}}, elements, ranks).empty();
  return fmt::format(
      "given [{}] for {} and elements [{}]; allowed: three integers whose product is {}, "
      "each at most the elements of its direction{}, or {}",
      fmt::join(given.blocks, ", "), counted(ranks, "rank"), fmt::join(elements, ", "), ranks,
      good ? fmt::format(", such as [{}]", fmt::join(good->blocks, ", ")) : " (there are none)",
      slabs_fit ? "auto, bisection or slabs" : "auto or bisection");
}

const char* name(PartitionMode mode) {
  switch (mode) {
    case PartitionMode::automatic:
      return "auto";
    case PartitionMode::bisection:
      return "bisection";
    case PartitionMode::slabs:
      return "slabs";
    case PartitionMode::grid:
      return "grid";
  }
  return "";
}

}  // namespace nekbone_k
