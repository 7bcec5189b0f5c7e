/// @file
/// Raises an alarm where something does not come back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/waiting.hpp"

namespace nekbone_k {

/// A thread that raises an alarm when the main thread does not come back from something in time.
class Watchdog {
 public:
  /// `alarm(what)` is called, by the thread, where watch(what) was not followed by another watch()
  /// or rest() in time. Usually it does not return.
  explicit Watchdog(std::function<void(const std::string& what)> alarm);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From now on `seconds` are left for `what`, and up to one more. Time in which the process was
  /// stopped (a debugger, a suspended job) does not count. Cheap, and wakes no thread, as it is
  /// called around what is timed.
  void watch(const std::string& what, double seconds);
  /// Nothing is waited for.
  void rest();

 private:
  using Clock = std::chrono::steady_clock;  // not MPI's: calls of MPI are for the main thread

  void run();

  std::function<void(const std::string&)> m_alarm;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::string m_what;
  double m_left = for_ever;   // seconds
  Clock::time_point m_since;  // of watch()
  bool m_ends = false;
  std::thread m_thread;  // last, as it uses the others
};

}  // namespace nekbone_k
