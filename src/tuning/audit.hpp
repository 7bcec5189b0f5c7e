// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Audit of a selection: times it again after CG, beside others.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "tuning/stage.hpp"
#include "tuning/tuning_guard.hpp"

namespace nekbone_k {

/// A candidate of an audit: an exchange strategy or an all-reduce.
struct AuditedChoice {
  std::string name;
  std::string guarded_as;        ///< its name in a TuningGuard
  std::function<void()> select;  ///< makes the work use it from now on; collective
};

/// The timing of one candidate in the work.
struct AuditedStrategy {
  std::string name;
  StageResult timing;  ///< of one iteration, in s
};

/// The result of an audit: first the selected candidate, then the others that were tried.
struct Audit {
  std::vector<AuditedStrategy> strategies;
  int others = 0;      ///< number of other candidates that could have been tried
  int iterations = 0;  ///< iterations timed together for one sample
  int rounds = 0;
  double seconds = 0;  ///< duration of the audit

  /// Index of the candidate with the smallest median.
  std::size_t best() const;
  /// Relative extra time of an iteration with the selected candidate, compared with the best one; 0
  /// if it is the best.
  double regret() const;
  /// Whether the best candidate is faster beyond noise; see is_slower(). Needs at least six rounds.
  bool is_beaten() const;
};

/// The work that an audit times.
struct AuditedWork {
  /// Runs before each sample, untimed. It exchanges once, so that the strategy has its resources.
  std::function<void()> prepare;
  std::function<void(int iterations)> iterate;  ///< returns after all of them are done
};

struct AuditOptions {
  double budget_seconds = 1;  ///< limits the number of other candidates, and the rounds
  int most_iterations = 5;    ///< maximum per sample; fewer if the budget is short
  int least_rounds = 3;
  int least_others = 2;  ///< minimum number of other candidates, whatever they cost
};

/// Times some of the work with the selected candidate, the first of `choices`, and with others, in
/// interleaved rounds. `choices` are in the order of their earlier results. The number of others
/// follows from the budget and `iteration_seconds`, the time of an iteration. At the end the
/// selected candidate is in use again. The guard is told which candidate is in use. Throws
/// UnavailableError on every rank if a candidate does. Collective, with the same result on every
/// rank.
Audit audit_choice(const Communicator& comm, std::span<const AuditedChoice> choices,
                   double iteration_seconds, const AuditedWork& work, const AuditOptions& options,
                   TuningGuard& guard);

}  // namespace nekbone_k
