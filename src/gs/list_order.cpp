// SPDX-License-Identifier: BSD-3-Clause
#include "gs/list_order.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace nekbone_k {
namespace {

constexpr LocalIndex group = 1024;  ///< lists that are sorted together

std::uint64_t hash_of_distances(std::span<const LocalIndex> entries) {
  std::uint64_t hash = entries.size();
  for (const LocalIndex entry : entries)
    hash = (hash + static_cast<std::uint32_t>(entry - entries[0])) * 0x9e37'79b9'7f4a'7c15ULL;
  return hash;
}

}  // namespace

std::vector<LocalIndex> order_of_alike_lists(
    LocalIndex n_lists, LocalIndex border,
    const std::function<std::span<const LocalIndex>(LocalIndex list)>& entries_of) {
  std::vector<std::uint64_t> hashes(n_lists);
  for (LocalIndex list = 0; list < n_lists; ++list)
    hashes[list] = hash_of_distances(entries_of(list));
  std::vector<LocalIndex> order(n_lists);
  std::iota(order.begin(), order.end(), 0);
  const auto sort = [&](LocalIndex begin, LocalIndex end) {
    for (LocalIndex first = begin; first < end; first += group)
      std::stable_sort(
          order.begin() + first, order.begin() + std::min(first + group, end),
          [&](LocalIndex one, LocalIndex other) { return hashes[one] < hashes[other]; });
  };
  sort(0, border);
  sort(border, n_lists);
  return order;
}

}  // namespace nekbone_k
