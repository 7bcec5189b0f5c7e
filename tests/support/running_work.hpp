// SPDX-License-Identifier: BSD-3-Clause
// A kernel that runs until end() is called, to test that other work does not wait for it.
#pragma once

#include "core/types.hpp"

namespace nekbone_k {

struct RunUntilTold {
  using Signal = Kokkos::View<int, Kokkos::SharedHostPinnedSpace>;
  Signal end, ended;
  KOKKOS_FUNCTION void operator()(int) const {
    // Polling host memory takes about a microsecond.
    for (int looks = 0; *static_cast<volatile int*>(end.data()) == 0 && looks < 10'000'000;)
      ++looks;
    *static_cast<volatile int*>(ended.data()) = 1;
  }
};

// Runs on `stream`; ends by itself after some seconds.
class RunningWork {
 public:
  explicit RunningWork(const ExecutionSpace& stream = {}) : m_stream(stream) {
    Kokkos::parallel_for("work that waits for its end",
                         Kokkos::RangePolicy<ExecutionSpace>(stream, 0, 1),
                         RunUntilTold{m_end, m_ended});
  }
  bool has_ended() const { return *static_cast<volatile int*>(m_ended.data()) != 0; }
  void end() const {
    *static_cast<volatile int*>(m_end.data()) = 1;
    m_stream.fence("work ended");
  }

 private:
  ExecutionSpace m_stream;
  RunUntilTold::Signal m_end{"the end is wanted"}, m_ended{"ended"};
};

}  // namespace nekbone_k
