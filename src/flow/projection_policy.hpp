// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The choice between solves with and without a projection.
#pragma once

#include <string>

#include "core/communicator.hpp"
#include "flow/flow_archive.hpp"

namespace nekbone_k {

/// A solve of a step.
struct FlowSolve {
  int iterations = 0;
  bool converged = false;
  bool projected = false;  ///< a projection improved the guess
  // ‖r‖ / √volume: of the extrapolation, after the projection, and at the end.
  double guess_residual = 0, first_residual = 0, residual = 0;
};

/// What a solve cost.
struct SolveCost {
  /// Doubles per entry that the projection read and wrote, the same on every rank.
  int projection_traffic = 0;
  double projection_seconds = 0;  ///< on this rank
  double solve_seconds = 0;       ///< of CG from the projected guess, on this rank
};

/// Decides whether a projection pays. From time to time it tries a few solves without the
/// projection. If the projection does not save enough iterations, it pauses for many solves. The
/// first solves time the cost of the projection in iterations. Later, the cost follows the traffic,
/// so that a restarted flow decides like an uninterrupted one.
class ProjectionPolicy {
 public:
  /// For spaces of at most `most` vectors. The projection shall save, per solve, `least_saving`
  /// iterations more than it costs. With `always` it never pauses, as deterministic sums need,
  /// because times differ from run to run.
  ProjectionPolicy(int most, bool always, double least_saving = 0)
      : m_most(most),
        m_always(always),
        m_least_saving(least_saving),
        m_until_trial(first_trial * most) {}

  /// Forgets all solves. Not collective.
  void begin() { *this = ProjectionPolicy(m_most, m_always, m_least_saving); }
  /// Whether the next solve shall project.
  bool is_active() const { return m_most > 0 && m_paused == 0 && m_tried_without == 0; }
  /// Whether the corrections are of no use to later solves.
  bool is_paused() const { return m_most == 0 || m_paused > 0; }
  /// Whether the times of the next solve count. Kernels must have ended when a time is taken.
  bool is_timing() const { return is_active() && !m_always && m_cost == 0; }
  /// Counts a solve. Collective.
  void count(const Communicator& comm, const FlowSolve& solve, const SolveCost& cost);
  /// Saves or restores everything but times that are not yet complete. Begins anew if the saved
  /// policy is for another number of vectors. Collective.
  void archive(const std::string& name, FlowArchive& archive);

 private:
  void count_timed(const FlowSolve& solve, const SolveCost& cost);
  /// Seconds of an iteration on this rank. A solve of no iteration takes some time, too.
  double iteration_seconds() const;
  void decide();

  /// Solves per vector: before the first trial and after a pause; in a pause, and before the next
  /// trial if the projection pays.
  static constexpr int first_trial = 2, later_trial = 20;

  int m_most;
  bool m_always;
  double m_least_saving;
  int m_until_trial;        // solves with the projection before the next trial
  int m_tried_without = 0;  // solves that are left of the trial without it
  int m_paused = 0;         // solves that are left of a pause
  // Sums over the last m_most solves before the trial, and over the solves of the trial.
  double m_traffic = 0, m_iterations_with = 0, m_iterations_without = 0;
  double m_cost = 0;  // of a traffic of 1, in iterations; 0: not timed yet
  struct {
    double solves, iterations, squares, seconds, products;  // sums over timed solves
    double traffic, projection_seconds;
  } m_timed{};
};

}  // namespace nekbone_k
