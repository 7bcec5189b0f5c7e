// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The files of a run. Rank 0 checks and opens them before the run measures anything.
#pragma once

#include <memory>
#include <string>

#include "core/communicator.hpp"
#include "input/case.hpp"
#include "report/report_file.hpp"
#include "report/report_lock.hpp"

namespace nekbone_k {

/// Calls `action` on rank 0. If it throws a Failure, returns its text on every rank, else nothing.
/// Collective.
template <class Failure, class Action>
std::string complaint_on_root(const Communicator& comm, const Action& action) {
  std::string complaint;
  if (comm.is_root()) {
    try {
      action();
    } catch (const Failure& error) {
      complaint = error.what();
    }
  }
  return comm.broadcast(complaint);
}

/// Opens the JSON report on rank 0; returns null on the others. Throws InputError on every rank if
/// the report cannot be written, or if a file of the run would overwrite the input or another.
/// Collective.
std::unique_ptr<ReportFile> open_report(const Communicator& comm, const Case& input);

/// Locks the report on rank 0; returns null on the others. Throws InputError on every rank if
/// another run has the lock. `jobs` is a warning that explains why there may be another run, or
/// empty. Collective.
std::unique_ptr<ReportLock> lock_report(const Communicator& comm, const Case& input,
                                        const std::string& jobs);

/// Throws InputError on every rank if another run has the lock. Takes no lock. Collective.
void require_free_report(const Communicator& comm, const Case& input, const std::string& jobs);

}  // namespace nekbone_k
