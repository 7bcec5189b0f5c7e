#include "app/report_candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nekbone_k {
namespace {

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

void add_row(Table& table, const CandidateRow& row, const DurationFormat& duration) {
  std::vector<std::string> cells{row.name, row.memory,
                                 row.verified    ? "yes"
                                 : row.available ? "WRONG"
                                                 : "not here"};
  if (row.stage != nullptr) {
    const Summary& cost = row.stage->cost;
    cells.push_back(duration.text(cost.median));
    cells.push_back(duration.text(cost.low) + ".." + duration.text(cost.high));
    cells.push_back(ratio_text(row.stage->relative_to_best));
    cells.push_back(row.stage->tie ? "tie" : row.stage->stopped ? "out" : "");
  } else {
    cells.insert(cells.end(), {"-", "-", "-", ""});
  }
  cells.push_back(row.selected ? "SELECTED" : "");
  table.add(std::move(cells));
  if (!row.verified)
    table.add_text(row.available ? "    excluded: " : "    not here: ",
                   row.failure.empty() ? "no reason given" : row.failure);
}

}  // namespace

Table candidate_table(const std::string& what) {
  return Table({{what, false},
                {"memory", false, 12},
                {"verified", false},
                {"median"},
                {"95 % interval"},
                {"vs best"},
                {"tie", false},
                {"selected", false}});
}

void add_section(Table& table, const std::vector<CandidateRow>& rows, const std::string& title) {
  if (rows.empty()) return;
  const DurationFormat duration(unit_scale(rows));
  const bool timed =
      std::any_of(rows.begin(), rows.end(), [](const CandidateRow& r) { return r.stage; });
  table.add_text("  ", timed ? fmt::format("[{}] {}", duration.unit(), title) : title);
  for (const CandidateRow& row : rows) add_row(table, row, duration);
}

}  // namespace nekbone_k
