// SPDX-License-Identifier: BSD-3-Clause
#include "core/entry_loop.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nekbone_k {

// Outside an unnamed namespace, because nvcc needs a name for what launches a kernel.

/// Doubles the entries [begin, end) of a vector and returns all of them.
std::vector<float> doubled(LocalIndex size, LocalIndex begin, LocalIndex end) {
  std::vector<float> values(size);
  for (LocalIndex a = 0; a < size; ++a) values[a] = static_cast<float>(a + 1);
  const auto vector = to_device("values", values);
  for_entries(
      "double", begin, end,
      KOKKOS_LAMBDA(const LocalIndex a) { return Kokkos::Array<float, 1>{2 * vector(a)}; },
      KOKKOS_LAMBDA(const LocalIndex a, const Kokkos::Array<float, 1>& in) { vector(a) = in[0]; });
  const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), vector);
  return {host.data(), host.data() + size};
}

namespace {

TEST(EntryLoop, VisitsEveryEntryOfARangeOnce) {
  // A call handles up to 1024 entries on a CPU, and four on a GPU.
  for (const LocalIndex length : {0, 1, 2, 3, 4, 5, 7, 1023, 1024, 1025, 2048, 3001})
    for (const LocalIndex begin : {0, 1, 3, 1000}) {
      const LocalIndex end = begin + length, size = end + 5;
      const std::vector<float> values = doubled(size, begin, end);
      for (LocalIndex a = 0; a < size; ++a) {
        const float before = static_cast<float>(a + 1);
        ASSERT_EQ(values[a], a >= begin && a < end ? 2 * before : before)
            << "entry " << a << " of [" << begin << ", " << end << ")";
      }
    }
}

}  // namespace
}  // namespace nekbone_k
