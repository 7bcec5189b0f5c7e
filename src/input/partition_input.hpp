// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The input's mesh.partition. Nothing here is collective.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "input/rules.hpp"
#include "input/yaml_tree.hpp"
#include "mesh/partition.hpp"

namespace nekbone_k {

/// How the elements are divided among the ranks. automatic: the run selects a process grid by model
/// and measurement; otherwise the input fixes it.
enum class PartitionMode { automatic, bisection, slabs, grid };

/// The word in the input; for a grid, which the input gives as a list, a description.
const char* name(PartitionMode);

/// The value of mesh.partition.
struct GivenPartition {
  PartitionMode mode = PartitionMode::automatic;
  std::array<int, 3> blocks{0, 0, 0};  ///< of a grid, per direction
};

/// The value as JSON that is valid input: a word or three numbers of blocks.
void to_json(Json& json, const GivenPartition& given);

/// The rule (rules.hpp): a word, or the number of blocks in each direction.
struct PartitionRule {
  using Value = GivenPartition;

  std::optional<GivenPartition> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
  std::string type() const { return "word or 3 integers"; }
  Json schema() const;
};

/// The partition that the input fixes: a grid as given, or slabs across the direction with the most
/// elements, the last of equals. Otherwise bisection.
Partition pinned_partition(const GivenPartition& given, const std::array<int, 3>& elements,
                           int ranks);

/// Why the partition does not fit, with the given and the allowed value; empty if it fits. The mesh
/// must have at least one element per rank.
std::string complaint_about(const GivenPartition& given, const std::array<int, 3>& elements,
                            int ranks);

}  // namespace nekbone_k
