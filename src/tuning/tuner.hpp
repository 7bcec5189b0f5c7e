// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Verifies and times the exchange strategies, and selects one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "gs/field_kind.hpp"
#include "gs/gather_scatter.hpp"
#include "tuning/candidate.hpp"
#include "tuning/stage.hpp"

namespace nekbone_k {

/// The effort of tuning.
struct TunerOptions {
  double budget_seconds = 2;  ///< s per order, to make and time exchanges; not verification
  int minimum_rounds = 5;     ///< minimum, even beyond the budget
  bool early_stop = true;     ///< drop candidates that cannot win from later rounds
};

/// An all-reduce that the host waits for after an exchange.
struct WorkSum {
  std::string guarded_as;       ///< its name in a TuningGuard
  std::function<void()> start;  ///< begins it behind the kernels of the work; does not wait
  std::function<void()> wait;   ///< once after each start; both are collective
};

/// The operator around an exchange. Each function runs the given portion of its part, in (0, 1];
/// its kernels may still run when it returns.
struct OverlapWork {
  std::string name;  ///< for the report
  /// The part that needs no exchanged values, in the default stream. An overlapped exchange hides
  /// behind it.
  std::function<void(double portion)> meanwhile;
  /// The part that an exchange waits for, if any. Its kernels run in `stream`, which packs next.
  std::function<void(double portion, const ExecutionSpace& stream)> before = {};
  /// Both parts together in the default stream, if no exchange comes between them. If not given,
  /// they run in turn.
  std::function<void(double portion)> all = {};
  /// If given, begins after `meanwhile` or `all`; the same for every portion.
  std::optional<WorkSum> sum = {};
};

/// The result of one strategy.
struct CandidateResult : Verdict {
  Strategy strategy;
  std::optional<StageResult> alone =
      {};  ///< plain strategies: one exchange (pack, messages, unpack)
  std::optional<StageResult> with_work =
      {};  ///< overlapped strategies and the best plain one: work and exchange
  bool selected = false;

  /// The result of the stage for strategies of this kind.
  const std::optional<StageResult>& own_stage() const {
    return strategy.overlapped ? with_work : alone;
  }
};

/// The parts of the time of the selected strategy: medians over rounds of maxima over ranks, in s.
struct ExchangeBreakdown {
  double pack = 0, exchange = 0, unpack = 0;
};

struct TuningResult {
  FieldKind kind;                              ///< of the fields that were exchanged
  std::vector<CandidateResult> candidates;     ///< in the order of the table
  int selected = -1;                           ///< index in candidates, or -1
  std::optional<ExchangeBreakdown> breakdown;  ///< if an exchange was timed
  Summary on_rank;                             ///< on-rank QQᵀ of element surfaces, s
  std::string work_name;                       ///< work of the second stage
  double work_portion = 1;                     ///< timed portion of it, in (0, 1]
  std::vector<double>
      work_alone;             ///< s, the work without an exchange, by round of the second stage
  double work_meanwhile = 0;  ///< s, the part of the work that hides an exchange
  int rounds_alone = 0, rounds_with_work = 0;
  int repeats = 1;  ///< exchanges timed together for one sample of `alone`
  double verify_seconds = 0, tune_seconds = 0;
};

/// Selects one of `strategies` for fields of a `kind` on the shared DOFs of `gs`. It verifies
/// again, times and predicts with fields of that kind.
///
/// First it verifies each candidate (see verify.hpp). A candidate that is unavailable, wrong, or
/// throws on any rank is excluded on all ranks, with the reason. Then it runs two stages of
/// interleaved rounds (see Rounds). They end when 35 % and 80 % of the budget are used, but not
/// before minimum_rounds each. Unless early_stop is false, candidates that cannot win drop out.
///
/// 1. Stage 1 times the exchange of every plain strategy alone.
/// 2. Stage 2 times every overlapped strategy and the winner of stage 1 with the work, and the work
///    alone. If the work has an all-reduce, a sample ends when the host has its result, as in CG.
///    So on a GPU part of the exchange hides behind the all-reduce, too. Stage 2 runs a portion of
///    the work. The part that hides exchanges then lasts about three times the slowest exchange, or
///    is all of it. More work would hide no more, and its noise would drown the exchange.
///
/// The candidate with the lowest cost wins a stage. In stage 1, the first in the table wins among
/// those that tie with it (is_tie). In stage 2, ties of work plus exchange are broken in this
/// order:
///
/// 1. On a GPU, the plain strategy wins if it ties, because overlap costs a kernel and a stream.
/// 2. Otherwise the first overlapped strategy in the table wins. If kernels run on the host,
///    overlap costs nothing, so the plain strategy comes last.
/// 3. A strategy whose exchange is faster in stage 1 (is_slower) replaces the winner if it ties
///    with the best or is within 1 % of it. It has more time left if a message is late, as is
///    common on some hosts (docs/measurements/2026-11-26-pinned.md). On a host this compares
///    overlapped strategies only.
///
/// If no rank shares DOFs, nothing is timed, and the first right strategy is selected. A strategy
/// may throw on some rank while it is timed, for example because a message is late. It is then
/// excluded on all ranks, and the others are timed again. The selected strategy is verified once
/// more; if it is wrong, the same happens. If `paths` is not null, each stage also gets predicted
/// times (predict.hpp), which do not affect the selection. Collective, with the same result on
/// every rank.
TuningResult tune(GatherScatter& gs, const FieldKind& kind, std::span<const Strategy> strategies,
                  const OverlapWork& work, const TunerOptions& options, TuningGuard& guard,
                  const MachinePaths* paths = nullptr);

}  // namespace nekbone_k
