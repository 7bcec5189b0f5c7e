// SPDX-License-Identifier: BSD-3-Clause
#include "flow/step_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nekbone_k {
namespace {

/// A step that follows a CFL number grows by at most this factor.
constexpr double most_growth = 1.2;

}  // namespace

StepLengths::StepLengths(const FlowCase& flow) : m_flow(flow) {
  // At least three steps, of which the first two are the short ones together.
  const double n = std::max(3.0, std::ceil(flow.end_time / flow.dt - 1e-9));
  m_dt = flow.steps > 0 ? flow.dt : flow.end_time / n;
  if (flow.steps > 0)
    m_left = flow.steps;
  else if (flow.cfl == 0)
    m_left = static_cast<std::int64_t>(n) - 2;
}

void StepLengths::begin(double speed) {
  m_is_begun = true;
  if (m_flow.cfl > 0) m_dt = std::min(m_dt, m_flow.cfl / speed);
  m_start = starting_steps(m_flow.time_order, m_dt);
  if (m_start.empty() && m_flow.cfl == 0 && m_flow.steps == 0) m_left += 2;
}

void StepLengths::archive(FlowArchive& archive, int done, double time) {
  double step = m_dt, left = static_cast<double>(m_left);
  double dt = m_flow.dt, end_time = m_flow.end_time, cfl = m_flow.cfl, steps = m_flow.steps;
  archive.number("step length", step);
  archive.number("steps after the short ones", left);
  archive.number("flow.dt", dt);
  archive.number("flow.end_time", end_time);
  archive.number("flow.cfl", cfl);
  archive.number("flow.steps", steps);
  if (m_is_begun) return;  // it was saved
  archive.require_valid("step length", step > 0);
  archive.require_valid("steps after the short ones", left == -1 || is_count(left));
  m_is_begun = true;
  m_start = starting_steps(m_flow.time_order, step);
  const bool is_same =
      dt == m_flow.dt && end_time == m_flow.end_time && cfl == m_flow.cfl && steps == m_flow.steps;
  if (is_same) m_left = static_cast<std::int64_t>(left);
  if (is_same || m_flow.cfl > 0)
    m_dt = step;
  else if (m_flow.steps == 0)
    divide_rest(done, time, step);
}

void StepLengths::divide_rest(int done, double time, double step) {
  // The short steps that are left keep their lengths.
  for (int s = done; s < n_start(); ++s) time += m_start[s];
  const double rest = m_flow.end_time - time;
  const double n = std::max(0.0, std::ceil(rest / m_flow.dt - 1e-9));
  m_left = std::max(0, done - n_start()) + static_cast<std::int64_t>(n);
  // If only end_time changes, the steps mostly keep their length, and so the flow its bits.
  const bool fits = std::abs(n * step - rest) <= 1e-9 * std::abs(rest);
  m_dt = n == 0 || fits ? step : rest / n;
}

int StepLengths::total() const {
  const double later =
      m_left >= 0 ? static_cast<double>(m_left) : std::ceil(m_flow.end_time / m_dt);
  return static_cast<int>(std::min<double>(n_start() + later, std::numeric_limits<int>::max()));
}

bool StepLengths::is_end(int done, double time) const {
  if (done < n_start()) return false;
  if (m_left >= 0) return done >= n_start() + m_left;
  return m_flow.end_time - time <= 1e-9 * m_flow.end_time;
}

double StepLengths::next(int done, double time, double speed) {
  if (done < n_start()) return m_start[done];
  if (m_flow.cfl == 0) return m_dt;
  m_dt = std::min({m_flow.dt, m_flow.cfl / speed, most_growth * m_dt});
  if (m_flow.steps > 0) return m_dt;
  // The last steps are equal, so that none is very short.
  const double rest = m_flow.end_time - time;
  return rest / std::ceil(rest / m_dt - 1e-9);
}

}  // namespace nekbone_k
