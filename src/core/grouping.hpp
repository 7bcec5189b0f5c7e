// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Groups of items that share a text, such as a reason.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace nekbone_k {

/// Items by a text that they share, in the order in which the texts first came.
template <class Item>
using Groups = std::vector<std::pair<std::string, std::vector<Item>>>;

/// Adds `item` to the group of `text`.
template <class Item>
void add_to_group(Groups<Item>& groups, const std::string& text, Item item) {
  auto group = std::find_if(groups.begin(), groups.end(),
                            [&](const auto& other) { return other.first == text; });
  if (group == groups.end()) group = groups.insert(groups.end(), {text, {}});
  group->second.push_back(std::move(item));
}

}  // namespace nekbone_k
