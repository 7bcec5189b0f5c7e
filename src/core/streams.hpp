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

/// A moment among the kernels of an instance, for others to wait for. Its members return at once
/// but where they say otherwise.
class StreamEvent {
 public:
  /// The moment is now: after what was launched on `earlier` up to here.
  void record(const ExecutionSpace& earlier);
  /// What is launched on `later` from now on begins after the moment recorded last, if any was.
  void wait(const ExecutionSpace& later) const;
  /// Returns when the moment recorded last has come, if any was: the host waits.
  void wait() const;

 private:
  std::shared_ptr<void> m_event;
};

/// What is launched on `later` from now on begins after what was launched on `earlier` up to now.
/// Returns at once.
void order(const ExecutionSpace& earlier, const ExecutionSpace& later);

}  // namespace nekbone_k
