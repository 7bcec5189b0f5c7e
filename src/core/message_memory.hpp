// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Memory for the send and receive buffers of messages.
#pragma once

#include <cstddef>
#include <memory>

#include "core/types.hpp"

namespace nekbone_k {

/// Whether memory for messages stays allocated until Kokkos ends.
inline constexpr bool keeps_message_memory = !is_host_device;

/// A piece of memory. Device memory and page-locked memory return to a pool, which is freed when
/// Kokkos ends. Host memory is freed at once.
///
/// Reason for the pool: an MPI library remembers, by address, memory that it registered with a
/// network or opened in another process. Some libraries do not notice when such memory is freed.
/// They would then use stale registrations for a new buffer at the same address.
///
/// The initial contents are undefined. `Space` is DeviceMemory or pinned host memory.
template <class Space>
class MessageMemory {
 public:
  explicit MessageMemory(std::size_t bytes);

  void* data() const { return m_bytes.data(); }

  /// The memory as a vector of `n` entries, valid as long as this object. The memory must be large
  /// enough.
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
      m_given_back;  // returns m_bytes to the pool, if there is one, with the last owner
};

using DeviceMessageMemory = MessageMemory<DeviceMemory>;
/// Page-locked where the backend has it. Copies from and to a device then run at full speed and
/// asynchronously.
using StagingMemory = Kokkos::SharedHostPinnedSpace;
using HostMessageMemory = MessageMemory<StagingMemory>;

}  // namespace nekbone_k
