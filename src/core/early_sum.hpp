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
  static constexpr int n_words = sizeof(Value) / sizeof(std::uint64_t);
  using Words = std::array<std::uint64_t, n_words>;
  static_assert(n_words * sizeof(double) == sizeof(Value));

 public:
  EarlySum() : m_sum("nekbone_k: early sum") {}

  /// Launches the sum, in the order of the default instance's kernels.
  void start(const DeviceVector<Value>& values) {
    Words words;
    words.fill(pending);
    m_sum() = std::bit_cast<Value>(words);
    Kokkos::parallel_reduce(
        "nekbone_k: early sum", Kokkos::RangePolicy<ExecutionSpace>(0, values.extent(0)),
        KOKKOS_LAMBDA(const LocalIndex v, Value& sum) { sum += values(v); }, m_sum);
  }

  /// The sum of the last start(), to be called once for each. Throws what Kokkos throws where the
  /// device has failed.
  Value wait() {
    // A device that has failed never writes: the fence then says so.
    constexpr double patience = 1;  // seconds
    const double begin = wall_seconds();
    while (is_pending())
      if (wall_seconds() - begin > patience) {
        Kokkos::fence("nekbone_k: early sum is late");
        break;
      }
    return m_sum();
  }

 private:
  // A NaN that no arithmetic yields: processors make quiet ones without a payload of this kind.
  static constexpr std::uint64_t pending = 0x7ff8'dead'beef'dead;

  bool is_pending() const {
    // The device writes each double at once, but not a struct of them.
    const volatile double* const doubles = reinterpret_cast<const double*>(m_sum.data());
    for (int w = 0; w < n_words; ++w)
      if (std::bit_cast<std::uint64_t>(double{doubles[w]}) == pending) return true;
    return false;
  }

  // In host memory that the device writes to.
  Kokkos::View<Value, Kokkos::SharedHostPinnedSpace> m_sum;
};

}  // namespace nekbone_k
