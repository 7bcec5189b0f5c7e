/// @file
/// Waits that end.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <functional>
#include <limits>
#include <span>

#include "core/communicator.hpp"

namespace nekbone_k {

/// How long to wait for others, in seconds.
inline constexpr double for_ever = std::numeric_limits<double>::infinity();

/// Looks until `done()`. A wait that lasts gives the processor to others between looks, as there
/// may be more ranks than cores, and calls `idle`. Returns false once it took `patience` seconds.
template <class Done, class Idle>
bool wait_until(const Done& done, double patience, const Idle& idle) {
  constexpr int looks_before_yielding = 1000;
  const double begin = wall_seconds();
  for (int looks = 0; !done();) {
    if (looks < looks_before_yielding) {
      ++looks;
      continue;
    }
    sched_yield();
    idle();
    if (wall_seconds() - begin > patience) return false;
  }
  return true;
}
template <class Done>
bool wait_until(const Done& done, double patience) {
  return wait_until(done, patience, [] {});
}

/// Throws the InternalError of a wait for messages that ended without them.
[[noreturn]] void give_up_waiting(double patience);

/// MPI_Testall: whether all requests are done.
bool are_done(std::span<MPI_Request> requests);

/// MPI_Waitall, but gives the processor to others while it waits long, and throws InternalError
/// when the requests are not done after `patience` seconds; they then still are under way, and what
/// they use must not be freed.
void wait_all(std::span<MPI_Request> requests, double patience);

/// wait_all() that calls action(i) as soon as requests[i] is found done, in any order.
void wait_each(std::span<MPI_Request> requests, double patience,
               const std::function<void(int)>& action);

}  // namespace nekbone_k
