// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Waits with a time limit.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <span>

#include "core/communicator.hpp"

namespace nekbone_k {

/// How long to wait for others, in seconds.
inline constexpr double for_ever = std::numeric_limits<double>::infinity();

/// The time left to wait. A long gap between two polls counts only as a short step, because a
/// scheduler or a debugger stopped the process in it.
class Patience {
 public:
  explicit Patience(double seconds)
      : m_left(seconds), m_longest_step(std::min(0.25, seconds / 8)), m_last(wall_seconds()) {}

  /// Whether the time is used up.
  bool has_ended() {
    const double now = wall_seconds();
    m_left -= std::min(now - m_last, m_longest_step);
    m_last = now;
    return m_left < 0;
  }

 private:
  double m_left, m_longest_step, m_last;  // seconds
};

/// Polls until `done()` is true. A long wait yields the processor and calls `idle` between polls,
/// because there may be more ranks than cores. Returns false after `patience` seconds, not counting
/// time in which the process was stopped.
template <class Done, class Idle>
bool wait_until(const Done& done, double patience, const Idle& idle) {
  constexpr int looks_before_yielding = 1000;
  Patience left(patience);
  for (int looks = 0; !done();) {
    if (looks < looks_before_yielding) {
      ++looks;
      continue;
    }
    sched_yield();
    idle();
    if (left.has_ended()) return false;
  }
  return true;
}
template <class Done>
bool wait_until(const Done& done, double patience) {
  return wait_until(done, patience, [] {});
}

/// Throws InternalError: messages did not arrive within `patience` seconds.
[[noreturn]] void give_up_waiting(double patience);

/// MPI_Testall: whether all requests are done.
bool are_done(std::span<MPI_Request> requests);

/// Like MPI_Waitall, but yields the processor during a long wait. Throws InternalError if the
/// requests are not done after `patience` seconds. They are then still in progress, so their
/// buffers must not be freed.
void wait_all(std::span<MPI_Request> requests, double patience);

/// wait_all() that calls action(i) as soon as requests[i] is done, in any order.
void wait_each(std::span<MPI_Request> requests, double patience,
               const std::function<void(int)>& action);

}  // namespace nekbone_k
