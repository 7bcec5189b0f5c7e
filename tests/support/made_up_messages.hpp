// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// DOFs whose messages have a known form, and buffers for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/message_memory.hpp"
#include "core/types.hpp"

namespace nekbone_k {

/// The ids that `rank` of `size` ranks shares.
using CandidatesOf = std::vector<GlobalId> (*)(int rank, int size);

/// Ranks a and b share 1 + (a + b) % 4 DOFs, and all ranks except rank 2 share one more, so
/// messages differ in length. Rank 2, if it exists, shares nothing.
inline std::vector<GlobalId> candidates_of(int rank, int size) {
  if (rank == 2) return {1, 2, 3};
  std::vector<GlobalId> ids{1000000};
  for (int other = 0; other < size; ++other) {
    if (other == rank || other == 2) continue;
    const int low = std::min(rank, other), high = std::max(rank, other);
    for (int i = 0; i <= (low + high) % 4; ++i) ids.push_back(100 + 1000 * low + 10 * high + i);
  }
  return ids;
}

/// Slabs of a mesh: each rank shares 25 DOFs with the next one. They are sorted by id, so the DOFs
/// of a message are consecutive.
inline std::vector<GlobalId> candidates_of_slab(int rank, int) {
  std::vector<GlobalId> ids;
  for (GlobalId id = 25 * rank; id < 25 * (rank + 2); ++id) ids.push_back(id);
  return ids;
}

/// Like the faces and edges of boxes: every two ranks share 20 DOFs, and every three ranks share
/// two. From three ranks on, the DOFs of some messages are in several pieces.
inline std::vector<GlobalId> candidates_of_faces_and_edges(int rank, int size) {
  std::vector<GlobalId> ids;
  for (int a = 0; a < size; ++a)
    for (int b = a + 1; b < size; ++b) {
      if (a == rank || b == rank)
        for (int i = 0; i < 20; ++i) ids.push_back(1000 * (10 * a + b) + i);
      for (int c = b + 1; c < size; ++c)
        if (a == rank || b == rank || c == rank)
          for (int i = 0; i < 2; ++i) ids.push_back(1000 * (1000 + 100 * a + 10 * b + c) + i);
    }
  std::reverse(ids.begin(), ids.end());
  return ids;
}

/// A message buffer. It comes from the pool of the exchanges, because MPI libraries keep
/// registrations of freed device memory.
class Buffer {
 public:
  explicit Buffer(std::size_t n) : m_memory(n), m_bytes(m_memory.as_vector<unsigned char>(n)) {}

  unsigned char* data() const { return m_bytes.data(); }
  void fill(unsigned char value) const { Kokkos::deep_copy(m_bytes, value); }
  void copy_from(const std::vector<unsigned char>& bytes) const {
    Kokkos::deep_copy(m_bytes,
                      Kokkos::View<const unsigned char*, HostMemory>(bytes.data(), bytes.size()));
  }
  std::vector<unsigned char> content() const {
    std::vector<unsigned char> bytes(m_bytes.extent(0));
    Kokkos::deep_copy(Kokkos::View<unsigned char*, HostMemory>(bytes.data(), bytes.size()),
                      m_bytes);
    return bytes;
  }

 private:
  DeviceMessageMemory m_memory;
  DeviceVector<unsigned char> m_bytes;
};

}  // namespace nekbone_k
