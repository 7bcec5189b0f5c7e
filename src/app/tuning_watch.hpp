/// @file
/// Keeps a strategy that crashes or hangs from costing more than one run.
#pragma once

#include <string>
#include <vector>

#include "app/journal.hpp"
#include "app/run_record.hpp"
#include "core/watchdog.hpp"
#include "gs/tuner.hpp"

namespace nekbone_k {

/// Watches over the strategies of a run while they are tried and used: waits for messages end after
/// some patience, which excludes the strategy; where a rank does not come back from one in four
/// times that, crashes or throws, that is written into the journal, and the job ends with exit code
/// 4 or by the signal.
class TuningWatch {
 public:
  /// Waits for a message end after `patience` seconds. `is_probe`: the job is made to be lost
  /// (doctor). Collective.
  TuningWatch(const Communicator& comm, const std::string& journal, double patience,
              const MachineRecord& machine, bool is_probe = false);

  /// Strategies that are tried for the first time, and in a probe the machine's paths, are in the
  /// journal from the beginning to their end, so that the next run leaves them out in whatever way
  /// they end the job.
  TuningGuard guard();

  /// What is wrong with rank 0's journal, for people, or nothing.
  const std::string& complaint() const { return m_complaint; }

 private:
  void watch();

  const Communicator& m_comm;
  bool m_is_probe;
  double m_patience;
  std::string m_started;
  std::string m_complaint;
  JournalWriter m_root;                ///< writes down what is begun
  std::vector<std::string> m_entered;  // one within another
  Journal m_journal;
  Watchdog m_watchdog;
};

}  // namespace nekbone_k
