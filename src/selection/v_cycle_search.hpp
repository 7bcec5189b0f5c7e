// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Which V-cycles a run tries, for how long, and which of them it prefers.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "selection/multigrid_candidates.hpp"

namespace nekbone_k {

/// The convergence of CG, from the norms of its residuals.
///
/// The first iterations remove what any smoother removes, so they say little about a V-cycle. The
/// rate counts from where the residual has fallen tenfold.
struct Convergence {
  explicit Convergence(const std::vector<double>& history);

  int iterations = 0;
  double fall = 0;    ///< decimal digits by which the residual has fallen
  double digits = 0;  ///< of them per iteration since it fell tenfold, or of all before that
  /// The rate is known: the residual has fallen a hundredfold, in two iterations of the rate or
  /// more, or as far as a sample goes.
  bool is_known = false;
  /// More iterations would hardly change the rate.
  bool is_settled = false;
};

/// A sample ends where the residual has fallen by this factor.
inline constexpr double sample_tolerance = 1e-8;

/// The share of the budget that a sample should take at most.
inline constexpr double sample_share = 1.0 / 16;

/// Limits of the trial of a V-cycle, and what is known of it beforehand.
struct TrialLimits {
  double seconds = 0;  ///< at most, beyond its first iterations
  double share = 0;    ///< s; after them, a known rate is enough
  /// Seconds per digit of the best so far. A V-cycle that is much slower needs no more iterations.
  double best = std::numeric_limits<double>::infinity();
};

/// Iterations of any trial, and those after which one that gains nothing has failed.
inline constexpr int least_trial_iterations = 4, most_trial_iterations = 200,
                     hopeless_iterations = 100;
/// Decimal digits per iteration below which a V-cycle is no help.
inline constexpr double least_digits = 0.01;
/// A V-cycle that needs this many times as long as the best for a digit is not selected.
inline constexpr double worth_timing = 1.5;

/// Whether a trial can end after `iterations` of `iteration_seconds` each, and how it then ends.
/// Nothing: it goes on. Not collective.
std::optional<TrialEnd> end_of_trial(const std::vector<double>& history, const TrialLimits& limits,
                                     double iteration_seconds);

/// The time for trials, in s.
struct SearchBudget {
  double seconds = 0;  ///< of all variations together
  /// Of each trial before them. Without the rate of a first V-cycle there is nothing to compare.
  double first_seconds = 0;
};

/// Tries V-cycles within a budget:
///
/// 1. The default. If CG breaks down with it, the same in the other precision.
/// 2. If it converges poorly, or if the budget ended before its rate was known: the robust V-cycle,
///    with Schwarz. This trial, like the first, has first_seconds of its own.
/// 3. Others, which differ from the best so far in one choice, in this order:
///    - with good convergence: degree, smoother, polynomial, orders, precision. Other orders come
///      late, because they need new levels.
///    - with poor convergence: degree with higher ones first, orders, polynomial, smoother,
///      precision.
///
/// `try_out` measures one V-cycle; `seconds` is a clock. Both are the same on every rank.
class VCycleSearch {
 public:
  using TryOut =
      std::function<MultigridCandidate(const MultigridMethod& method, const TrialLimits& limits)>;

  VCycleSearch(const MultigridChoices& choices, const SearchBudget& budget, TryOut try_out,
               std::function<double()> seconds);

  const std::vector<MultigridCandidate>& candidates() const { return m_candidates; }
  /// Index of the one to prefer: the fastest whose rate is known or, if the budget ended before
  /// that of any, the robust one. A V-cycle of poor convergence is not preferred to the robust one
  /// while that may be faster. It may be unverified if all are.
  std::size_t best() const;
  /// Whether V-cycles were not tried, or not to their end, because the budget ended.
  bool budget_ended() const { return m_budget_ended; }

 private:
  bool has(const MultigridMethod& method) const;
  void consider(const MultigridMethod& method, bool is_free = false);
  bool is_poor() const;

  const MultigridChoices& m_choices;
  SearchBudget m_budget;
  double m_since = 0;
  TryOut m_try_out;
  std::function<double()> m_seconds;
  std::vector<MultigridCandidate> m_candidates;
  std::optional<std::size_t> m_fastest;  // whose rate is known
  std::optional<std::size_t> m_robust;
  bool m_budget_ended = false;
};

/// Decimal digits per iteration below which convergence is poor: half those of cubic elements.
inline constexpr double poor_digits = 0.5;

}  // namespace nekbone_k
