/// @file
/// Memory that messages are sent from and arrive in.
#pragma once

#include <cstddef>
#include <memory>

#include "core/types.hpp"

namespace nekbone_k {

/// Whether messages are in memory that is not given back to the system before Kokkos ends.
inline constexpr bool keeps_message_memory = !is_host_device;

/// A piece of memory. That of a device, and page-locked memory, is kept for the next one who asks
/// when it is given back, and freed when Kokkos ends. For an MPI library remembers by its address
/// what it has registered with a network or opened to another process, and not every one notices
/// when such memory is freed: it would then use for a new buffer at the same address what it
/// remembers of the old one. The host's own memory is freed at once.
///
/// What it holds in the beginning is not defined. `Space` is DeviceMemory or pinned host memory.
template <class Space>
class MessageMemory {
 public:
  explicit MessageMemory(std::size_t bytes);

  void* data() const { return m_bytes.data(); }

  /// The memory as a vector, valid as long as this object. It must be large enough.
  template <class T>
  Kokkos::View<T*, Space> as_vector(std::size_t n) const {
    return Kokkos::View<T*, Space>(static_cast<T*>(data()), n);
  }

 private:
  using Bytes = Kokkos::View<std::byte*, Space>;
  struct Pool;
  static Pool& pool();

  Bytes m_bytes;
  std::shared_ptr<void>
      m_given_back;  // puts m_bytes into the pool, if there is one, at the last owner's end
};

using DeviceMessageMemory = MessageMemory<DeviceMemory>;
/// Page-locked where the backend has it: copies from and to a device then run at full speed and
/// asynchronously.
using StagingMemory = Kokkos::SharedHostPinnedSpace;
using HostMessageMemory = MessageMemory<StagingMemory>;

}  // namespace nekbone_k
