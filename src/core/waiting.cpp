#include "core/waiting.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/communicator.hpp"
#include "core/errors.hpp"

namespace nekbone_k {

void wait_all(std::span<MPI_Request> requests, double patience) {
  const int count = static_cast<int>(requests.size());
  if (!std::isfinite(patience)) {
    check_mpi(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return;
  }
  constexpr int looks_before_yielding = 1000;
  const double begin = wall_seconds();
  for (int looks = 0;; ++looks) {
    int done = 0;
    check_mpi(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done != 0) return;
    if (looks < looks_before_yielding) continue;
    sched_yield();  // there may be more ranks than cores
    if (wall_seconds() - begin > patience)
      throw InternalError(fmt::format("messages did not come within {:g} s", patience));
  }
}

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

void Watchdog::watch(std::string what, double seconds) {
  {
    const std::lock_guard lock(m_mutex);
    m_what = std::move(what);
    m_deadline = wall_seconds() + seconds;
  }
  m_changed.notify_one();
}

void Watchdog::rest() {
  const std::lock_guard lock(m_mutex);
  m_deadline = for_ever;
}

void Watchdog::run() {
  std::unique_lock lock(m_mutex);
  while (!m_ends) {
    const double left = m_deadline - wall_seconds();
    if (left <= 0) {
      const std::string what = m_what;
      m_deadline = for_ever;
      lock.unlock();
      m_alarm(what);
      lock.lock();
    } else {
      // Bounded, as infinity is no duration.
      m_changed.wait_for(lock, std::chrono::duration<double>(std::min(left, 3600.0)));
    }
  }
}

}  // namespace nekbone_k
