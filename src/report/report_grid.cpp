// SPDX-License-Identifier: BSD-3-Clause
// The terminal report of the process grid.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/format.hpp"
#include "report/report.hpp"

namespace nekbone_k {
namespace {

/// Maximum number of rows for unmeasured grids, unless the report is full. Shows the best
/// predicted.
constexpr std::size_t most_unmeasured = 3;

std::string model_text(const PartitionModel& model, int order) {
  return fmt::format("per rank at most {}, {} and {} sent, at order {}",
                     counted(model.elements, "element"), counted(model.messages, "message"),
                     bytes_text(model.sent_bytes), order);
}

/// The text if there was only one process grid.
std::string one_line_text(const GridRecord& grid, int ranks) {
  if (ranks == 1) return wrap("  ", "One rank has all elements.");
  return wrap("  ", fmt::format("{}, {}: {}", grid.partition().name(), grid.why,
                                model_text(grid.candidates[0].model, grid.order)));
}

std::vector<std::string> cells_of(const GridCandidate& c, std::size_t place, bool selected,
                                  const DurationFormat& duration) {
  const PartitionModel& model = c.model;
  std::vector<std::string> cells{
      model.partition.name() + (model.partition.is_slabs() ? ", slabs" : ""),
      std::to_string(place + 1),
      count_text(static_cast<double>(model.elements)),
      std::to_string(model.messages),
      bytes_text(model.sent_bytes),
      "-",
      "-",
      !c.balanced                 ? "uneven"
      : c.timing && c.timing->tie ? "tie"
                                  : "",
      selected ? "SELECTED" : ""};
  if (c.timing) {
    const Summary& cost = c.timing->cost;
    cells[5] = duration.text(cost.median);
    cells[6] = duration.interval(cost.low, cost.high);
  }
  return cells;
}

std::string grid_table(const GridRecord& grid, const std::string& title, ReportDetail detail) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const GridCandidate& c : grid.candidates)
    if (c.timing) shortest = std::min(shortest, c.timing->cost.median);
  const bool timed = !grid.strategy.empty();
  const DurationFormat duration(timed ? shortest : 1);
  Table table({{"elements divided by", false, 12},
               {"model"},
               {"elements"},
               {"messages"},
               {"sent"},
               {"median"},
               {"95 % interval"},
               {"note", false},
               {"selected", false}});
  table.add_text("  ", timed ? fmt::format("[{}] {}", duration.unit(), title) : title);
  const std::size_t shown = detail == ReportDetail::full ? grid.candidates.size() : most_unmeasured;
  std::size_t unmeasured = 0;
  for (std::size_t c = 0; c < grid.candidates.size(); ++c) {
    const GridCandidate& candidate = grid.candidates[c];
    const bool selected = static_cast<int>(c) == grid.selected;
    if (!candidate.tried && !selected && ++unmeasured > shown) continue;
    table.add(cells_of(candidate, c, selected, duration));
  }
  std::string text = table.text();
  if (unmeasured > shown)
    text += wrap("  ", fmt::format("{} not measured and not shown: --full, or the JSON report",
                                   counted(unmeasured - shown, "division")));
  return text;
}

}  // namespace

std::string grid_text(const GridRecord& grid, int ranks, ReportDetail detail) {
  std::string text = fmt::format("\n{}", heading("Process grid"));
  if (grid.candidates.size() == 1) return text + one_line_text(grid, ranks);
  text += grid_table(grid,
                     grid.strategy.empty()
                         ? fmt::format("by the model at order {}", grid.order)
                         : fmt::format("the exchange at order {} by {}; {}, {} in each", grid.order,
                                       grid.strategy, counted(grid.rounds, "round"), grid.repeats),
                     detail);
  text += wrap("  Selected: ", fmt::format("{}, {}", grid.partition().name(), grid.why));
  if (!grid.strategy.empty())
    text +=
        wrap("  ", fmt::format("Planned in {}, verified in {}, timed in {}",
                               seconds_text(grid.plan_seconds), seconds_text(grid.verify_seconds),
                               seconds_text(grid.tune_seconds)));
  return text;
}

std::string would_divide_text(const GridRecord& grid, double budget, int ranks) {
  const auto tried = std::count_if(grid.candidates.begin(), grid.candidates.end(),
                                   [](const GridCandidate& c) { return c.tried; });
  if (tried < 2) return grid_text(grid, ranks);
  std::string text = "\n" + wrap("", fmt::format("Would measure {} of {} divisions of the "
                                                 "elements among the ranks for {:g} s",
                                                 tried, grid.candidates.size(), budget));
  for (const GridCandidate& c : grid.candidates)
    if (c.tried)
      text += wrap("  ", fmt::format("{}{}: {}", c.model.partition.name(),
                                     c.balanced ? "" : " (for comparison only)",
                                     model_text(c.model, grid.order)));
  return text;
}

}  // namespace nekbone_k
