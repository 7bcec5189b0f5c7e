// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The command `nekbone-k doctor`, which looks for faults of MPI, its launch and the machine.
#pragma once

#include <string>

#include "core/communicator.hpp"
#include "input/case.hpp"
#include "machine/mpi_trial.hpp"

namespace nekbone_k {

struct DoctorOptions {
  double patience = Case().tuning_patience;     ///< time limit of a message, s
  std::string journal = Case().tuning_journal;  ///< path; see gather_scatter.tuning.journal
};

/// Inspects the machine, tries MPI on kernel memory, measures the paths of exchanges and tries all
/// strategies. Prints results and findings on rank 0. Returns whether `trial` is not bad and the
/// record is_healthy(). Collective.
///
/// - A transfer that does not finish ends the job with ExitCode::fail.
/// - A test may crash the job; see probe_mpi(). The journal records it, and later runs skip that
///   strategy.
/// - A strategy or all-reduce whose message takes longer than `patience` counts as wrong.
/// - See TuningWatch for calls that do not return.
///
/// Throws InputError if NEKBONE_K_RANKS_PER_NODE is invalid.
bool doctor(const Communicator& comm, const DoctorOptions& options, const MpiTrial& trial = {});

}  // namespace nekbone_k
