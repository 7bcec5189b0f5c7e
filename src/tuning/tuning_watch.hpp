// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Ensures that a strategy that crashes or hangs ends one run at most.
#pragma once

#include <string>
#include <vector>

#include "core/watchdog.hpp"
#include "machine/machine_record.hpp"
#include "tuning/journal.hpp"
#include "tuning/tuning_guard.hpp"

namespace nekbone_k {

/// The guard of a run and of doctor. It watches strategies while they are tried and used.
///
/// - A wait for messages ends after some patience, which excludes the strategy.
/// - If a rank does not return from a strategy within four times the patience, crashes or throws,
///   the journal records it. The job ends with exit code 4 or by the signal.
/// - While a strategy is tried for the first time, the journal names it; in a probe also a path of
///   the machine. So the next run skips it, however it ends the job.
class TuningWatch final : public TuningGuard {
 public:
  /// A wait for a message ends after `patience` seconds. With `is_probe`, the job is expendable
  /// (doctor). Collective.
  TuningWatch(const Communicator& comm, const std::string& journal, double patience,
              const MachineRecord& machine, bool is_probe = false);

  double patience() const override { return m_patience; }
  void enter(const std::string& strategy) override;
  void leave() override;
  void go_on() override { watch(); }
  void fail() override;
  void begin(const std::string& strategy) override;
  void end() override;
  void take_back(const std::string& strategy) override;
  std::string why_excluded(const std::string& name) const override;

  /// The problem of the journal of rank 0, for people, or empty.
  const std::string& complaint() const { return m_complaint; }

 private:
  /// Watches the strategies that are entered, from now on.
  void watch();

  const Communicator& m_comm;
  bool m_is_probe;
  double m_patience;
  std::string m_started;
  std::string m_complaint;
  JournalWriter m_root;                ///< writes the lines of begin()
  std::vector<std::string> m_entered;  // nested
  Journal m_journal;
  Watchdog m_watchdog;
};

}  // namespace nekbone_k
