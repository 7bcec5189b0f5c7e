// SPDX-License-Identifier: BSD-3-Clause
#include "core/streams.hpp"

#include <optional>

#include "core/communicator.hpp"
#include "core/errors.hpp"
#include "core/gpu_api.hpp"

namespace nekbone_k {

#if defined(NEKBONE_K_GPU)
namespace {

using Stream = NEKBONE_K_GPU(Stream_t);
using Event = NEKBONE_K_GPU(Event_t);

Stream make_stream() {
  int least = 0, greatest = 0;
  Stream stream = nullptr;
  check_gpu(NEKBONE_K_GPU(DeviceGetStreamPriorityRange)(&least, &greatest),
            "priorities of streams");
  check_gpu(
      NEKBONE_K_GPU(StreamCreateWithPriority)(&stream, NEKBONE_K_GPU(StreamNonBlocking), greatest),
      "making a stream");
  return stream;
}

std::shared_ptr<void> make_event(unsigned int flags = NEKBONE_K_GPU(EventDisableTiming)) {
  Event event = nullptr;
  check_gpu(NEKBONE_K_GPU(EventCreateWithFlags)(&event, flags), "making an event");
  return {event, [](void* made) {
            static_cast<void>(NEKBONE_K_GPU(EventDestroy)(static_cast<Event>(made)));
          }};
}

}  // namespace

// The stream lives until the process ends, but Kokkos' instance must end before Kokkos does.
ExecutionSpace side_stream() {
  static std::optional<ExecutionSpace> instance;
  if (!instance) {
    instance.emplace(make_stream());
    Kokkos::push_finalize_hook([] { instance.reset(); });
  }
  return *instance;
}

void StreamEvent::record(const ExecutionSpace& earlier) {
  if (!m_event) m_event = make_event();
  check_gpu(NEKBONE_K_GPU(EventRecord)(static_cast<Event>(m_event.get()), native_stream(earlier)),
            "recording an event");
  m_is_set = true;
}

void StreamEvent::wait(const ExecutionSpace& later) const {
  if (!m_is_set) return;
  check_gpu(
      NEKBONE_K_GPU(StreamWaitEvent)(native_stream(later), static_cast<Event>(m_event.get()), 0),
      "waiting for an event");
}

void StreamEvent::wait() const {
  if (!m_is_set) return;
  check_gpu(NEKBONE_K_GPU(EventSynchronize)(static_cast<Event>(m_event.get())),
            "the host waiting for an event");
}

void StreamEvent::forget() { m_is_set = false; }

void StreamClock::mark() {
  if (m_events.size() == m_n_marks) m_events.push_back(make_event(NEKBONE_K_GPU(EventDefault)));
  check_gpu(NEKBONE_K_GPU(EventRecord)(static_cast<Event>(m_events[m_n_marks++].get()),
                                       native_stream(ExecutionSpace())),
            "recording the time");
}

std::vector<double> StreamClock::intervals() {
  const auto event = [&](std::size_t mark) { return static_cast<Event>(m_events[mark].get()); };
  if (m_n_marks > 0)
    check_gpu(NEKBONE_K_GPU(EventSynchronize)(event(m_n_marks - 1)), "waiting for a time");
  std::vector<double> seconds;
  for (std::size_t mark = 1; mark < m_n_marks; ++mark) {
    float milliseconds = 0;
    check_gpu(NEKBONE_K_GPU(EventElapsedTime)(&milliseconds, event(mark - 1), event(mark)),
              "reading a time");
    seconds.push_back(1e-3 * milliseconds);
  }
  m_n_marks = 0;
  return seconds;
}

void run_after(const ExecutionSpace& later, const ExecutionSpace& earlier) {
  if (native_stream(earlier) == native_stream(later)) return;
  // One event is enough: a wait refers to the record at the time of the call. It lives until the
  // process ends.
  static auto* const event = new StreamEvent;
  event->record(earlier);
  event->wait(later);
}

#else

ExecutionSpace side_stream() { return {}; }
void StreamEvent::record(const ExecutionSpace&) {}
void StreamEvent::forget() {}
void StreamEvent::wait(const ExecutionSpace&) const {}
void StreamEvent::wait() const { ExecutionSpace().fence("nekbone_k: an event waited for"); }

void StreamClock::mark() {
  ExecutionSpace().fence("nekbone_k: time taken");
  m_moments.push_back(wall_seconds());
}

std::vector<double> StreamClock::intervals() {
  std::vector<double> seconds;
  for (std::size_t mark = 1; mark < m_moments.size(); ++mark)
    seconds.push_back(m_moments[mark] - m_moments[mark - 1]);
  m_moments.clear();
  return seconds;
}
void run_after(const ExecutionSpace&, const ExecutionSpace&) {}

#endif

}  // namespace nekbone_k
