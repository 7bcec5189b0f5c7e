// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A second queue of kernels, concurrent with that of the default instance.
#pragma once

#include <memory>
#include <vector>

#include "core/types.hpp"

namespace nekbone_k {

/// An instance of ExecutionSpace whose kernels run concurrently with those of the default instance.
/// They have higher priority, because other ranks wait for their results. There is one instance for
/// the whole run. If kernels run on the host, it is the default instance.
ExecutionSpace side_stream();

/// A point in an instance's queue of kernels that other queues or the host can wait for. Members
/// return at once unless they say otherwise.
class StreamEvent {
 public:
  /// Sets the point after everything launched on `earlier` so far.
  void record(const ExecutionSpace& earlier);
  /// Forgets the last recorded point. A recording of kernels cannot wait for a point before it.
  void forget();
  /// Kernels launched on `later` from now on begin after the last recorded point, if any.
  void wait(const ExecutionSpace& later) const;
  /// Blocks the host until the last recorded point, if any, is reached.
  void wait() const;

 private:
  std::shared_ptr<void> m_event;
  [[maybe_unused]] bool m_is_set = false;
};

/// Takes times on the default instance. The host does not wait between them.
class StreamClock {
 public:
  /// Marks the moment when everything launched so far has ended. Returns at once.
  void mark();
  /// Seconds from each mark to the next, in order. Waits for the last mark and forgets all marks.
  std::vector<double> intervals();

 private:
  std::vector<std::shared_ptr<void>> m_events;  // of the marks, and of earlier ones
  std::vector<double> m_moments;                // in place of events if kernels run on the host
  std::size_t m_n_marks = 0;
};

/// Kernels launched on `later` from now on begin after everything launched on `earlier` so far.
/// Returns at once.
void run_after(const ExecutionSpace& later, const ExecutionSpace& earlier);

}  // namespace nekbone_k
