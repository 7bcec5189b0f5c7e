// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Loops over the entries of vectors that are limited by memory bandwidth.
#pragma once

#include <string>

#include "core/types.hpp"

// Goes before a loop whose passes are independent, so that a compiler may process several in SIMD
// lanes without checks for overlapping arrays.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define NEKBONE_K_INDEPENDENT
#elif defined(__clang__)
#define NEKBONE_K_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define NEKBONE_K_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace nekbone_k {

/// The kernel of for_entries(). Each call handles `at_once` entries: on a GPU entries that are
/// `stride` apart, on a CPU a stretch of them, in SIMD lanes.
template <class Load, class Store>
struct EntryLoop {
  static constexpr int at_once = is_host_device ? 1024 : 4;

  Load load;
  Store store;
  LocalIndex begin, end, stride;

  /// `call` is in [begin, begin + stride).
  KOKKOS_FUNCTION void operator()(const LocalIndex call) const {
    if constexpr (is_host_device) {
      const LocalIndex first = begin + (call - begin) * at_once;
      const LocalIndex last = end - first < at_once ? end : first + at_once;
      NEKBONE_K_INDEPENDENT
      for (LocalIndex a = first; a < last; ++a) store(a, load(a));
    } else {
      const LocalIndex first = call;
      decltype(load(first)) loaded[at_once];
      NEKBONE_K_UNROLL
      for (int q = 0; q < at_once; ++q)
        if (first + q * stride < end) loaded[q] = load(first + q * stride);
      NEKBONE_K_UNROLL
      for (int q = 0; q < at_once; ++q)
        if (first + q * stride < end) store(first + q * stride, loaded[q]);
    }
  }
};

/// Calls store(a, load(a)) for a in [begin, end), in the default stream. load() returns a
/// Kokkos::Array of what it reads, and store() writes. No entry may depend on another. A thread of
/// a GPU loads four entries before it stores any, so that enough loads are in flight: with one
/// float per thread, loops reached 55 to 80 % of the bandwidth of a copy.
template <class Load, class Store>
void for_entries(const std::string& label, LocalIndex begin, LocalIndex end, const Load& load,
                 const Store& store) {
  constexpr int at_once = EntryLoop<Load, Store>::at_once;
  const LocalIndex stride = (end - begin + at_once - 1) / at_once;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace>(begin, begin + stride),
                       EntryLoop<Load, Store>{load, store, begin, end, stride});
}

}  // namespace nekbone_k
