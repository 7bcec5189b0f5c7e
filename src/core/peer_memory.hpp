/// @file
/// Memory that processes of one node write to directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/communicator.hpp"
#include "core/types.hpp"

namespace nekbone_k {

/// Whether NEKBONE_K_PEER_MEMORY_ON_SHARED_GPU is in the environment: see PeerMemory.
bool peer_memory_may_share_gpu();

/// A piece of this rank's device memory that some other ranks of its node may read and write, and
/// theirs that this rank may: device memory opened through an IPC handle of CUDA or HIP (with HIP
/// compiled, and never run so far), or memory shared between processes where the device is the
/// host. Kernels use either as any other memory.
///
/// Pieces are kept and used again when objects go, as other processes still have them open, so that
/// destroying one needs no word with the others: making one waits for what kernels may still store.
class PeerMemory {
 public:
  /// `bytes` of memory beginning with `n_flags` flags that are 0. `peers` are ranks of `comm` on
  /// this node, each of which names this rank in turn. Collective over `comm`, also for ranks
  /// without peers; throws UnavailableError on every rank if it cannot be done on one. Where ranks
  /// share a GPU it is not done unless NEKBONE_K_PEER_MEMORY_ON_SHARED_GPU is in the environment: a
  /// kernel that waits then keeps others from running for the length of its turn, which is long,
  /// but more ranks can be tested than there are GPUs.
  PeerMemory(const Communicator& comm, std::size_t bytes, std::span<const int> peers,
             std::size_t n_flags);

  std::byte* here() const { return m_here; }
  /// The memory of the p-th of `peers`.
  std::byte* of_peer(std::size_t p) const { return m_of_peers[p]; }

 private:
  std::byte* m_here = nullptr;
  std::vector<std::byte*> m_of_peers;
  std::shared_ptr<void> m_block;  // gives the memory back to the pool
};

/// A number that one process raises and another waits for, in a cache line of its own.
struct alignas(128) Flag {
  std::uint64_t value;
};

/// Sets a flag in any process's memory after everything that this thread, or others before a
/// barrier with it, wrote. For kernels.
KOKKOS_INLINE_FUNCTION void raise_flag(Flag* flag, std::uint64_t value) {
  desul::atomic_thread_fence(desul::MemoryOrderRelease(), desul::MemoryScopeNode());
  // One aligned word: no processor tears it.
  *const_cast<volatile std::uint64_t*>(&flag->value) = value;
}

/// Whether a flag has come to `value`; if so, what was written before it was raised can be read.
KOKKOS_INLINE_FUNCTION bool is_raised(const Flag* flag, std::uint64_t value) {
  if (*const_cast<const volatile std::uint64_t*>(&flag->value) < value) return false;
  desul::atomic_thread_fence(desul::MemoryOrderAcquire(), desul::MemoryScopeNode());
  return true;
}

/// Looks until `done()`; about a minute, as a look takes a device most of a microsecond, and then
/// sets `late`, in the host's memory, and goes on. For kernels.
template <class Done>
KOKKOS_INLINE_FUNCTION void look_until(const Done& done, int* late) {
  constexpr std::int64_t patience = 100'000'000;
  std::int64_t looks = 0;
  while (!done()) {
    // Others' lateness is looked at seldom: reading the host's memory takes long.
    if (++looks % 65536 != 0 || (looks < patience && *const_cast<volatile int*>(late) == 0))
      continue;
    *const_cast<volatile int*>(late) = 1;
    return;
  }
}

/// look_until() a flag has come to `value`.
KOKKOS_INLINE_FUNCTION void await(const Flag* flag, std::uint64_t value, int* late) {
  look_until([&] { return is_raised(flag, value); }, late);
}

}  // namespace nekbone_k
