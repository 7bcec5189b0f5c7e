/// @file
/// A whole run: tune every order, solve, report.
#pragma once

#include "app/case.hpp"
#include "app/run_record.hpp"
#include "core/communicator.hpp"

namespace nekbone_k {

/// Tunes the gather-scatter at every order of `input`, then solves at solver.order with the
/// strategy chosen there. Rank 0 prints the report on stdout part by part and writes the JSON
/// report. Returns whether the run passed. Collective. Throws OutputError if the JSON report cannot
/// be written in the end.
bool run(const Communicator& comm, const Case& input);

/// Prints what run() would do and what memory it needs, and does nothing of it. Collective. Throws
/// MemoryError if the case does not fit.
void dry_run(const Communicator& comm, const Case& input);

}  // namespace nekbone_k
