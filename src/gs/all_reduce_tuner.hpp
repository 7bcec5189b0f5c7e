/// @file
/// Measures the ways to sum over the ranks, and chooses one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gs/all_reduce.hpp"
#include "gs/stage.hpp"
#include "gs/tuner.hpp"

namespace nekbone_k {

/// What was found out about one way to sum.
struct AllReduceResult : Verdict {
  AllReduceStrategy strategy;
  /// From the launch of a kernel that sums to all hosts' knowing.
  std::optional<StageResult> timing = {};
  bool selected = false;
};

struct AllReduceTuning {
  std::vector<AllReduceResult> candidates;  ///< in the order of the table
  int selected = -1;                        ///< index in candidates; -1 if none was right
  int rounds = 0, repeats = 1;              ///< sums timed together for one sample
  double verify_seconds = 0, tune_seconds = 0;
};

/// Empty if `strategy` sums rightly on every rank, else what is wrong. Many sums in turn are
/// compared with what the numbers of ranks and calls say they must be, exactly, and must have the
/// same bits on every rank where they are not exact. For `patience` see AllReduceFactory.
/// Collective, with the same result everywhere; throws UnavailableError.
std::string verify_all_reduce(const Communicator& comm, const AllReduceStrategy& strategy,
                              double patience = for_ever);

/// What a TuningGuard knows a way to sum as: "sum NAME".
std::string guarded_name(const AllReduceStrategy& strategy);

/// Why `guard` excludes `strategy`; what excludes an exchange of the same name excludes it, too.
/// The same on every rank.
std::string why_excluded(const TuningGuard& guard, const AllReduceStrategy& strategy);

/// Chooses among `strategies` for sums of two values: each is verified, then all are timed in
/// interleaved rounds with a tenth of the budget; the fastest wins, and among those that tie with
/// it the first of the table. One that throws meanwhile on some rank, or has won and is wrong when
/// it is verified once more, is excluded on all, and the others are timed again. On one rank
/// nothing is timed, and the first right one is taken. With `paths`, which may be null, what each
/// should take is predicted. Collective, with the same result on every rank.
AllReduceTuning tune_all_reduce(const Communicator& comm,
                                std::span<const AllReduceStrategy> strategies,
                                const TunerOptions& options, const TuningGuard& guard = {},
                                const MachinePaths* paths = nullptr);

}  // namespace nekbone_k
