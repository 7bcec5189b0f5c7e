/// @file
/// A few values that the host has before the device is idle.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "core/communicator.hpp"
#include "core/types.hpp"

namespace nekbone_k {

/// Doubles in host memory that a kernel writes and the host waits for alone: kernels launched after
/// that one go on running, so that what the host does with the values (an all-reduce, the next
/// launches) costs the device little time. An ordinary reduction of Kokkos into a variable of the
/// host waits for everything launched before, and the device then waits for the host.
class HostInbox {
 public:
  /// Whether wait() returns while later kernels run: not where kernels run on the host, nor under
  /// HIP, whose pinned memory as Kokkos allocates it shows the host nothing before a fence.
#if defined(KOKKOS_ENABLE_HIP)
  static constexpr bool is_early = false;
#else
  static constexpr bool is_early = !is_host_device;
#endif

  explicit HostInbox(int n_values)
      : m_values(Kokkos::view_alloc("nekbone_k: inbox", Kokkos::WithoutInitializing), n_values) {}

  /// Where the next kernel is to write all the values. To be called before its launch, once for
  /// each wait().
  double* open() const {
    auto* const words = reinterpret_cast<volatile std::uint32_t*>(m_values.data());
    for (std::size_t w = 0; w < 2 * m_values.extent(0); ++w) words[w] = pending(w);
    return m_values.data();
  }

  /// The values. Throws what Kokkos throws where the device has failed.
  void wait(std::span<double> values) const {
    if constexpr (!is_early) Kokkos::fence("nekbone_k: inbox");
    // A device that has failed never writes: the fence then says so.
    constexpr double patience = 1;  // seconds
    const double begin = wall_seconds();
    while (!has_come() && wall_seconds() - begin < patience) continue;
    if (!has_come()) Kokkos::fence("nekbone_k: values are late");
    std::memcpy(values.data(), m_values.data(), values.size_bytes());
  }

 private:
  /// The device writes 32 bits at a time. Two such words together are a NaN that no arithmetic
  /// yields: processors make quiet ones without such a payload. A value with one such half only is
  /// waited for as if it were late.
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
