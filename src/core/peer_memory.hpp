// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Memory that processes of one node write to directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/communicator.hpp"
#include "core/lateness.hpp"
#include "core/types.hpp"

namespace nekbone_k {

/// Whether the environment sets NEKBONE_K_PEER_MEMORY_ON_SHARED_GPU; see PeerMemory.
bool peer_memory_may_share_gpu();

/// Device memory of this rank that some other ranks of its node read and write, and their memory
/// that this rank reads and writes. On a GPU it is opened through IPC handles of CUDA or HIP; the
/// HIP version compiles but has never run. If the device is the host, processes share the memory.
/// Kernels use it like any other memory. core/shared_block.hpp verifies that opened memory belongs
/// to the peer.
///
/// Destructors return memory to a pool, because other processes still have it open. The destructor
/// is therefore not collective. The constructor waits for kernels that may still store into the
/// memory.
class PeerMemory {
 public:
  /// Provides `bytes` of memory that begins with `n_flags` flags, all 0. `peers` are ranks of
  /// `comm` on this node; each of them names this rank in turn.
  ///
  /// Collective over `comm`, also for ranks without peers. Throws UnavailableError on every rank if
  /// any rank fails. It also throws if ranks share a GPU, unless
  /// NEKBONE_K_PEER_MEMORY_ON_SHARED_GPU is in the environment of all ranks: there, a waiting
  /// kernel blocks the others for its whole time slice. With the variable, tests can use more ranks
  /// than GPUs.
  PeerMemory(const Communicator& comm, std::size_t bytes, std::span<const int> peers,
             std::size_t n_flags);

  std::byte* here() const { return m_here; }
  /// The memory of peer `peers[p]`.
  std::byte* of_peer(std::size_t p) const { return m_of_peers[p]; }

 private:
  std::byte* m_here = nullptr;
  std::vector<std::byte*> m_of_peers;
  std::shared_ptr<void> m_block;  // gives the memory back to the pool
};

/// A counter in its own cache line: one process raises it and another waits for it.
struct alignas(128) Flag {
  std::uint64_t value;
};

/// Sets a flag in the memory of any process, after everything that this thread wrote, and that
/// other threads wrote before a barrier with it. For kernels.
KOKKOS_INLINE_FUNCTION void raise_flag(Flag* flag, std::uint64_t value) {
  desul::atomic_thread_fence(desul::MemoryOrderRelease(), desul::MemoryScopeNode());
  // One aligned word: no processor tears it.
  *const_cast<volatile std::uint64_t*>(&flag->value) = value;
}

/// Whether a flag has reached `value`. If so, everything written before it was raised can be read.
KOKKOS_INLINE_FUNCTION bool is_raised(const Flag* flag, std::uint64_t value) {
  if (*const_cast<const volatile std::uint64_t*>(&flag->value) < value) return false;
  desul::atomic_thread_fence(desul::MemoryOrderAcquire(), desul::MemoryScopeNode());
  return true;
}

/// look_until() a flag has reached `value`.
KOKKOS_INLINE_FUNCTION void await(const Flag* flag, std::uint64_t value, Late* late) {
  look_until([&] { return is_raised(flag, value); }, late);
}

}  // namespace nekbone_k
