// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Verifies and times the all-reduces, and selects one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reduce/all_reduce.hpp"
#include "tuning/stage.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// The result of one all-reduce.
struct AllReduceResult : Verdict {
  AllReduceStrategy strategy;
  /// s, from the launch of the summing kernel until the hosts of all ranks have the sums
  std::optional<StageResult> timing = {};
  bool selected = false;
};

struct AllReduceTuning {
  std::vector<AllReduceResult> candidates;  ///< in the order of the table
  int selected = -1;                        ///< index in candidates; -1 if no candidate was right
  int rounds = 0, repeats = 1;              ///< all-reduces timed together for one sample
  double verify_seconds = 0, tune_seconds = 0;
};

/// Returns the error of `strategy` on the first rank that has one; empty if it is right on every
/// rank. Sums of whole numbers must equal the value computed from ranks and calls. Other sums must
/// have the same bits on every rank. For `patience` see AllReduceFactory. Collective, with the same
/// result on every rank; throws UnavailableError.
std::string verify_all_reduce(const Communicator& comm, const AllReduceStrategy& strategy,
                              double patience = for_ever);

/// The name of an all-reduce in a TuningGuard: "sum NAME".
std::string guarded_name(const AllReduceStrategy& strategy);

/// The reason why `guard` excludes `strategy`, or empty. A guard that excludes an exchange strategy
/// excludes the all-reduce of the same name, too. The same on every rank.
std::string why_excluded(const TuningGuard& guard, const AllReduceStrategy& strategy);

/// Selects one of `strategies` for all-reduces of two values:
///
/// 1. It verifies each strategy.
/// 2. It times all of them in interleaved rounds, with a tenth of the budget.
/// 3. It selects the fastest, or the first in the table among those that tie with it.
/// 4. It verifies the selected strategy once more.
///
/// A strategy that throws on some rank while it is timed, or is wrong in step 4, is excluded on all
/// ranks. The tuner then times the others again. On one rank it times nothing and selects the first
/// right strategy. It predicts the times if `paths` is not null. Collective, with the same result
/// on every rank.
AllReduceTuning tune_all_reduce(const Communicator& comm,
                                std::span<const AllReduceStrategy> strategies,
                                const TunerOptions& options, TuningGuard& guard,
                                const MachinePaths* paths = nullptr);

}  // namespace nekbone_k
