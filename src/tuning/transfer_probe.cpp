// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/transfer_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/system.hpp"

namespace nekbone_k {
namespace {

/// Whether `carrier` passes memory written by kernels to MPI. Peer memory does so between nodes.
bool hands_to_mpi(Carrier carrier, bool between_nodes) {
  return carrier == direct_messages || (carrier == Carrier::peer_memory && between_nodes);
}

/// The reason not to pass device memory to MPI, or empty. Collective.
std::string why_not_to_try(std::span<const Strategy> strategies, const TuningGuard& guard,
                           bool several_nodes) {
  const std::string why = guard.why_excluded(guarded_name(direct_messages));
  if (!why.empty() || is_host_device) return why;
  for (const Strategy& strategy : strategies)
    if (hands_to_mpi(strategy.cost.carrier, several_nodes) &&
        guard.why_excluded(strategy.name).empty())
      return {};
  return "no strategy of this run hands it to MPI";
}

}  // namespace

TransferRecord probe_transfers(const Communicator& comm, std::span<const Strategy> strategies,
                               TuningGuard& guard, const MpiTrial& trial) {
  const double begin = wall_seconds();
  TransferRecord record;
  record.on_host = is_host_device;
  record.trial = trial;
  record.several_nodes = are_on_several_nodes(comm);
  record.why_not = why_not_to_try(strategies, without_bad_trial(guard, trial, record.several_nodes),
                                  record.several_nodes);
  if (record.why_not.empty()) {
    ProbeOptions options;
    // Sizes below and above the eager limit of any MPI. Large buffers would dominate the time of
    // the probe, which fills and compares them.
    options.sizes = {8, 4 << 10, 256 << 10};
    options.repeats = 2;
    options.transfer = [&](const Communicator& ring, const ProbeEntry&,
                           const RingMessages& messages) {
      send_ring_messages(ring, messages, guard.patience());
    };
    record.probe =
        tried(guard, guarded_name(direct_messages), [&] { return probe_mpi(comm, options); });
  } else {
    record.probe = {DeviceMemory::name(), mpi_claim(comm), {}};
  }
  record.seconds = comm.max(wall_seconds() - begin);
  return record;
}

const ProbeEntry* first_wrong(const TransferRecord& transfers) {
  for (const ProbeEntry& entry : transfers.probe.entries)
    if (!entry.ok()) return &entry;
  return nullptr;
}

bool are_on_several_nodes(const Communicator& comm) {
  const std::vector<int> nodes = nodes_of_ranks(comm);
  return std::any_of(nodes.begin(), nodes.end(), [&](int node) { return node != nodes.front(); });
}

NarrowedGuard::NarrowedGuard(TuningGuard& guard, std::string reason, bool several_nodes)
    : m_guard(guard), m_reason(std::move(reason)), m_several_nodes(several_nodes) {}

std::string NarrowedGuard::why_excluded(const std::string& name) const {
  const std::string why = m_guard.why_excluded(name);
  if (!why.empty()) return why;
  const Strategy* const strategy = find_strategy(name);
  const bool excluded = strategy != nullptr ? hands_to_mpi(strategy->cost.carrier, m_several_nodes)
                                            : name == guarded_name(direct_messages);
  return excluded ? m_reason : std::string();
}

NarrowedGuard without_bad_trial(TuningGuard& guard, const MpiTrial& trial, bool several_nodes) {
  return {guard, trial.is_bad() ? why_excluded(trial) : "", several_nodes};
}

NarrowedGuard without_wrong_transfers(TuningGuard& guard, const TransferRecord& transfers) {
  if (transfers.trial.is_bad())
    return without_bad_trial(guard, transfers.trial, transfers.several_nodes);
  const ProbeEntry* const wrong = first_wrong(transfers);
  const bool excludes = wrong != nullptr && !transfers.on_host;
  return {guard,
          excludes
              ? fmt::format("MPI corrupts messages from device memory ({})", failure_text(*wrong))
              : "",
          transfers.several_nodes};
}

}  // namespace nekbone_k
