// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The results of multigrid in a run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gs/field_kind.hpp"
#include "multigrid/multigrid_choice.hpp"
#include "tuning/candidate.hpp"
#include "tuning/decision_cache.hpp"
#include "tuning/stage.hpp"

namespace nekbone_k {

/// Where a choice comes from. See OrderRecord for the members.
struct ChoiceOrigin {
  bool replayed = false;
  std::string cache_note{};
  std::optional<MadeChoice> made{};
};

/// All choices of a V-cycle.
struct MultigridMethod {
  std::vector<int> orders;
  SmootherKind smoother = SmootherKind::jacobi;
  ChebyshevKind polynomial = ChebyshevKind::optimized_fourth;
  int degree = 3;
  Precision precision = Precision::single;

  friend bool operator==(const MultigridMethod&, const MultigridMethod&) = default;
};

/// How the trial of a V-cycle ended.
enum class TrialEnd {
  not_tried,
  measured,    ///< its rate of convergence is known
  slower,      ///< given up, because it takes longer than another
  unfinished,  ///< the budget ended before its rate was known
  failed       ///< CG broke down, or gained too little
};

/// The name in the JSON report.
inline const char* name(TrialEnd end) {
  switch (end) {
    case TrialEnd::not_tried:
      return "not tried";
    case TrialEnd::measured:
      return "measured";
    case TrialEnd::slower:
      return "slower";
    case TrialEnd::unfinished:
      return "unfinished";
    case TrialEnd::failed:
      break;
  }
  return "failed";
}

/// The result of one V-cycle that the run tried.
struct MultigridCandidate : Verdict {
  MultigridMethod method;
  TrialEnd trial = TrialEnd::not_tried;
  /// Decimal digits of the residual per iteration; if the rate is not known, of all iterations.
  double digits = 0;
  double iteration_seconds = 0;         ///< s, measured once
  double once = 0;                      ///< s per decimal digit, measured once; 0 if not known
  std::optional<StageResult> timing{};  ///< the same in rounds
  bool selected = false;

  bool tried() const { return trial != TrialEnd::not_tried; }

  /// The median of the rounds, or what was measured once.
  double seconds_per_digit() const { return timing ? timing->cost.median : once; }
};

/// One level of the selected V-cycle.
struct MultigridLevel {
  int order = 1;
  std::array<int, 3> elements{};
  std::int64_t total_dofs = 0;
  bool is_direct = false;                    ///< solved directly
  double eigenvalue_bound = 0;               ///< of the smoothed operator; 0 if solved directly
  std::string strategy{};                    ///< of its exchanges; empty if nothing is exchanged
  std::optional<double> exchange_seconds{};  ///< one exchange; empty if it was not timed
  double seconds = 0;                        ///< of one V-cycle at this level
  ChoiceOrigin origin{};                     ///< of the strategy
  bool is_replicated = false;                ///< every rank has all of it
};

/// The V-cycle with one exchange strategy for all levels.
struct UniformStrategy {
  std::string strategy;         ///< the fastest of those that any level selected
  double seconds = 0;           ///< per V-cycle
  double selected_seconds = 0;  ///< per V-cycle with the strategies of the levels, same rounds
};

/// CG with the Jacobi preconditioner on the same problem.
struct JacobiComparison {
  int iterations = 0;
  double seconds = 0;
  bool converged = false;  ///< to the reduction of multigrid; otherwise it was given up
};

/// How the V-cycle was selected, and what it costs.
struct MultigridRecord {
  std::vector<MultigridCandidate> candidates;  ///< the first is the default, or that of a cache
  ChoiceOrigin origin;                         ///< of the V-cycle
  std::string why;                             ///< why none was timed in rounds; empty if some were
  bool budget_ended = false;                   ///< before all that the run would have tried
  int rounds = 0, iterations = 0;              ///< iterations: most of a sample
  double tune_seconds = 0;
  double setup_seconds = 0;  ///< of the selected hierarchy, without tuning
  std::vector<MultigridLevel> levels;
  double cycle_seconds = 0;  ///< one V-cycle
  /// The same if the host launches each kernel, given if a GPU replays recorded ones.
  std::optional<double> launched_cycle_seconds;
  double operator_seconds = 0;  ///< one application of A of the problem in double
  std::optional<UniformStrategy> uniform;
  std::optional<JacobiComparison> jacobi;

  const MultigridCandidate* selected() const {
    for (const MultigridCandidate& candidate : candidates)
      if (candidate.selected) return &candidate;
    return nullptr;
  }
};

}  // namespace nekbone_k
