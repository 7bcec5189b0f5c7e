/// @file
/// Waits that end.
#pragma once

#include <mpi.h>

#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <thread>

namespace nekbone_k {

/// How long to wait for others, in seconds.
inline constexpr double for_ever = std::numeric_limits<double>::infinity();

/// MPI_Waitall, but gives the processor to others while it waits long, and throws InternalError
/// when the requests are not done after `patience` seconds; they then still are under way, and what
/// they use must not be freed.
void wait_all(std::span<MPI_Request> requests, double patience);

/// Ends a process that does not come back from somewhere: a thread that waits beside it.
class Watchdog {
 public:
  /// `alarm(what)` is called, by the thread, where watch(what) was not followed by another watch()
  /// or rest() in time. Usually it does not return.
  explicit Watchdog(std::function<void(const std::string& what)> alarm);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From now on `seconds` are left for `what`. Time in which the process was stopped (a debugger,
  /// a suspended job) does not count.
  void watch(std::string what, double seconds);
  /// Nothing is waited for.
  void rest();

 private:
  void run();

  std::function<void(const std::string&)> m_alarm;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::string m_what;
  double m_left = for_ever;  // seconds
  bool m_ends = false;
  std::thread m_thread;  // last, as it uses the others
};

}  // namespace nekbone_k
