/// @file
/// What deterministic sums cost.
#pragma once

#include <functional>

#include "app/run_record.hpp"

namespace nekbone_k {

/// Runs some iterations of CG with deterministic and with ordinary sums, in interleaved rounds:
/// as many as `budget_seconds` has room for, three at least. Each function runs the iterations that
/// it is given and returns seconds, the same on every rank. Collective.
SummationCost compare_summations(const Communicator& comm,
                                 const std::function<double(int iterations)>& deterministic,
                                 const std::function<double(int iterations)>& ordinary,
                                 double budget_seconds);

}  // namespace nekbone_k
