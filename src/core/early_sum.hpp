/// @file
/// A sum that the host has before the device is idle.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/communicator.hpp"
#include "core/types.hpp"

namespace nekbone_k {

/// Sums a vector in device memory for the host, which waits for that sum alone: kernels launched
/// after start() go on running, so that what the host does with the sum (an all-reduce, the next
/// launches) costs the device little time. The ordinary reduction of Kokkos into a variable of the
/// host waits for everything launched before, and the device then waits for the host.
///
/// `Value` is a double, or a struct of doubles with +=.
template <class Value>
class EarlySum {
  // The device writes 32 bits at a time.
  static constexpr int n_words = sizeof(Value) / sizeof(std::uint32_t);
  using Words = std::array<std::uint32_t, n_words>;
  static_assert(sizeof(Words) == sizeof(Value) && sizeof(Value) % sizeof(double) == 0);

 public:
  /// Whether wait() returns while later kernels run: not where kernels run on the host, nor under
  /// HIP, whose pinned memory as Kokkos allocates it shows the host nothing before a fence.
#if defined(KOKKOS_ENABLE_HIP)
  static constexpr bool is_early = false;
#else
  static constexpr bool is_early = !is_host_device;
#endif

  EarlySum() : m_sum("nekbone_k: early sum") {}

  /// Launches the sum, in the order of the default instance's kernels.
  void start(const DeviceVector<Value>& values) const {
    Words words;
    for (int w = 0; w < n_words; ++w) words[w] = pending(w);
    m_sum() = std::bit_cast<Value>(words);
    Kokkos::parallel_reduce(
        "nekbone_k: early sum", Kokkos::RangePolicy<ExecutionSpace>(0, values.extent(0)),
        KOKKOS_LAMBDA(const LocalIndex v, Value& sum) { sum += values(v); }, m_sum);
  }

  /// The sum of the last start(), to be called once for each. Throws what Kokkos throws where the
  /// device has failed.
  Value wait() const {
    if constexpr (!is_early) Kokkos::fence("nekbone_k: early sum");
    // A device that has failed never writes: the fence then says so.
    constexpr double patience = 1;  // seconds
    const double begin = wall_seconds();
    Words words = read();
    while (is_pending(words) && wall_seconds() - begin < patience) words = read();
    if (is_pending(words)) {
      Kokkos::fence("nekbone_k: early sum is late");
      words = read();
    }
    return std::bit_cast<Value>(words);
  }

 private:
  /// Together a NaN that no arithmetic yields: processors make quiet ones without such a payload.
  /// A sum with one such half only is waited for as if it were late.
  static constexpr std::uint32_t pending(int word) {
    return word % 2 == 0 ? 0xdead'beef : 0x7ff8'dead;
  }
  static bool is_pending(const Words& words) {
    for (int w = 0; w < n_words; ++w)
      if (words[w] == pending(w)) return true;
    return false;
  }
  Words read() const {
    const volatile auto* const from = reinterpret_cast<const volatile std::uint32_t*>(m_sum.data());
    Words words;
    for (int w = 0; w < n_words; ++w) words[w] = from[w];
    return words;
  }

  // In host memory that the device writes to.
  Kokkos::View<Value, Kokkos::SharedHostPinnedSpace> m_sum;
};

}  // namespace nekbone_k
