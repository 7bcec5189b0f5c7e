#include "app/report_candidates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gs/cost_model.hpp"

namespace nekbone_k {
namespace {

constexpr int model_column = 5;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What to choose a section's unit by: its shortest time, or a hundredth of its longest where that
/// is longer, as costs beyond the work may be noise about zero.
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

std::vector<Table::Column> candidate_columns(const std::string& what, bool has_predictions) {
  std::vector<Table::Column> columns{{what, false}, {"memory", false, 12}, {"verified", false},
                                     {"median"},    {"95 % interval"},     {"model"},
                                     {"ratio"},     {"note", false},       {"selected", false}};
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
                         const std::string& several) {
  const auto right =
      std::count_if(rows.begin(), rows.end(), [](const CandidateRow& row) { return row.verified; });
  const auto missing = static_cast<std::ptrdiff_t>(rows.size()) - right;
  return wrap("  ", fmt::format("{} {} verified, {} not here: see the JSON report", right,
                                right == 1 ? one : several, missing));
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
    if (off) found.push_back(fmt::format("{} {}x its model", row.name, significant(*off, 2)));
  }
  return found;
}

std::string off_model_text(const std::vector<std::string>& off) {
  return off.empty() ? "" : wrap("  Off the model: ", fmt::format("{}", fmt::join(off, ", ")));
}

CandidateTable::CandidateTable(const std::string& what, bool has_predictions)
    : m_has_predictions(has_predictions), m_table(candidate_columns(what, has_predictions)) {}

void CandidateTable::add_row(const CandidateRow& row, const DurationFormat& duration) {
  std::vector<std::string> cells{row.name, row.memory, row.verified ? "yes" : "WRONG"};
  if (row.stage != nullptr) {
    const StageResult& stage = *row.stage;
    cells.push_back(duration.text(stage.cost.median));
    cells.push_back(duration.text(stage.cost.low) + ".." + duration.text(stage.cost.high));
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

void CandidateTable::add_section(const std::vector<CandidateRow>& rows, const std::string& title) {
  if (rows.empty()) return;
  const DurationFormat duration(unit_scale(rows));
  const bool timed =
      std::any_of(rows.begin(), rows.end(), [](const CandidateRow& r) { return r.stage; });
  m_table.add_text("  ", timed ? fmt::format("[{}] {}", duration.unit(), title) : title);
  std::vector<std::pair<std::string, std::string>> missing;  // why, and who is missing for that
  for (const CandidateRow& row : rows) {
    if (row.available) {
      add_row(row, duration);
      continue;
    }
    const std::string why = reason_of(row);
    const auto same = std::find_if(missing.begin(), missing.end(),
                                   [&](const auto& group) { return group.first == why; });
    if (same == missing.end())
      missing.emplace_back(why, row.name);
    else
      same->second += ", " + row.name;
  }
  for (const auto& [why, names] : missing)
    m_table.add_text("  not here: ", fmt::format("{}: {}", names, why));
}

}  // namespace nekbone_k
