// SPDX-License-Identifier: BSD-3-Clause
#include "flow/projection_policy.hpp"

namespace nekbone_k {
namespace {

/// Solves of a trial without the projection.
constexpr int solves_of_trial = 4;

}  // namespace

void ProjectionPolicy::count_timed(const FlowSolve& solve, const SolveCost& cost) {
  m_timed.solves += 1;
  m_timed.iterations += solve.iterations;
  m_timed.squares += double{1} * solve.iterations * solve.iterations;
  m_timed.seconds += cost.solve_seconds;
  m_timed.products += solve.iterations * cost.solve_seconds;
  m_timed.traffic += cost.projection_traffic;
  m_timed.projection_seconds += cost.projection_seconds;
}

double ProjectionPolicy::iteration_seconds() const {
  // The slope of a line through the times of solves over their iterations.
  const double spread = m_timed.solves * m_timed.squares - m_timed.iterations * m_timed.iterations;
  if (spread > 0) {
    const double slope =
        (m_timed.solves * m_timed.products - m_timed.iterations * m_timed.seconds) / spread;
    if (slope > 0) return slope;
  }
  return m_timed.iterations > 0 ? m_timed.seconds / m_timed.iterations : 0;
}

void ProjectionPolicy::count(const Communicator& comm, const FlowSolve& solve,
                             const SolveCost& cost) {
  if (m_most == 0) return;
  if (m_paused > 0) {
    --m_paused;
    return;
  }
  if (m_tried_without > 0) {
    m_iterations_without += solve.iterations;
    if (--m_tried_without == 0) decide();
    return;
  }
  if (is_timing()) count_timed(solve, cost);
  if (m_always) return;
  if (m_until_trial <= m_most) {
    m_iterations_with += solve.iterations;
    m_traffic += cost.projection_traffic;
  }
  if (--m_until_trial > 0) return;
  if (m_cost == 0) {
    const double iteration = iteration_seconds();
    const bool is_known = iteration > 0 && m_timed.traffic > 0;
    // That of the slowest rank, so that all ranks agree.
    m_cost = comm.max(is_known ? m_timed.projection_seconds / m_timed.traffic / iteration : 0);
  }
  m_tried_without = solves_of_trial;
}

void ProjectionPolicy::decide() {
  const double saved = m_iterations_without / solves_of_trial - m_iterations_with / m_most;
  const bool pays = m_cost * m_traffic / m_most + m_least_saving <= saved;
  if (!pays) m_paused = later_trial * m_most;
  m_until_trial = (pays ? later_trial : first_trial) * m_most;
  m_traffic = m_iterations_with = m_iterations_without = 0;
}

void ProjectionPolicy::archive(const std::string& name, FlowArchive& archive) {
  int most = m_most;
  archive.count(name + "/most", most);
  archive.count(name + "/until trial", m_until_trial);
  archive.count(name + "/trial", m_tried_without);
  archive.count(name + "/paused", m_paused);
  archive.number(name + "/traffic", m_traffic);
  archive.number(name + "/iterations with", m_iterations_with);
  archive.number(name + "/iterations without", m_iterations_without);
  archive.number(name + "/cost", m_cost);
  if (most == m_most) return;
  // Trials of a space of another size say little about this one.
  begin();
}

}  // namespace nekbone_k
