// SPDX-License-Identifier: BSD-3-Clause
#include "core/file_lock.hpp"

#include <sys/file.h>
#include <time.h>

#include <cerrno>

namespace nekbone_k {

bool lock_file(int file, double seconds) {
  constexpr double look_again = 1e-3;
  for (double waited = 0; flock(file, LOCK_EX | LOCK_NB) != 0; waited += look_again) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || waited > seconds) return false;
    const timespec pause{0, static_cast<long>(look_again * 1e9)};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace nekbone_k
