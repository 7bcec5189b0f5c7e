// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The cost of deterministic sums.
#pragma once

#include <functional>

#include "report/run_record.hpp"

namespace nekbone_k {

/// Times iterations of CG with deterministic and with ordinary sums, in interleaved rounds. Runs as
/// many rounds as `budget_seconds` allows, but at least three. Each function runs the given number
/// of iterations and returns seconds, the same on every rank. Collective.
SummationCost compare_summations(const Communicator& comm,
                                 const std::function<double(int iterations)>& deterministic,
                                 const std::function<double(int iterations)>& ordinary,
                                 double budget_seconds);

}  // namespace nekbone_k
