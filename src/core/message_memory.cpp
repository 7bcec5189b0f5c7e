// SPDX-License-Identifier: BSD-3-Clause
#include "core/message_memory.hpp"

#include <map>

namespace nekbone_k {

template <class Space>
struct MessageMemory<Space>::Pool {
  std::multimap<std::size_t, Bytes> free;  // by size
};

template <class Space>
typename MessageMemory<Space>::Pool& MessageMemory<Space>::pool() {
  static Pool& only = []() -> Pool& {
    // Never destroyed, because exchanges that were given up may outlive everything else.
    auto* const made = new Pool;
    Kokkos::push_finalize_hook([made] { made->free.clear(); });
    return *made;
  }();
  return only;
}

template <class Space>
MessageMemory<Space>::MessageMemory(std::size_t bytes) {
  if (bytes == 0) return;
  const auto allocated = [&] {
    return Bytes(Kokkos::view_alloc("nekbone_k: messages", Kokkos::WithoutInitializing), bytes);
  };
  if constexpr (!keeps_message_memory) {
    m_bytes = allocated();
    return;
  }
  auto& free = pool().free;
  if (const auto fitting = free.lower_bound(bytes); fitting != free.end()) {
    m_bytes = fitting->second;
    free.erase(fitting);
  } else {
    m_bytes = allocated();
  }
  m_given_back = std::shared_ptr<void>(nullptr, [kept = m_bytes](void*) {
    if (Kokkos::is_initialized()) pool().free.emplace(kept.extent(0), kept);
  });
}

template class MessageMemory<DeviceMemory>;
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
template class MessageMemory<StagingMemory>;  // on the host it is the same type
#endif

}  // namespace nekbone_k
