// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Whether a run passed.
#pragma once

#include "report/run_record.hpp"

namespace nekbone_k {

/// Whether the run did everything that the input asks for and all results are right:
/// - at every order, the tuner selected an exchange and no available candidate is wrong;
/// - the on-rank gather–scatter is right;
/// - if the run solves a problem, the all-reduce and the solution are right.
/// A missing check counts as a failure.
bool has_passed(const RunRecord& record);

/// Whether a flow stopped before its end and saved a checkpoint, and all results so far are right.
bool was_stopped(const RunRecord& record);

}  // namespace nekbone_k
