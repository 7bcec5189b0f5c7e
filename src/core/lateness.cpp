// SPDX-License-Identifier: BSD-3-Clause
#include "core/lateness.hpp"

#include <chrono>
#include <exception>

namespace nekbone_k {

Lateness::Lateness() : m_late("nekbone_k: a message is late") {
  if constexpr (is_host_device) return;
  m_thread = std::thread([this] {
    std::unique_lock lock(m_mutex);
    // A sleep in which the process is stopped counts as one second.
    while (!m_changed.wait_for(lock, std::chrono::seconds(1), [this] { return m_ends; })) {
      auto* const late = const_cast<volatile Late*>(data());
      late->seconds = late->seconds + 1;
    }
  });
}

Lateness::~Lateness() {
  if (!m_thread.joinable()) return;
  try {
    Kokkos::fence("nekbone_k: no kernel waits");
  } catch (const std::exception&) {  // the device failed, so its kernels have ended
  }
  {
    const std::lock_guard lock(m_mutex);
    m_ends = true;
  }
  m_changed.notify_one();
  m_thread.join();
}

}  // namespace nekbone_k
