// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Limits how long kernels wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "core/types.hpp"

namespace nekbone_k {

/// State in host memory that the host and waiting kernels share. Kernels read it as one word.
struct alignas(8) Late {
  std::uint32_t is_late;  ///< a kernel gave up, so the others must, too
  std::uint32_t seconds;  ///< seconds that this process has run, from an arbitrary start
};

/// A Late and the thread that counts its seconds. The thread skips time in which the process is
/// stopped: kernels of the device keep waiting then, but the process does not launch the kernels
/// that they wait for. There is no thread if kernels run on the host.
class Lateness {
 public:
  Lateness();
  /// Waits for all kernels, because they may need the seconds to end.
  ~Lateness();
  Lateness(const Lateness&) = delete;
  Lateness& operator=(const Lateness&) = delete;

  Late* data() const { return m_late.data(); }
  /// Whether a kernel gave up.
  bool is_late() const { return const_cast<const volatile Late*>(data())->is_late != 0; }

 private:
  Kokkos::View<Late, Kokkos::SharedHostPinnedSpace> m_late;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  bool m_ends = false;
  std::thread m_thread;
};

/// Polls until `done()` is true. Sets `late` and returns after about a minute, or when another
/// kernel has given up. For kernels.
template <class Done>
KOKKOS_INLINE_FUNCTION void look_until(const Done& done, Late* late) {
  constexpr std::uint32_t patience = 60;          // seconds
  constexpr std::uint32_t looks_between = 65536;  // reading host memory takes long
  std::uint32_t looks = 0, begin = 0;
  while (!done()) {
    if (++looks % looks_between != 0) continue;
    const std::uint64_t word = *reinterpret_cast<const volatile std::uint64_t*>(late);
    const auto now = Kokkos::bit_cast<Late>(word);
    if (looks == looks_between) begin = now.seconds;
    if (now.is_late == 0 && now.seconds - begin < patience) continue;
    const_cast<volatile Late*>(late)->is_late = 1;
    return;
  }
}

}  // namespace nekbone_k
