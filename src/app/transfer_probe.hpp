/// @file
/// Tries what MPI does with the memory of kernels before a run relies on it.
#pragma once

#include <span>

#include "app/run_record.hpp"
#include "core/communicator.hpp"
#include "gs/strategy_table.hpp"
#include "gs/tuner.hpp"

namespace nekbone_k {

/// Sends messages of an eager and of a rendezvous protocol from and to the memory of kernels, also
/// from where nothing is aligned, within the nodes and between them, and compares every byte (see
/// probe_mpi()); some hundredths of a second. Not tried is what would hand MPI device memory where
/// none of `strategies` does, or where `guard` has excluded that for what it did to an earlier run.
///
/// Tried between guard.enter() and leave(), as it may crash or hang like a strategy; a message that
/// does not come within guard.patience makes the probe stuck. Collective, with the same result on
/// every rank.
TransferRecord probe_transfers(const Communicator& comm, std::span<const Strategy> strategies,
                               const TuningGuard& guard);

/// The first transfer that was wrong or did not end; nullptr where there was none.
const ProbeEntry* first_wrong(const TransferRecord& transfers);

/// `guard`, which also excludes what would hand MPI device memory if a transfer of it was wrong.
/// Where kernels run on the host nothing is excluded: there is no other way for messages to go, and
/// verification finds the strategies that it hurts.
TuningGuard without_wrong_transfers(const TuningGuard& guard, const TransferRecord& transfers);

}  // namespace nekbone_k
