/// @file
/// A second queue of kernels beside that of the default instance.
#pragma once

#include <memory>

#include "core/types.hpp"

namespace nekbone_k {

/// An instance of ExecutionSpace whose kernels run beside those of the default instance and go
/// first where both could run: what other ranks wait for should not queue behind other work. One
/// for the whole run. Where kernels run on the host, the default instance.
ExecutionSpace side_stream();

/// A point in an instance's queue of kernels that other queues, or the host, can wait for. Its
/// members return at once unless they say otherwise.
class StreamEvent {
 public:
  /// The point is now: after what was launched on `earlier` up to here.
  void record(const ExecutionSpace& earlier);
  /// What is launched on `later` from now on begins after the point recorded last, if any was.
  void wait(const ExecutionSpace& later) const;
  /// Returns when the point recorded last has been reached, if any was: the host waits.
  void wait() const;

 private:
  std::shared_ptr<void> m_event;
};

/// What is launched on `later` from now on begins after what was launched on `earlier` up to now.
/// Returns at once.
void run_after(const ExecutionSpace& later, const ExecutionSpace& earlier);

}  // namespace nekbone_k
