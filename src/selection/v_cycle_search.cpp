// SPDX-License-Identifier: BSD-3-Clause
#include "selection/v_cycle_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nekbone_k {
namespace {

/// Decimal digits of the first iterations, and those of a known rate.
constexpr double first_digits = 1, known_digits = 2;
/// Iterations of a known rate, and of a settled one.
constexpr int known_iterations = 2, settled_iterations = 6;
/// Iterations before a V-cycle may be called slower.
constexpr int least_slower_iterations = 6;

/// The degrees in the order to try them: after the default, higher ones first if convergence is
/// poor.
std::vector<int> degrees_to_try(std::vector<int> degrees, bool is_poor) {
  if (is_poor && degrees.size() > 1) {
    const int usual = degrees.front();
    const auto higher = std::stable_partition(degrees.begin(), degrees.end(),
                                              [&](int degree) { return degree >= usual; });
    std::sort(higher, degrees.end(), std::greater<>());
  }
  return degrees;
}

}  // namespace

Convergence::Convergence(const std::vector<double>& history)
    : iterations(static_cast<int>(history.size()) - 1) {
  constexpr double rounding = 1e-16;  // a residual of 0 has no logarithm
  const double first = history.empty() ? 0 : history.front();
  if (iterations < 1 || !(first > 0) || !std::isfinite(history.back())) return;
  const auto fall_at = [&](int i) { return -std::log10(std::max(history[i] / first, rounding)); };
  int begin = 0;
  while (begin < iterations && fall_at(begin) < first_digits) ++begin;
  fall = fall_at(iterations);
  digits = begin < iterations ? (fall - fall_at(begin)) / (iterations - begin) : fall / iterations;
  const bool is_whole_sample = fall >= -std::log10(sample_tolerance);
  is_known = is_whole_sample || (fall >= known_digits && iterations - begin >= known_iterations);
  is_settled =
      is_whole_sample || (fall >= known_digits && iterations - begin >= settled_iterations);
}

std::optional<TrialEnd> end_of_trial(const std::vector<double>& history, const TrialLimits& limits,
                                     double iteration_seconds) {
  const Convergence found(history);
  const double elapsed = found.iterations * iteration_seconds;
  if (found.iterations < least_trial_iterations) return {};
  if (found.iterations >= hopeless_iterations && found.fall < least_digits * found.iterations)
    return TrialEnd::failed;
  if (found.is_settled || (found.is_known && elapsed >= limits.share)) return TrialEnd::measured;
  if (found.iterations >= most_trial_iterations) return TrialEnd::measured;
  // The first iterations are the best, so this is at least the time per digit.
  if (found.iterations >= least_slower_iterations &&
      elapsed > worth_timing * limits.best * std::max(found.fall, 0.0))
    return TrialEnd::slower;
  if (elapsed >= limits.seconds) return found.is_known ? TrialEnd::measured : TrialEnd::unfinished;
  return {};
}

VCycleSearch::VCycleSearch(const MultigridChoices& choices, const SearchBudget& budget,
                           TryOut try_out, std::function<double()> seconds)
    : m_choices(choices),
      m_budget(budget),
      m_try_out(std::move(try_out)),
      m_seconds(std::move(seconds)) {
  MultigridMethod first = choices.first();
  consider(first, /*is_free=*/true);
  for (const Precision precision : choices.precisions)
    if (!m_candidates[best()].verified) {
      first.precision = precision;
      consider(first, /*is_free=*/true);
    }
  const bool poor = is_poor();
  if (poor) {
    MultigridMethod robust = m_candidates[best()].method;
    robust.smoother = choices.robust_smoother();
    consider(robust, /*is_free=*/true);
    for (std::size_t c = 0; c < m_candidates.size(); ++c)
      if (m_candidates[c].method == robust) m_robust = c;
  }
  m_since = m_seconds();
  // Changes one choice of the best so far to each of its values.
  const auto vary = [&]<class Value>(Value MultigridMethod::*choice,
                                     const std::vector<Value>& values) {
    MultigridMethod method = m_candidates[best()].method;
    for (const Value& value : values) {
      method.*choice = value;
      consider(method);
    }
  };
  vary(&MultigridMethod::degree, degrees_to_try(choices.degrees, poor));
  if (!poor) {
    vary(&MultigridMethod::smoother, choices.smoothers);
    vary(&MultigridMethod::polynomial, choices.polynomials);
    vary(&MultigridMethod::orders, choices.orders);
  } else {
    vary(&MultigridMethod::orders, choices.orders);
    vary(&MultigridMethod::polynomial, choices.polynomials);
    vary(&MultigridMethod::smoother, choices.smoothers);
  }
  vary(&MultigridMethod::precision, choices.precisions);
}

bool VCycleSearch::has(const MultigridMethod& method) const {
  return std::any_of(m_candidates.begin(), m_candidates.end(),
                     [&](const MultigridCandidate& c) { return c.method == method; });
}

void VCycleSearch::consider(const MultigridMethod& method, bool is_free) {
  if (has(method)) return;
  const double left = is_free ? m_budget.first_seconds : m_budget.seconds - (m_seconds() - m_since);
  // A trial takes at least some iterations, which take about as long as those of the first.
  const double least =
      m_candidates.empty() ? 0 : least_trial_iterations * m_candidates.front().iteration_seconds;
  MultigridCandidate candidate;
  if (is_free || left > least) {
    TrialLimits limits{.seconds = left, .share = sample_share * m_budget.seconds};
    if (m_fastest) limits.best = m_candidates[*m_fastest].once;
    candidate = m_try_out(method, limits);
    if (candidate.trial == TrialEnd::unfinished) m_budget_ended = true;
  } else {
    candidate.failure = "not tried: the time for tuning was used up";
    m_budget_ended = true;
  }
  candidate.method = method;
  m_candidates.push_back(std::move(candidate));
  const MultigridCandidate& made = m_candidates.back();
  if (made.verified && made.trial == TrialEnd::measured &&
      (!m_fastest || made.once < m_candidates[*m_fastest].once))
    m_fastest = m_candidates.size() - 1;
}

bool VCycleSearch::is_poor() const {
  return !m_fastest || m_candidates[*m_fastest].digits < poor_digits;
}

std::size_t VCycleSearch::best() const {
  if (m_fastest) {
    const MultigridCandidate& fastest = m_candidates[*m_fastest];
    if (!m_robust || !is_poor()) return *m_fastest;
    const MultigridCandidate& robust = m_candidates[*m_robust];
    const bool may_be_faster = robust.verified && robust.trial == TrialEnd::unfinished &&
                               robust.iteration_seconds < fastest.once * robust.digits;
    return may_be_faster ? *m_robust : *m_fastest;
  }
  if (m_robust && m_candidates[*m_robust].verified) return *m_robust;
  const auto found = std::find_if(m_candidates.begin(), m_candidates.end(),
                                  [](const MultigridCandidate& c) { return c.verified; });
  return found == m_candidates.end() ? 0 : found - m_candidates.begin();
}

}  // namespace nekbone_k
