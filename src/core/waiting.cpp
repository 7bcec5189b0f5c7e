#include "core/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
void give_up_waiting(double patience) {
  throw InternalError(fmt::format("messages did not come within {:g} s", patience));
}

bool are_done(std::span<MPI_Request> requests) {
  int done = 0;
  check_mpi(
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
      "MPI_Testall");
  return done != 0;
}

void wait_all(std::span<MPI_Request> requests, double patience) {
  if (!wait_until([&] { return are_done(requests); }, patience)) give_up_waiting(patience);
}

void wait_each(std::span<MPI_Request> requests, double patience,
               const std::function<void(int)>& action) {
  std::vector<int> found(requests.size());
  const auto none_is_left = [&] {
    int count = 0;
    check_mpi(MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, found.data(),
                           MPI_STATUSES_IGNORE),
              "MPI_Testsome");
    if (count == MPI_UNDEFINED) return true;
    for (int f = 0; f < count; ++f) action(found[f]);
    return false;
  };
  if (!wait_until(none_is_left, patience)) give_up_waiting(patience);
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
  constexpr double step = 1;  // seconds; of a longer sleep, the process was stopped
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
    m_changed.wait_for(lock, std::chrono::duration<double>(std::min(m_left, step)));
    const auto end = Clock::now();
    // What was begun meanwhile has been waited for since then only.
    const std::chrono::duration<double> waited = end - std::max(begin, m_since);
    m_left -= std::min(waited.count(), 2 * step);
  }
}

}  // namespace nekbone_k
