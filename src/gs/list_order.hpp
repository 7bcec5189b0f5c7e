// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// An order of lists in which lists with equal distances between their entries follow each other.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace nekbone_k {

/// An order of the lists [0, n_lists): first all before `border`, then the others. Lists whose
/// entries have equal distances follow each other, in groups of neighbouring lists, so that lists
/// and entries stay near each other in memory. Among themselves, they keep their order.
/// `entries_of(list)` are the entries of a list.
std::vector<LocalIndex> order_of_alike_lists(
    LocalIndex n_lists, LocalIndex border,
    const std::function<std::span<const LocalIndex>(LocalIndex list)>& entries_of);

}  // namespace nekbone_k
