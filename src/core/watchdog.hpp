// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Raises an alarm if an operation does not return in time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/waiting.hpp"

namespace nekbone_k {

/// A thread that raises an alarm when the main thread does not return from an operation in time.
class Watchdog {
 public:
  /// The thread calls `alarm(what)` if neither another watch() nor rest() follows watch(what) in
  /// time. `alarm` usually does not return.
  explicit Watchdog(std::function<void(const std::string& what)> alarm);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Sets the deadline of `what` to `seconds` from now; the alarm comes up to one second later.
  /// Time in which the process is stopped (a debugger, a suspended job) does not count. The call is
  /// cheap and wakes no thread, because it surrounds timed operations.
  void watch(const std::string& what, double seconds);
  /// Removes the deadline.
  void rest();

 private:
  using Clock = std::chrono::steady_clock;  // not MPI_Wtime: only the main thread calls MPI

  void run();

  std::function<void(const std::string&)> m_alarm;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::string m_what;
  double m_left = for_ever;   // seconds
  Clock::time_point m_since;  // the last watch()
  bool m_ends = false;
  std::thread m_thread;  // last, as it uses the other members
};

}  // namespace nekbone_k
