/// @file
/// DOFs whose messages have a known form, and buffers for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/types.hpp"
#include "gs/message_memory.hpp"

namespace nekbone_k {

/// The ids that a rank shares, by rank and number of ranks.
using CandidatesOf = std::vector<GlobalId> (*)(int rank, int size);

/// Ranks a and b share 1 + (a + b) % 4 DOFs, and all share one, so that messages differ in length.
/// Rank 2, where there is one, shares nothing.
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

/// Slabs of a mesh: 25 DOFs between a rank and the next one, all in the order of their ids, so that
/// the DOFs of a message are consecutive.
inline std::vector<GlobalId> candidates_of_slab(int rank, int) {
  std::vector<GlobalId> ids;
  for (GlobalId id = 25 * rank; id < 25 * (rank + 2); ++id) ids.push_back(id);
  return ids;
}

/// The same, but those that the next rank has, too, are in no order and lie anywhere in its
/// message.
inline std::vector<GlobalId> candidates_of_uneven_slab(int rank, int size) {
  std::vector<GlobalId> ids = candidates_of_slab(rank, size);
  for (int i = 0; i < 25; ++i) ids[25 + i] = 25 * (rank + 1) + 7 * i % 25;
  return ids;
}

/// A message buffer. From the pool that exchanges get theirs from, as MPI libraries keep
/// registrations of device memory that has been freed.
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
