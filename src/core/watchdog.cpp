// SPDX-License-Identifier: BSD-3-Clause
#include "core/watchdog.hpp"

#include <algorithm>
#include <utility>

namespace nekbone_k {

Watchdog::Watchdog(std::function<void(const std::string&)> alarm)
    : m_alarm(std::move(alarm)), m_thread([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(m_mutex);
    m_ends = true;
  }
  m_changed.notify_one();
  m_thread.join();
}

void Watchdog::watch(const std::string& what, double seconds) {
  const std::lock_guard lock(m_mutex);
  m_what = what;
  m_left = seconds;
  m_since = Clock::now();
}

void Watchdog::rest() {
  const std::lock_guard lock(m_mutex);
  m_left = for_ever;
}

void Watchdog::run() {
  constexpr double step = 1;         // seconds
  constexpr double oversleep = 0.5;  // a sleep ends later than this only if the process was stopped
  std::unique_lock lock(m_mutex);
  while (!m_ends) {
    if (m_left <= 0) {
      const std::string what = m_what;
      m_left = for_ever;
      lock.unlock();
      m_alarm(what);
      lock.lock();
      continue;
    }
    const auto begin = Clock::now();
    const std::chrono::duration<double> sleep(std::min(m_left, step));
    m_changed.wait_for(lock, sleep);
    const auto end = Clock::now();
    if (end - begin > sleep + std::chrono::duration<double>(oversleep)) continue;
    // If watch() was called during the sleep, only the time since then counts.
    const std::chrono::duration<double> waited = end - std::max(begin, m_since);
    m_left -= waited.count();
  }
}

}  // namespace nekbone_k
