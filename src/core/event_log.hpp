/// @file
/// The order in which the parts of a split-phase operation happened, for tests.
#pragma once

#include <string>
#include <vector>

namespace nekbone_k {

/// Names of what happened on this rank, in order. Cheap enough to leave in: one pointer test where
/// no log is attached.
class EventLog {
 public:
  void record(const char* event) { m_events.emplace_back(event); }
  const std::vector<std::string>& events() const { return m_events; }
  void clear() { m_events.clear(); }

 private:
  std::vector<std::string> m_events;
};

/// Records `event` where a log is attached.
inline void record(EventLog* log, const char* event) {
  if (log != nullptr) log->record(event);
}

}  // namespace nekbone_k
