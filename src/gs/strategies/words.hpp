/// @file
/// Message items as words, for kernels that move them without knowing what they are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nekbone_k {

/// action(a word): of the largest unsigned type that items of `item_bytes` are made of.
template <class Action>
void with_word(std::size_t item_bytes, const Action& action) {
  if (item_bytes % sizeof(std::uint64_t) == 0) return action(std::uint64_t{});
  if (item_bytes % sizeof(std::uint32_t) == 0) return action(std::uint32_t{});
  action(std::uint8_t{});
}

}  // namespace nekbone_k
