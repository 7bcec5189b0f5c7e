// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Values that the host reads before the device is idle.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "core/communicator.hpp"
#include "core/types.hpp"

namespace nekbone_k {

/// Doubles in pinned host memory: a kernel writes them and the host waits for them alone. Later
/// kernels keep running, so the host's work on the values (an all-reduce, the next launches) costs
/// the device little time. A Kokkos reduction into a host variable waits for all earlier kernels,
/// and the device then waits for the host.
class HostInbox {
 public:
  /// Whether wait() returns while later kernels run. False if kernels run on the host. False with
  /// HIP too, because the host sees Kokkos' pinned memory there only after a fence.
#if defined(KOKKOS_ENABLE_HIP)
  static constexpr bool is_early = false;
#else
  static constexpr bool is_early = !is_host_device;
#endif

  explicit HostInbox(int n_values)
      : m_values(Kokkos::view_alloc("nekbone_k: inbox", Kokkos::WithoutInitializing), n_values) {}

  /// The address to which the next kernel must write all the values. Call it before the launch,
  /// once per wait().
  double* open() const {
    auto* const words = reinterpret_cast<volatile std::uint32_t*>(m_values.data());
    for (std::size_t w = 0; w < 2 * m_values.extent(0); ++w) words[w] = pending(w);
    return m_values.data();
  }

  /// Waits for the values and copies them. Throws Kokkos' exception if the device failed.
  void wait(std::span<double> values) const {
    if constexpr (!is_early) Kokkos::fence("nekbone_k: inbox");
    // A failed device never writes; the fence then reports the failure.
    constexpr double patience = 1;  // seconds
    const double begin = wall_seconds();
    while (!has_come() && wall_seconds() - begin < patience) continue;
    if (!has_come()) Kokkos::fence("nekbone_k: values are late");
    std::memcpy(values.data(), m_values.data(), values.size_bytes());
  }

 private:
  /// Marks a value as not yet written. The device writes 32 bits at a time. Both words together are
  /// a NaN that no arithmetic yields, because processors make quiet NaNs without such a payload. A
  /// value with only one such half counts as late.
  static constexpr std::uint32_t pending(std::size_t word) {
    return word % 2 == 0 ? 0xdead'beef : 0x7ff8'dead;
  }
  bool has_come() const {
    const auto* const words = reinterpret_cast<const volatile std::uint32_t*>(m_values.data());
    for (std::size_t w = 0; w < 2 * m_values.extent(0); ++w)
      if (words[w] == pending(w)) return false;
    return true;
  }

  Kokkos::View<double*, Kokkos::SharedHostPinnedSpace> m_values;
};

}  // namespace nekbone_k
