// SPDX-License-Identifier: BSD-3-Clause
// A sched_yield() that sleeps. Tests preload it (LD_PRELOAD), because they run more ranks than
// there are cores: ranks that yield keep the cores busy while they wait for each other. Linux also
// lets a process that yields wait for a whole time slice, some milliseconds per message, if another
// process computes on its core.
#include <sys/prctl.h>

#include <ctime>

extern "C" int sched_yield() noexcept {
  constexpr int calls_per_sleep = 16;
  constexpr long sleep_ns = 50'000;
  thread_local int calls = 0;  // since the last sleep
  thread_local bool is_first = true;
  if (is_first) prctl(PR_SET_TIMERSLACK, 1000UL);  // ns; usually as long as the sleep
  is_first = false;
  if (++calls < calls_per_sleep) return 0;  // a message often comes soon
  calls = 0;
  const timespec sleep{.tv_sec = 0, .tv_nsec = sleep_ns};
  nanosleep(&sleep, nullptr);
  return 0;
}
