// SPDX-License-Identifier: BSD-3-Clause
// The terminal report of a flow.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/format.hpp"
#include "report/report.hpp"
#include "report/report_candidates.hpp"

namespace nekbone_k {
namespace {

/// Rows of the table on the terminal, at most.
constexpr std::size_t most_rows = 12;

std::string series_table(const FlowRecord& flow, ReportDetail detail) {
  const bool compares = std::any_of(flow.rows.begin(), flow.rows.end(),
                                    [](const FlowRow& row) { return row.reference.has_value(); });
  std::vector<Table::Column> columns{{"time"}, {"energy"}, {"enstrophy"}};
  if (compares) columns.push_back({"reference"});
  for (const char* const name : {"-dE/dt", "2 nu enstrophy", "max |div u|", "CFL"})
    columns.push_back({name});
  Table table(columns);
  const std::size_t n = flow.rows.size();
  const std::size_t every =
      detail == ReportDetail::full ? 1 : std::max<std::size_t>(1, (n + most_rows - 1) / most_rows);
  for (std::size_t r = 0; r < n; ++r) {
    // The last row, and rows before it at equal distances.
    if ((n - 1 - r) % every != 0) continue;
    const FlowRow& row = flow.rows[r];
    std::vector<std::string> cells{fmt::format("{:.4g}", row.time),
                                   fmt::format("{:.7g}", row.energy),
                                   fmt::format("{:.7g}", row.enstrophy)};
    if (compares) cells.push_back(row.reference ? fmt::format("{:.7g}", *row.reference) : "-");
    cells.push_back(row.step > 0 ? fmt::format("{:.4e}", row.energy_loss) : "-");
    cells.push_back(fmt::format("{:.4e}", row.dissipation));
    cells.push_back(fmt::format("{:.1e}", row.divergence));
    cells.push_back(row.cfl < 100 ? fmt::format("{:.3f}", row.cfl)
                                  : fmt::format("{:.1e}", row.cfl));
    table.add(cells);
  }
  return table.text();
}

/// The time of a step, and a line for each of its parts.
std::string step_text(const FlowRecord& flow, const MemoryBandwidth& memory) {
  std::string text = labelled_line("a step", seconds_text(flow.step_seconds));
  const double total = flow.parts.total();
  const auto add = [&](const char* what, double seconds, double bytes) {
    std::string part =
        fmt::format("{}, {:.0f} %", seconds_text(seconds), total > 0 ? 100 * seconds / total : 0);
    if (seconds > 0 && bytes > 0) {
      part += fmt::format("; at least {}", giga_text(bytes / seconds, "B/s"));
      if (memory.copy > 0)
        part += fmt::format(", {:.0f} % of the copy", 100 * bytes / seconds / memory.copy);
    }
    text += labelled_line(fmt::format("  {}", what), part);
  };
  add("pressure", flow.parts.pressure, flow.part_bytes.pressure);
  add("velocity", flow.parts.velocity, flow.part_bytes.velocity);
  add("advection", flow.parts.advection, flow.part_bytes.advection);
  add("rest", flow.parts.other, flow.part_bytes.other);
  return text;
}

/// What tuning took, and its cap.
std::string tuning_text(const FlowTuning& tuning) {
  const std::string steps =
      tuning.step_seconds
          ? fmt::format("{} expected for {}", seconds_text(*tuning.expected_seconds()),
                        counted(tuning.expected_steps, "step"))
          : "";
  std::string text = seconds_text(tuning.seconds);
  if (!tuning.cap_seconds)
    return text + "; no cap, because " + tuning.why_no_cap + (steps.empty() ? "" : "; " + steps);
  text += fmt::format("; cap {}, {:.0f} % of {}", seconds_text(*tuning.cap_seconds),
                      100 * tuning_share, steps);
  if (tuning.seconds > *tuning.cap_seconds)
    text += "; verification and the minimum number of rounds took longer";
  return text;
}

std::string rate_text(const FlowRecord& flow) {
  return count_text(std::round(flow.points_per_second())) + " points × steps/s";
}

std::string comparison_text(const FlowRecord& flow) {
  std::string text;
  if (flow.error_l2)
    text += labelled_line("error", fmt::format("{:.3e} largest, {:.3e} in the L2 norm, relative to "
                                               "the exact solution",
                                               *flow.error_max, *flow.error_l2));
  if (flow.reference_difference)
    text += labelled_line("reference",
                          fmt::format("enstrophy differs by at most {:.3g} %, at time {:.3g}",
                                      100 * *flow.reference_difference, flow.reference_time));
  return text;
}

const char* word_on(const FlowRecord& flow) {
  return flow.passed ? "PASS" : flow.stopped.empty() ? "FAIL" : "STOPPED";
}

}  // namespace

std::string flow_text(const FlowRecord& flow, const MemoryBandwidth& memory, ReportDetail detail) {
  std::string text;
  if (flow.multigrid) text += multigrid_text(*flow.multigrid, detail);
  text += fmt::format(
      "\n{}", heading(fmt::format("Flow at order {}, viscosity {:g}", flow.order, flow.viscosity)));
  text +=
      labelled_line("size", fmt::format("{}, {} per component", counted(flow.elements, "element"),
                                        counted(flow.total_dofs, "DOF")));
  text += labelled_line(
      "exchanges", fmt::format("vectors by {}, scalars by {}, all-reduce {}", flow.vector_strategy,
                               flow.scalar_strategy, flow.all_reduce));
  if (!flow.rows.empty()) text += series_table(flow, detail) + labelled_line("series", flow.series);
  if (flow.restart)
    text +=
        labelled_line("restart", fmt::format("from step {}, time {:g}, of {}", flow.restart->step,
                                             flow.restart->time, flow.restart->file));
  text += labelled_line("tuning", tuning_text(flow.tuning));
  if (flow.steps > 0) {
    const std::string start =
        flow.start_steps == 0
            ? ""
            : fmt::format(", of which {} short ones at the beginning", flow.start_steps);
    text += labelled_line(
        "steps", fmt::format("{}{}; {}, set-up {}", flow.steps, start, seconds_text(flow.seconds),
                             seconds_text(flow.setup_seconds)));
    text += labelled_line(
        "iterations",
        fmt::format("pressure {:.1f} from a residual of {:.1e}, velocity {:.1f} from {:.1e}; means "
                    "over the last {}",
                    flow.pressure_iterations, flow.pressure_first_residual,
                    flow.velocity_iterations, flow.velocity_first_residual,
                    counted(flow.counted_steps, "step")));
    text += labelled_line(
        "projection", fmt::format("improved the guess of the pressure in {:.0f} % of these steps, "
                                  "of the velocity in {:.0f} %",
                                  100 * flow.pressure_projected, 100 * flow.velocity_projected));
    text += step_text(flow, memory);
    text += labelled_line("FOM", rate_text(flow));
    text += energy_line(flow.energy, flow.steps, "step", flow.total_dofs, "DOF × steps/J");
  }
  text += comparison_text(flow);
  if (flow.checksum)
    text += labelled_line("checksum", fmt::format("{:016x}, of the velocity's bits: the same for "
                                                  "every strategy and number of ranks",
                                                  *flow.checksum));
  if (flow.checkpoints > 0)
    text += labelled_line("checkpoints",
                          fmt::format("{}, the last of step {}, in {}; each took at most {}",
                                      flow.checkpoints, flow.checkpoint_step, flow.checkpoint_file,
                                      seconds_text(flow.checkpoint_seconds)));
  if (flow.field_files > 0)
    text += labelled_line(
        "fields",
        fmt::format("{}, the last {}", counted(flow.field_files, "file"), flow.last_field_file));
  return text + labelled_line(word_on(flow), flow.verdict);
}

std::string flow_lines(const FlowRecord& flow) {
  if (flow.steps == 0) return "";
  return labelled_line("flow",
                       fmt::format("order {}, {}, {} per step", flow.order,
                                   counted(flow.steps, "step"), seconds_text(flow.step_seconds))) +
         labelled_line("FOM", rate_text(flow)) + comparison_text(flow);
}

}  // namespace nekbone_k
