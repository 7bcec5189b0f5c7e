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
/// gather_scatter.tuning.patience_seconds, which excludes the strategy; where a rank does not come
/// back from one in four times that, or crashes, that is written into the journal, and the job ends
/// with exit code 4 or by the signal.
class TuningWatch {
 public:
  /// Collective.
  TuningWatch(const Communicator& comm, const Case& input, const MachineRecord& machine);

  /// For tune().
  TuningGuard guard();

 private:
  const Communicator& m_comm;
  double m_patience;
  std::string m_started;
  Journal m_journal;
  Watchdog m_watchdog;
};

}  // namespace nekbone_k
