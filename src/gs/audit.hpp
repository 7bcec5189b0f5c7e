/// @file
/// How good a choice turned out to be.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "gs/stage.hpp"
#include "gs/tuning_guard.hpp"

namespace nekbone_k {

/// One that could have been chosen: a strategy to exchange, or to sum.
struct AuditedChoice {
  std::string name;
  std::string guarded_as;        ///< what a guard knows it by
  std::function<void()> select;  ///< from now on the work is done by it; collective
};

/// One strategy in the real loop.
struct AuditedStrategy {
  std::string name;
  StageResult timing;  ///< of one iteration, s
};

/// The choice, first, and the others that were tried.
struct Audit {
  std::vector<AuditedStrategy> strategies;
  int others = 0;      ///< strategies that could have been tried
  int iterations = 0;  ///< timed together for one sample
  int rounds = 0;
  double seconds = 0;  ///< that the audit took

  /// Position of the least median.
  std::size_t best() const;
  /// How much longer an iteration took by the choice than by the best: 0 if it is the best.
  double regret() const;
  /// Whether the best was faster beyond noise, which takes some rounds to tell: see is_slower().
  bool is_beaten() const;
};

/// What the choice was made for.
struct AuditedWork {
  /// Before each sample, not timed; exchanges once, so that the strategy has what it needs.
  std::function<void()> prepare;
  std::function<void(int iterations)> iterate;  ///< returns when all of it is done
};

struct AuditOptions {
  double budget_seconds = 1;  ///< for choosing how many others to try, and for rounds
  int most_iterations = 5;    ///< of a sample; fewer where the budget has no room
  int least_rounds = 3;
  int least_others = 2;  ///< tried whatever they take
};

/// Lets the choice, the first of `choices`, and the others do some of the work, in interleaved
/// rounds. Of the others, which come in the order of how well they did before, as many are tried as
/// the budget has room for if an iteration takes `iteration_seconds`. In the end the choice is
/// selected again. The guard is told while one is used. Throws UnavailableError on every rank if
/// one does. Collective, with the same result on every rank.
Audit audit_choice(const Communicator& comm, std::span<const AuditedChoice> choices,
                   double iteration_seconds, const AuditedWork& work, const AuditOptions& options,
                   const TuningGuard& guard = {});

}  // namespace nekbone_k
