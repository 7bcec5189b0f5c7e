// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Items of messages as words, for kernels that move them without knowing their type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nekbone_k {

/// Calls action(word) with a zero of the largest unsigned type that divides `item_bytes`.
template <class Action>
void with_word(std::size_t item_bytes, const Action& action) {
  if (item_bytes % sizeof(std::uint64_t) == 0) return action(std::uint64_t{});
  if (item_bytes % sizeof(std::uint32_t) == 0) return action(std::uint32_t{});
  action(std::uint8_t{});
}

}  // namespace nekbone_k
