// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Comparisons of a CG run that passed with other strategies, sums and preconditioners.
#pragma once

#include <functional>

#include "app/cg_run.hpp"

namespace nekbone_k {

/// Compares `cg`, the result of `run`, as far as the case asks for it and the selected method
/// allows it. Overwrites the solution. Before each comparison, calls `before` with the record, so
/// that a crash does not lose it; `show_stage` shows what is compared. Collective.
///
/// 1. Deterministic with ordinary sums.
/// 2. The exchange, and the all-reduce, with the best others.
/// 3. Multigrid with Jacobi.
void compare(CgRun& run, const CgResult& cg, const SolveStrategies& strategies, TuningGuard& guard,
             const std::function<void(const SolveRecord&)>& before,
             const std::function<void(const char*)>& show_stage, SolveRecord& record);

}  // namespace nekbone_k
