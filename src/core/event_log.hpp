// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The order of events in a split-phase operation, for tests.
#pragma once

#include <string>
#include <vector>

namespace nekbone_k {

/// Names of the events on this rank, in order. Without an attached log, record() costs one pointer
/// test, so the calls stay in release builds.
class EventLog {
 public:
  void record(const char* event) { m_events.emplace_back(event); }
  const std::vector<std::string>& events() const { return m_events; }
  void clear() { m_events.clear(); }

 private:
  std::vector<std::string> m_events;
};

/// Records `event` if a log is attached.
inline void record(EventLog* log, const char* event) {
  if (log != nullptr) log->record(event);
}

}  // namespace nekbone_k
