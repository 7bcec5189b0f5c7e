// SPDX-License-Identifier: BSD-3-Clause
#include "flow_run/flow_history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/statistics.hpp"

namespace nekbone_k {
namespace {

/// Rows that a report keeps, at most; the file has all.
constexpr std::size_t most_rows = 2000;

/// Steps whose times are kept, at most.
constexpr std::size_t most_steps = 20000;

/// The numbers of a row, for checkpoints: all but the reference, which is that of the run.
constexpr std::size_t row_length = 15;

std::array<double, row_length> numbers_of(const FlowRow& row) {
  return {double(row.step),
          row.time,
          row.dt,
          row.energy,
          row.enstrophy,
          row.energy_loss,
          row.dissipation,
          row.divergence,
          row.cfl,
          row.momentum[0],
          row.momentum[1],
          row.momentum[2],
          double(row.pressure_iterations),
          double(row.velocity_iterations),
          row.step_seconds};
}

/// Whether numbers are those of rows. Others may be no integers.
bool are_rows(const std::vector<double>& numbers) {
  if (numbers.size() % row_length != 0) return false;
  for (std::size_t at = 0; at < numbers.size(); at += row_length)
    for (const int i : {0, 12, 13})
      if (!is_count(numbers[at + i])) return false;
  return true;
}

FlowRow row_of(const double* numbers) {
  FlowRow row;
  row.step = static_cast<int>(numbers[0]);
  row.time = numbers[1];
  row.dt = numbers[2];
  row.energy = numbers[3];
  row.enstrophy = numbers[4];
  row.energy_loss = numbers[5];
  row.dissipation = numbers[6];
  row.divergence = numbers[7];
  row.cfl = numbers[8];
  row.momentum = {numbers[9], numbers[10], numbers[11]};
  row.pressure_iterations = static_cast<int>(numbers[12]);
  row.velocity_iterations = static_cast<int>(numbers[13]);
  row.step_seconds = numbers[14];
  return row;
}

}  // namespace

bool FlowHistory::look(const NavierStokes& flow) {
  m_sums = m_elements.sums(flow.velocity());
  return std::isfinite(m_sums.energy) && std::isfinite(m_sums.enstrophy);
}

void FlowHistory::add_row(const NavierStokes& flow, const FlowStep& step) {
  const FlowSums& sums = m_sums;
  FlowRow row;
  row.step = step.number;
  row.time = flow.time();
  row.dt = step.dt;
  row.energy = sums.energy;
  row.enstrophy = sums.enstrophy;
  row.dissipation = 2 * m_input.flow.viscosity * sums.enstrophy;
  row.divergence = sums.divergence;
  row.cfl = sums.speed * step.dt;
  for (int d = 0; d < n_components; ++d) row.momentum[d] = sums.momentum[d];
  row.pressure_iterations = step.pressure.iterations;
  row.velocity_iterations = step.velocity.iterations;
  if (m_last_row.step < row.step) {
    row.energy_loss = (m_last_row.energy - row.energy) / (row.time - m_last_row.time);
    row.step_seconds = m_seconds_since_row / (row.step - m_last_row.step);
  }
  m_seconds_since_row = 0;
  compare(row);
  if (m_files.series) m_files.series->add(row);
  m_last_row = row;
  m_row_thinning.add(m_record.rows, most_rows, row);
}

void FlowHistory::add_step(const FlowStep& step) {
  const std::array<double, 4> here{step.advection_seconds, step.pressure_seconds,
                                   step.velocity_seconds, step.other_seconds};
  std::array<double, 4> slowest = here;
  m_comm.max(slowest);
  const Step made{step, {slowest[0], slowest[1], slowest[2], slowest[3]}};
  m_step_seconds = made.parts.total();
  m_record.seconds += m_step_seconds;
  m_seconds_since_row += m_step_seconds;
  ++m_record.steps;
  m_step_thinning.add(m_steps, most_steps, made);
}

void FlowHistory::sum_up() {
  if (m_record.rows.empty() || m_record.rows.back().step != m_last_row.step)
    m_record.rows.push_back(m_last_row);
  const std::size_t n = m_steps.size(), begin = n / 2;
  m_record.counted_steps = m_record.steps - m_record.steps / 2;
  if (n == 0) return;
  const auto mean = [&](const auto& value) {
    double sum = 0;
    for (std::size_t s = begin; s < n; ++s) sum += value(s);
    return sum / static_cast<double>(n - begin);
  };
  m_record.pressure_iterations =
      mean([&](std::size_t s) { return m_steps[s].made.pressure.iterations; });
  m_record.velocity_iterations =
      mean([&](std::size_t s) { return m_steps[s].made.velocity.iterations; });
  m_record.pressure_first_residual =
      mean([&](std::size_t s) { return m_steps[s].made.pressure.first_residual; });
  m_record.velocity_first_residual =
      mean([&](std::size_t s) { return m_steps[s].made.velocity.first_residual; });
  const auto share = [&](const auto& solve_of) {
    return mean([&](std::size_t s) { return solve_of(m_steps[s].made).projected ? 1 : 0; });
  };
  m_record.pressure_projected = share([](const FlowStep& step) { return step.pressure; });
  m_record.velocity_projected = share([](const FlowStep& step) { return step.velocity; });
  sum_up_parts(begin);
}

void FlowHistory::sum_up_parts(std::size_t begin) {
  std::vector<double> totals;
  std::vector<std::size_t> steps;  // by time
  for (std::size_t s = begin; s < m_steps.size(); ++s) {
    totals.push_back(m_steps[s].parts.total());
    steps.push_back(s);
  }
  m_record.step_seconds = median(totals);
  // Medians of the parts would not add up. The slowest steps may have waited for another process.
  std::sort(steps.begin(), steps.end(), [&](std::size_t one, std::size_t other) {
    return m_steps[one].parts.total() < m_steps[other].parts.total();
  });
  const std::size_t first = steps.size() / 4, last = steps.size() - first;
  const double share = 1.0 / static_cast<double>(last - first);
  std::array<double, 4> bytes{};
  for (std::size_t at = first; at < last; ++at) {
    const auto& [step, seconds] = m_steps[steps[at]];
    m_record.parts.advection += share * seconds.advection;
    m_record.parts.pressure += share * seconds.pressure;
    m_record.parts.velocity += share * seconds.velocity;
    m_record.parts.other += share * seconds.other;
    bytes[0] += share * step.advection_bytes;
    bytes[1] += share * step.pressure_bytes;
    bytes[2] += share * step.velocity_bytes;
    bytes[3] += share * step.other_bytes;
  }
  m_comm.sum(bytes);
  m_record.part_bytes = {bytes[0], bytes[1], bytes[2], bytes[3]};
}

void FlowHistory::compare(FlowRow& row) {
  if (m_files.reference) row.reference = m_files.reference->enstrophy(row.time);
  if (!row.reference || !(*row.reference > 0)) return;
  const double relative = std::abs(row.enstrophy / *row.reference - 1);
  if (m_record.reference_difference && relative <= *m_record.reference_difference) return;
  m_record.reference_difference = relative;
  m_record.reference_time = row.time;
}

void FlowHistory::archive(FlowArchive& archive) {
  std::vector<double> rows, last;
  for (const FlowRow& row : m_record.rows)
    for (const double number : numbers_of(row)) rows.push_back(number);
  for (const double number : numbers_of(m_last_row)) last.push_back(number);
  archive.numbers("rows", rows);
  archive.numbers("last row", last);
  archive.count("number of rows", m_row_thinning.given);
  archive.count("rows kept every", m_row_thinning.every);
  archive.number("seconds since row", m_seconds_since_row);
  archive.require_valid("rows", are_rows(rows));
  archive.require_valid("last row", last.size() == row_length && are_rows(last));
  archive.require_valid("rows kept every", m_row_thinning.every > 0);
  m_record.rows.clear();
  for (std::size_t at = 0; at < rows.size(); at += row_length)
    m_record.rows.push_back(row_of(&rows[at]));
  m_last_row = row_of(last.data());
  for (FlowRow& row : m_record.rows) compare(row);
  compare(m_last_row);
}

}  // namespace nekbone_k
