// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Keeps an even selection of a list whose length is not known before.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace nekbone_k {

/// Keeps every `every`-th of the `given` items, from the first on. `every` doubles whenever there
/// would be too many.
struct Thinning {
  int given = 0, every = 1;

  /// Adds an item to those kept so far, or drops it. Keeps at most `most`, which is even.
  template <class T>
  void add(std::vector<T>& kept, std::size_t most, T item) {
    if (given++ % every != 0) return;
    if (kept.size() >= most) {
      // `most` is even, so that the item is a multiple of the doubled distance, too.
      for (std::size_t i = 1; 2 * i < kept.size(); ++i) kept[i] = std::move(kept[2 * i]);
      kept.resize((kept.size() + 1) / 2);
      every *= 2;
    }
    kept.push_back(std::move(item));
  }
};

}  // namespace nekbone_k
