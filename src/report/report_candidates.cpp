// SPDX-License-Identifier: BSD-3-Clause
#include "report/report_candidates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/grouping.hpp"
#include "tuning/predict.hpp"

namespace nekbone_k {
namespace {

constexpr int model_column = 5;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Number of candidates that every table shows, the fastest of a stage.
constexpr std::size_t always_shown = 5;

/// Printed in place of a difference whose interval contains 0.
constexpr const char* indistinguishable = "≈ 0";

/// The cost of the slowest of the `always_shown` fastest candidates.
double slowest_of_the_fastest(const std::vector<CandidateRow>& rows) {
  std::vector<double> costs;
  for (const CandidateRow& row : rows)
    if (row.verified && row.stage != nullptr && std::isfinite(row.stage->cost.median))
      costs.push_back(row.stage->cost.median);
  if (costs.size() <= always_shown) return infinity;
  std::nth_element(costs.begin(), costs.begin() + (always_shown - 1), costs.end());
  return costs[always_shown - 1];
}

/// Whether a candidate is verified, but slow, not selected and not tied.
bool is_hidden(const CandidateRow& row, double slowest) {
  return row.verified && row.stage != nullptr && !row.selected && !row.stage->tie &&
         row.stage->cost.median > slowest;
}

/// The time by which a section chooses its unit: its shortest time, but at least a hundredth of its
/// longest, because costs beyond the work may be noise about zero.
double unit_scale(const std::vector<CandidateRow>& rows) {
  double shortest = 0, longest = 0;
  for (const CandidateRow& row : rows) {
    const double cost = row.stage != nullptr ? std::abs(row.stage->cost.median) : nan;
    if (!std::isfinite(cost)) continue;
    shortest = shortest == 0 ? cost : std::min(shortest, cost);
    longest = std::max(longest, cost);
  }
  return std::max(shortest, longest / 100);
}

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio) || ratio <= 0) return "-";
  return ratio < 1000 ? fmt::format("{:.2f}x", ratio) : fmt::format("{:.1e}x", ratio);
}

std::string reason_of(const CandidateRow& row) {
  return row.failure.empty() ? "no reason given" : row.failure;
}

std::vector<Table::Column> candidate_columns(const std::string& what, const std::string& where,
                                             bool has_predictions) {
  std::vector<Table::Column> columns{{what, false}, {where, false, 12}, {"verified", false},
                                     {"median"},    {"95 % interval"},  {"model"},
                                     {"ratio"},     {"note", false},    {"selected", false}};
  if (!has_predictions) columns.erase(columns.begin() + model_column);
  return columns;
}

}  // namespace

bool nothing_amiss(const std::vector<CandidateRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.verified; }) &&
         std::none_of(rows.begin(), rows.end(),
                      [](const auto& row) { return row.available && !row.verified; });
}

std::string untimed_text(const std::vector<CandidateRow>& rows, const std::string& one,
                         const std::string& several, const std::string& state) {
  const auto right =
      std::count_if(rows.begin(), rows.end(), [](const CandidateRow& row) { return row.verified; });
  const auto missing = static_cast<std::ptrdiff_t>(rows.size()) - right;
  return wrap("  ", fmt::format("{} {} {}, {} not here: see the JSON report", right,
                                right == 1 ? one : several, state, missing));
}

bool has_predictions(const std::vector<CandidateRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const CandidateRow& row) {
    return row.stage != nullptr && row.stage->predicted;
  });
}

std::vector<std::string> off_their_model(const std::vector<CandidateRow>& rows, double added) {
  std::vector<std::string> found;
  for (const CandidateRow& row : rows) {
    if (row.stage == nullptr || !row.stage->predicted) continue;
    const auto off = off_its_model(row.stage->cost.median + added, *row.stage->predicted + added);
    if (off) found.push_back(fmt::format("{} {}x", row.name, significant(*off, 2)));
  }
  return found;
}

std::string off_model_text(const std::vector<std::string>& alone,
                           const std::vector<std::string>& with_work) {
  std::vector<std::string> parts;
  if (!alone.empty()) parts.push_back(fmt::format("{}", fmt::join(alone, ", ")));
  if (!with_work.empty())
    parts.push_back(fmt::format("with the work: {}", fmt::join(with_work, ", ")));
  if (parts.empty()) return "";
  return wrap("  Off the model: ", fmt::format("{} the prediction", fmt::join(parts, "; ")));
}

bool contains_zero(const Summary& difference) {
  return difference.low <= 0 && difference.high >= 0;
}

CandidateTable::CandidateTable(const std::string& what, bool has_predictions, ReportDetail detail,
                               const std::string& where)
    : m_has_predictions(has_predictions),
      m_detail(detail),
      m_table(candidate_columns(what, where, has_predictions)) {}

void CandidateTable::add_row(const CandidateRow& row, const DurationFormat& duration,
                             CostKind kind) {
  std::vector<std::string> cells{row.name, row.memory, row.verified ? "yes" : "WRONG"};
  if (row.stage != nullptr) {
    const StageResult& stage = *row.stage;
    cells.push_back(duration.text(stage.cost.median));
    cells.push_back(kind == CostKind::beyond_work && contains_zero(stage.cost)
                        ? indistinguishable
                        : duration.interval(stage.cost.low, stage.cost.high));
    cells.push_back(stage.predicted ? duration.text(*stage.predicted) : "-");
    cells.push_back(ratio_text(stage.relative_to_best));
    cells.push_back(stage.tie ? "tie" : stage.stopped ? "out" : "");
  } else {
    cells.insert(cells.end(), {"-", "-", "-", "-", ""});
  }
  cells.push_back(row.selected ? "SELECTED" : "");
  if (!m_has_predictions) cells.erase(cells.begin() + model_column);
  m_table.add(std::move(cells));
  if (!row.verified) m_table.add_text("    excluded: ", reason_of(row));
}

void CandidateTable::add_unavailable(const std::vector<CandidateRow>& rows) {
  Groups<std::string> missing;  // by reason
  for (const CandidateRow& row : rows)
    if (!row.available) add_to_group(missing, reason_of(row), row.name);
  for (const auto& [why, names] : missing)
    m_table.add_text("  not here: ", fmt::format("{}: {}", fmt::join(names, ", "), why));
}

void CandidateTable::add_section(const std::vector<CandidateRow>& rows, const std::string& title,
                                 CostKind kind) {
  if (rows.empty()) return;
  const DurationFormat duration(unit_scale(rows));
  const bool timed =
      std::any_of(rows.begin(), rows.end(), [](const CandidateRow& r) { return r.stage; });
  if (m_sections++ > 0) m_table.add_text("", "");
  m_table.add_text("  ", timed ? fmt::format("[{}] {}", duration.unit(), title) : title);
  const double slowest = m_detail == ReportDetail::full ? infinity : slowest_of_the_fastest(rows);
  int hidden = 0;
  bool has_indistinguishable = false;
  for (const CandidateRow& row : rows) {
    if (!row.available) continue;
    if (is_hidden(row, slowest)) {
      ++hidden;
      continue;
    }
    add_row(row, duration, kind);
    has_indistinguishable |=
        kind == CostKind::beyond_work && row.stage != nullptr && contains_zero(row.stage->cost);
  }
  if (has_indistinguishable)
    m_table.add_text("  ", fmt::format("{}: the 95 % interval contains 0; the cost is not "
                                       "distinguishable from the work alone",
                                       indistinguishable));
  if (hidden > 0)
    m_table.add_text("  ", fmt::format("{} not shown: --full, or the JSON report",
                                       counted(hidden, "slower candidate")));
  add_unavailable(rows);
}

}  // namespace nekbone_k
