// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A whole run: tune every order, solve, report.
#pragma once

#include "core/communicator.hpp"
#include "core/errors.hpp"
#include "input/case.hpp"
#include "machine/mpi_trial.hpp"
#include "report/report.hpp"

namespace nekbone_k {

/// Tunes the gather–scatter at every order of `input`, then solves at solver.order with the
/// selected strategy. Rank 0 prints the report on stdout part by part, in the given `detail`, and
/// writes the JSON report. Skips strategies that need what failed in `trial`. Returns whether the
/// run passed, failed or stopped. Collective. Throws OutputError if the JSON report cannot be
/// written.
ExitCode run(const Communicator& comm, Case input, const MpiTrial& trial = {},
             ReportDetail detail = ReportDetail::usual);

/// Prints the plan and the memory of run() without running it. Returns whether run() could pass; it
/// could not if it would skip every strategy. Collective. Throws MemoryError if the case does not
/// fit.
bool dry_run(const Communicator& comm, Case input);

}  // namespace nekbone_k
