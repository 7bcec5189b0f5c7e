/// @file
/// Keeps a strategy that crashes or hangs from costing more than one run.
#pragma once

#include <string>

#include "app/journal.hpp"
#include "app/run_record.hpp"
#include "core/waiting.hpp"
#include "gs/tuner.hpp"

namespace nekbone_k {

/// Watches over the strategies of a run while they are tried: waits for messages end after
/// some patience, which excludes the strategy; where a rank does not come
/// back from one in four times that, or crashes, that is written into the journal, and the job ends
/// with exit code 4 or by the signal.
class TuningWatch {
 public:
  /// Waits for a message end after `patience` seconds. Collective.
  TuningWatch(const Communicator& comm, const std::string& journal, double patience,
              const MachineRecord& machine);

  /// For tune().
  TuningGuard guard();
  /// For a job that is made to be lost (doctor): what is tried is in the journal from the beginning
  /// to its end, so that the next run leaves it out in whatever way it ends the job. Paths may take
  /// their time.
  TuningGuard probing_guard();

 private:
  const Communicator& m_comm;
  double m_patience;
  std::string m_started;
  Journal m_journal;
  Watchdog m_watchdog;
};

}  // namespace nekbone_k
