#include "app/transfer_probe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/doctor_text.hpp"
#include "core/machine.hpp"

namespace nekbone_k {
namespace {

/// Whether messages by `carrier` are handed to MPI where kernels have written them. Peer memory
/// ends at the node, and MPI goes on from there.
bool hands_to_mpi(Carrier carrier, bool between_nodes) {
  return carrier == direct_messages || (carrier == Carrier::peer_memory && between_nodes);
}

/// Why device memory need not or must not be handed to MPI, or nothing. Collective.
std::string why_not_to_try(const Communicator& comm, std::span<const Strategy> strategies,
                           const TuningGuard& guard) {
  const std::string why = guard.why_excluded(guarded_name(direct_messages));
  if (!why.empty() || is_host_device) return why;
  const std::vector<int> nodes = nodes_of_ranks(comm);
  const bool several_nodes =
      std::any_of(nodes.begin(), nodes.end(), [&](int node) { return node != nodes.front(); });
  for (const Strategy& strategy : strategies)
    if (hands_to_mpi(strategy.cost.carrier, several_nodes) &&
        guard.why_excluded(strategy.name).empty())
      return {};
  return "no strategy of this run hands it to MPI";
}

}  // namespace

TransferRecord probe_transfers(const Communicator& comm, std::span<const Strategy> strategies,
                               const TuningGuard& guard) {
  const double begin = wall_seconds();
  TransferRecord record;
  record.on_host = is_host_device;
  record.why_not = why_not_to_try(comm, strategies, guard);
  if (record.why_not.empty()) {
    ProbeOptions options;
    // Below and above what any MPI sends eagerly: most of a probe's time is that of filling and
    // comparing its largest buffers.
    options.sizes = {8, 4 << 10, 256 << 10};
    options.repeats = 2;
    options.transfer = [&](const Communicator& ring, const ProbeEntry&,
                           const RingMessages& messages) {
      send_ring_messages(ring, messages, guard.patience);
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

TuningGuard without_wrong_transfers(const TuningGuard& guard, const TransferRecord& transfers) {
  const ProbeEntry* const wrong = first_wrong(transfers);
  if (wrong == nullptr || transfers.on_host) return guard;
  const std::vector<ProbeEntry>& entries = transfers.probe.entries;
  const bool between_nodes = std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
    return entry.place == ProbePlace::between_nodes;
  });
  const std::string reason =
      fmt::format("MPI does not send device memory right ({})", failure_text(*wrong));
  TuningGuard narrower = guard;
  narrower.why_excluded = [=, why_excluded = guard.why_excluded](const std::string& name) {
    const std::string why = why_excluded(name);
    if (!why.empty()) return why;
    const Strategy* const strategy = find_strategy(name);
    const bool excluded = strategy != nullptr ? hands_to_mpi(strategy->cost.carrier, between_nodes)
                                              : name == guarded_name(direct_messages);
    return excluded ? reason : std::string();
  };
  return narrower;
}

}  // namespace nekbone_k
