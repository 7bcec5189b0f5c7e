/// @file
/// The input's mesh.partition. Nothing here is collective.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "app/yaml_tree.hpp"
#include "mesh/partition.hpp"

namespace nekbone_k {

/// Who divides the elements among the ranks: automatic: what is best by model and measurement;
/// else what is pinned.
enum class PartitionMode { automatic, bisection, slabs, grid };

/// The word in the input; of a grid, where the input has a list, what it is.
const char* name(PartitionMode);

/// What the input says.
struct GivenPartition {
  PartitionMode mode = PartitionMode::automatic;
  std::array<int, 3> blocks{0, 0, 0};  ///< of a grid
};

/// The rule for YamlReader: a word, or how many blocks a grid has in each direction.
struct PartitionRule {
  using Value = GivenPartition;

  std::optional<GivenPartition> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
};

/// The partition that is pinned: a grid as given, slabs across the direction of most elements, the
/// last of several; where none is pinned, bisection.
Partition pinned_partition(const GivenPartition& given, const std::array<int, 3>& elements,
                           int ranks);

/// Why that does not fit, what was given and what is allowed; empty if it fits. There are as many
/// elements as ranks, at least.
std::string complaint_about(const GivenPartition& given, const std::array<int, 3>& elements,
                            int ranks);

}  // namespace nekbone_k
