// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Items that pass through a rank on their way to another rank. Kernels pick them by position.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "core/message_memory.hpp"
#include "core/types.hpp"
#include "gs/exchange.hpp"
#include "gs/strategies/words.hpp"

namespace nekbone_k {

/// Positions of items, in the same memory space as the items.
template <class Memory>
using ItemPositions = Kokkos::View<LocalIndex*, Memory>;

template <class Memory>
ItemPositions<Memory> item_positions(const std::string& label,
                                     const std::vector<LocalIndex>& host) {
  ItemPositions<Memory> positions(label, host.size());
  Kokkos::deep_copy(positions,
                    Kokkos::View<const LocalIndex*, HostMemory>(host.data(), host.size()));
  return positions;
}

/// Items in two pieces of memory with one numbering: the first n_first items are in `first`.
struct ItemStore {
  const void* first = nullptr;
  LocalIndex n_first = 0;
  const void* rest = nullptr;
};

/// Item i of `to` = item which[i] of the store. with_word() defines the words.
template <class Word>
struct PickItems {
  const LocalIndex* which;
  const Word *first, *rest;
  LocalIndex n_first, words;  ///< words per item
  Word* to;

  KOKKOS_FUNCTION void operator()(LocalIndex i) const {
    const LocalIndex at = which[i];
    const Word* const from =
        at < n_first ? first + std::size_t(at) * words : rest + std::size_t(at - n_first) * words;
    for (LocalIndex w = 0; w < words; ++w) to[std::size_t(i) * words + w] = from[w];
  }
};

/// Picks n items, in `space`; returns before the kernel ends.
template <class Space>
void pick_items(const Space& space, const LocalIndex* which, LocalIndex n, const ItemStore& store,
                std::size_t item_bytes, void* to) {
  if (n == 0) return;
  with_word(item_bytes, [&](auto word) {
    using Word = decltype(word);
    Kokkos::parallel_for("nekbone_k: pick items", Kokkos::RangePolicy<Space>(space, 0, n),
                         PickItems<Word>{which, static_cast<const Word*>(store.first),
                                         static_cast<const Word*>(store.rest), store.n_first,
                                         static_cast<LocalIndex>(item_bytes / sizeof(Word)),
                                         static_cast<Word*>(to)});
  });
}

/// Fills `memory`, of `items` items, with the n_received items of the receive buffer, repeated as
/// needed: a rank may pass on more or fewer items than it receives. See Exchange::poison().
template <class Memory>
void poison_items(const MessageMemory<Memory>& memory, LocalIndex items,
                  const MessageBuffers& buffers, LocalIndex n_received) {
  using Bytes = Kokkos::View<std::byte*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const std::size_t bytes = items * buffers.item_bytes, received = n_received * buffers.item_bytes;
  if (received == 0) return;
  for (std::size_t at = 0; at < bytes; at += received) {
    const std::size_t n = std::min(received, bytes - at);
    Kokkos::deep_copy(Bytes(static_cast<std::byte*>(memory.data()) + at, n),
                      Bytes(static_cast<std::byte*>(buffers.receive), n));
  }
}

/// The execution space that picks items: the stream of the buffers, or the host for items in host
/// memory.
template <class Space>
Space picking_space(const MessageBuffers& buffers) {
  if constexpr (std::is_same_v<Space, ExecutionSpace>) {
    return buffers.stream;
  } else {
    return {};
  }
}

}  // namespace nekbone_k
