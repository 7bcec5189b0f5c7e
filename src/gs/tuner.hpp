/// @file
/// Measures the exchange strategies, and chooses one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "gs/field_kind.hpp"
#include "gs/gather_scatter.hpp"
#include "gs/stage.hpp"
#include "gs/tuning_guard.hpp"

namespace nekbone_k {

/// How much to measure.
struct TunerOptions {
  double budget_seconds = 2;  ///< of making and timing exchanges, an order; without verification
  int minimum_rounds = 5;     ///< done even past the budget
  bool early_stop = true;     ///< candidates that cannot win are left out of later rounds
};

/// A sum over the ranks that the host waits for when an exchange has been done.
struct WorkSum {
  std::string guarded_as;       ///< what a TuningGuard knows it as
  std::function<void()> start;  ///< begins it, behind the work's kernels; waits for nothing
  std::function<void()> wait;   ///< once after each start; both collective
};

/// The operator around an exchange. Each part does the portion of it that it is given, in (0, 1];
/// its kernels may still run when it returns.
struct OverlapWork {
  std::string name;  ///< for the report
  /// What needs no exchanged value, on the default instance: what an overlapped exchange hides
  /// behind.
  std::function<void(double portion)> meanwhile;
  /// What an exchange has to wait for, if anything, by kernels of `stream`, which packs next.
  std::function<void(double portion, const ExecutionSpace& stream)> before = {};
  /// Both at once, on the default instance, where no exchange comes between them; if not given,
  /// they are done in turn.
  std::function<void(double portion)> all = {};
  /// Begun after `meanwhile` or `all`, if there is one, and no less for a portion.
  std::optional<WorkSum> sum = {};
};

/// What was found out about one strategy.
struct CandidateResult : Verdict {
  Strategy strategy;
  std::optional<StageResult> alone =
      {};  ///< plain strategies: one exchange (pack, messages, unpack)
  std::optional<StageResult> with_work =
      {};  ///< overlapped ones and the best plain one: work and exchange
  bool selected = false;

  /// The stage for which the strategy was made.
  const std::optional<StageResult>& own_stage() const {
    return strategy.overlapped ? with_work : alone;
  }
};

/// Where the time of the selected strategy goes, medians over rounds of maxima over ranks, in
/// seconds.
struct ExchangeBreakdown {
  double pack = 0, exchange = 0, unpack = 0;
};

struct TuningResult {
  FieldKind kind;                              ///< of the fields that were exchanged
  std::vector<CandidateResult> candidates;     ///< in the order of the table
  int selected = -1;                           ///< index in candidates; -1 if none was right
  std::optional<ExchangeBreakdown> breakdown;  ///< where one was timed
  Summary on_rank;                             ///< on-rank QQᵀ of element surfaces, s
  std::string work_name;                       ///< what overlapped strategies were timed under
  double work_portion = 1;                     ///< how much of it, in (0, 1]
  std::vector<double>
      work_alone;             ///< the work without an exchange, s, each round of the second stage
  double work_meanwhile = 0;  ///< the part of it that an exchange hides behind, s
  int rounds_alone = 0, rounds_with_work = 0;
  int repeats = 1;  ///< exchanges timed together for one sample of `alone`
  double verify_seconds = 0, tune_seconds = 0;
};

/// Chooses among `strategies` for fields of a `kind` on the shared DOFs of `gs`: all that is
/// verified again, timed or predicted is of that kind.
///
/// Each candidate is first verified (see verify.hpp); one that is not available, is wrong or throws
/// on any rank is excluded on all, with the reason. Then two stages of interleaved rounds, which
/// end when 35 and 80 % of the budget are used up, but with at least minimum_rounds each, and from
/// which those that cannot win any more drop out unless early_stop is false (see Rounds):
///
/// 1. every plain strategy's exchange alone;
/// 2. every overlapped strategy, and the winner of stage 1, together with the work, and the work
///    alone. Where the work has a sum, it ends when the host knows that, as in CG: what a device
///    does of an exchange hides behind it, too. Of the work a portion is done of which what
///    exchanges hide behind lasts about three times the slowest of them, or all of it: more would
///    hide no more, and its noise would drown the exchange.
///
/// In each stage the lowest cost wins; among those that tie with it (is_tie, in stage 2 of work
/// and exchange together) the first of the table does. But in stage 2 one, also where it is within
/// 1 % of the best, comes before another whose exchange is_slower in stage 1. Of those that overlap
/// it has more time left before a message that is late holds CG up, and on some hosts they often
/// are (docs/performance.md). The plain one, where kernels run beside the host, comes before all
/// that tie with it, too, as they take a kernel and a stream more; elsewhere to overlap takes
/// nothing, and it comes after them, whatever it took in stage 1. Where no rank shares anything
/// nothing is timed, and the first right one is taken. One that throws on some rank while it is
/// timed, as where a message does not come in time, is excluded on all, and the others are timed
/// again; so is the one that won if it is wrong when it is verified once more. With the machine's
/// `paths` (not null) each stage says what it should have taken (cost_model.hpp), which decides
/// nothing. Collective, with the same result on every rank.
TuningResult tune(GatherScatter& gs, const FieldKind& kind, std::span<const Strategy> strategies,
                  const OverlapWork& work, const TunerOptions& options,
                  const TuningGuard& guard = {}, const MachinePaths* paths = nullptr);

}  // namespace nekbone_k
