// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Compares a CG run that passed with runs by other strategies, all-reduces and preconditioners.
#pragma once

#include <functional>

#include "app/cg_run.hpp"

namespace nekbone_k {

/// Compares `cg`, the result of `run`. Makes the comparisons below that the case requests and the
/// selected method allows. Overwrites the solution. Calls `before` with the record before each
/// comparison, to save it in case of a crash, and `show_stage` with the name of the comparison.
/// Collective.
///
/// 1. Deterministic with ordinary sums.
/// 2. The exchange, and the all-reduce, with the best others.
/// 3. Multigrid with Jacobi.
void compare(CgRun& run, const CgResult& cg, const SolveStrategies& strategies, TuningGuard& guard,
             const std::function<void(const SolveRecord&)>& before,
             const std::function<void(const char*)>& show_stage, SolveRecord& record);

}  // namespace nekbone_k
