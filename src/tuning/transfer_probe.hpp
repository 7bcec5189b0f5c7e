// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Tests MPI on the memory of kernels before a run relies on it.
#pragma once

#include <span>
#include <string>

#include "core/communicator.hpp"
#include "gs/strategy_table.hpp"
#include "machine/machine_record.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// Sends messages from and to the memory of kernels, within nodes and between them, and compares
/// every byte (see probe_mpi()). Sizes cover eager and rendezvous protocols; some buffers are
/// unaligned. Takes some hundredths of a second. It does not pass device memory to MPI if
///
/// - none of `strategies` does so,
/// - `guard` excludes it because of an earlier run, or
/// - `trial` found that it fails.
///
/// The test runs between guard.enter() and leave(), because it may crash or hang like a strategy. A
/// message that does not arrive within guard.patience() makes the probe stuck. Collective, with the
/// same result on every rank.
TransferRecord probe_transfers(const Communicator& comm, std::span<const Strategy> strategies,
                               TuningGuard& guard, const MpiTrial& trial = {});

/// The first transfer that was wrong or did not end; nullptr if there is none.
const ProbeEntry* first_wrong(const TransferRecord& transfers);

/// Whether the ranks are on several nodes (nodes_of_ranks()). Collective.
bool are_on_several_nodes(const Communicator& comm);

/// A guard that also excludes strategies that pass the memory of kernels to MPI.
class NarrowedGuard final : public TuningGuard {
 public:
  /// Excludes them for `reason`, or nothing more if it is empty. On several nodes they include peer
  /// memory. `guard` outlives the object.
  NarrowedGuard(TuningGuard& guard, std::string reason, bool several_nodes);

  double patience() const override { return m_guard.patience(); }
  void enter(const std::string& strategy) override { m_guard.enter(strategy); }
  void leave() override { m_guard.leave(); }
  void go_on() override { m_guard.go_on(); }
  void fail() override { m_guard.fail(); }
  void begin(const std::string& strategy) override { m_guard.begin(strategy); }
  void end() override { m_guard.end(); }
  void take_back(const std::string& strategy) override { m_guard.take_back(strategy); }
  std::string why_excluded(const std::string& strategy) const override;

 private:
  TuningGuard& m_guard;
  std::string m_reason;
  bool m_several_nodes;
};

/// Narrows `guard` if `trial` found that passing the memory of kernels to MPI fails.
NarrowedGuard without_bad_trial(TuningGuard& guard, const MpiTrial& trial, bool several_nodes);

/// Narrows `guard` if the trial or a transfer of the memory of kernels was wrong. If kernels run on
/// the host, a wrong transfer excludes nothing: most messages have no other path, and verification
/// finds the affected strategies.
NarrowedGuard without_wrong_transfers(TuningGuard& guard, const TransferRecord& transfers);

}  // namespace nekbone_k
