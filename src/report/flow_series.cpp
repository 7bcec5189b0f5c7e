// SPDX-License-Identifier: BSD-3-Clause
#include "report/flow_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "core/errors.hpp"
#include "core/format.hpp"

namespace nekbone_k {

namespace {

constexpr const char* advice_on_series = "name another file";

constexpr const char* series_columns =
    "step,time,dt,energy,enstrophy,reference_enstrophy,energy_loss,dissipation,max_divergence,cfl,"
    "mean_u,mean_v,mean_w,pressure_iterations,velocity_iterations,step_s\n";

/// The rows of a series up to a step; nothing if the file is no series.
std::string rows_until(int step, const std::string& path) {
  std::ifstream file(path);
  std::string line, rows;
  if (!std::getline(file, line) || line + '\n' != series_columns) return {};
  while (std::getline(file, line)) {
    const auto comma = line.find(',');
    if (comma == std::string::npos || std::atoi(line.c_str()) > step) break;
    rows += line + '\n';
  }
  return rows;
}

}  // namespace

SeriesFile::SeriesFile(const std::string& path, std::optional<int> goes_on_after) : m_path(path) {
  const std::string rows = goes_on_after ? rows_until(*goes_on_after, path) : "";
  m_file.open(path, std::ios::trunc);
  if (!m_file)
    throw InputError(fmt::format("'{}' cannot be written: {}; {}", path, std::strerror(errno),
                                 advice_on_series));
  m_file << series_columns << rows << std::flush;
  if (!m_file) throw InputError(fmt::format("'{}' cannot be written; {}", path, advice_on_series));
}

std::string SeriesFile::why_not(const std::string& path) {
  // Appends nothing. Removes the file if there was none.
  std::error_code error;
  const bool is_new = !std::filesystem::exists(path, error);
  const std::ofstream file(path, std::ios::app);
  if (!file)
    return fmt::format("'{}' cannot be written: {}; {}", path, std::strerror(errno),
                       advice_on_series);
  if (is_new) std::filesystem::remove(path, error);
  return {};
}

void SeriesFile::add(const FlowRow& row) {
  m_file << fmt::format(
                "{},{:.10g},{:.10g},{:.15e},{:.15e},{},{:.8e},{:.8e},{:.4e},{:.5f},{:.4e},{:.4e},"
                "{:.4e},{},{},{:.4e}\n",
                row.step, row.time, row.dt, row.energy, row.enstrophy,
                row.reference ? fmt::format("{:.10e}", *row.reference) : "", row.energy_loss,
                row.dissipation, row.divergence, row.cfl, row.momentum[0], row.momentum[1],
                row.momentum[2], row.pressure_iterations, row.velocity_iterations, row.step_seconds)
         << std::flush;
}

std::string SeriesFile::complaint() const {
  return m_file ? "" : fmt::format("rows are missing in '{}', which could not be written", m_path);
}

FlowReference::FlowReference(const std::string& text, const std::string& source) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line = line.substr(0, line.find('#'));
    std::replace(line.begin(), line.end(), ',', ' ');
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream words(line);
    double time = 0, energy = 0, dissipation = 0, enstrophy = 0;
    words >> time >> energy >> dissipation >> enstrophy;
    if (!words || !std::isfinite(time) || !std::isfinite(enstrophy))
      throw InputError(fmt::format(
          "{}:{}: needs four numbers: time, energy, dissipation and enstrophy", source, number));
    if (!(enstrophy > 0))
      throw InputError(
          fmt::format("{}:{}: the enstrophy, the fourth number, is {:g}; it must be "
                      "positive",
                      source, number, enstrophy));
    if (!m_times.empty() && time <= m_times.back())
      throw InputError(fmt::format("{}:{}: time {:g} follows time {:g}; times must rise", source,
                                   number, time, m_times.back()));
    m_times.push_back(time);
    m_enstrophy.push_back(enstrophy);
  }
  if (m_times.size() < 4)
    throw InputError(
        fmt::format("{}: has {} of time, energy, dissipation and enstrophy; needs at least 4",
                    source, counted(std::ssize(m_times), "line")));
}

std::optional<double> FlowReference::enstrophy(double time) const {
  // A run may end a rounding error behind the last time.
  const double slack = 1e-9 * (m_times.back() - m_times.front());
  if (time < m_times.front() - slack || time > m_times.back() + slack) return {};
  const auto above = std::upper_bound(m_times.begin(), m_times.end(), time) - m_times.begin();
  const auto last = static_cast<std::ptrdiff_t>(m_times.size()) - 4;
  const std::ptrdiff_t first = std::clamp<std::ptrdiff_t>(above - 2, 0, last);
  double value = 0;
  for (std::ptrdiff_t i = first; i < first + 4; ++i) {
    double weight = 1;
    for (std::ptrdiff_t other = first; other < first + 4; ++other)
      if (other != i) weight *= (time - m_times[other]) / (m_times[i] - m_times[other]);
    value += weight * m_enstrophy[i];
  }
  return value;
}

}  // namespace nekbone_k
