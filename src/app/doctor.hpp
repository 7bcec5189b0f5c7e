/// @file
/// The command `nekbone-k doctor`.
#pragma once

#include <string>

#include "app/case.hpp"
#include "core/communicator.hpp"

namespace nekbone_k {

struct DoctorOptions {
  double patience = Case().tuning_patience;     ///< s
  std::string journal = Case().tuning_journal;  ///< the file; a run's gather_scatter.tuning.journal
};

/// Looks at the machine, tries MPI on the memory of kernels, measures the paths of exchanges, and
/// prints on rank 0 what was found and what is likely wrong. Returns whether every transfer and
/// every strategy was right; ends the job with ExitCode::fail where a transfer came to no end. May
/// crash the job, see probe_mpi(): what did then stands in the journal, for runs to leave out. A
/// message of a strategy or a sum that does not come within `patience` seconds makes it wrong; see
/// TuningWatch for what does not come back. Collective; throws InputError if
/// NEKBONE_K_RANKS_PER_NODE cannot be used.
bool doctor(const Communicator& comm, const DoctorOptions& options);

}  // namespace nekbone_k
