// SPDX-License-Identifier: BSD-3-Clause
// The terminal report of multigrid: the V-cycles that were tried, and the levels of the selected
// one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/format.hpp"
#include "core/grouping.hpp"
#include "report/report.hpp"

namespace nekbone_k {
namespace {

/// Untimed candidates that the usual report shows.
constexpr int always_shown = 6;

std::string orders_text(const std::vector<int>& orders) {
  return fmt::format("{}", fmt::join(orders, " "));
}

std::string note_of(const MultigridCandidate& candidate) {
  if (!candidate.verified) return "excluded";
  if (candidate.trial == TrialEnd::slower) return "slower";
  if (candidate.trial == TrialEnd::unfinished) return "unfinished";
  return candidate.timing && candidate.timing->tie ? "tie" : "";
}

/// The V-cycles that were tried, the fastest first.
std::string candidates_text(const MultigridRecord& record, ReportDetail detail) {
  std::vector<const MultigridCandidate*> tried;
  Groups<std::string> others;  // by reason
  for (const MultigridCandidate& c : record.candidates) {
    if (c.tried())
      tried.push_back(&c);
    else
      add_to_group(others, c.failure, name(c.method));
  }
  std::stable_sort(tried.begin(), tried.end(), [&](const auto* one, const auto* other) {
    if (one->verified != other->verified) return one->verified;
    if (one->timing.has_value() != other->timing.has_value()) return one->timing.has_value();
    if ((one->trial == TrialEnd::measured) != (other->trial == TrialEnd::measured))
      return one->trial == TrialEnd::measured;
    return one->seconds_per_digit() < other->seconds_per_digit();
  });
  const DurationFormat duration(tried.empty() ? 1 : tried.front()->seconds_per_digit());
  Table table({{"smoother", false},
               {"polynomial", false},
               {"degree"},
               {"precision", false},
               {"orders", false},
               {"digits"},
               {"median"},
               {"95 % interval"},
               {"note", false},
               {"selected", false}});
  const std::string rounds =
      record.rounds == 0 ? "each once"
                         : fmt::format("{}, at most {} each", counted(record.rounds, "round"),
                                       counted(record.iterations, "iteration"));
  table.add_text("  ", fmt::format("[{}] per decimal digit of the residual; {}; digits: per "
                                   "iteration",
                                   duration.unit(), rounds));
  int shown = 0, hidden = 0;
  for (const MultigridCandidate* c : tried) {
    if (detail != ReportDetail::full && !c->selected && ++shown > always_shown) {
      ++hidden;
      continue;
    }
    table.add({name(c->method.smoother), name(c->method.polynomial),
               std::to_string(c->method.degree), name(c->method.precision),
               orders_text(c->method.orders), fmt::format("{:.2f}", c->digits),
               c->trial == TrialEnd::measured ? duration.text(c->seconds_per_digit()) : "-",
               c->timing ? duration.interval(c->timing->cost.low, c->timing->cost.high)
               : c->trial == TrialEnd::measured ? "once"
                                                : "-",
               note_of(*c), c->selected ? "SELECTED" : ""});
    if (!c->verified) table.add_text("    ", c->failure);
  }
  if (hidden > 0)
    table.add_text("  ", fmt::format("{} not shown: --full, or the JSON report",
                                     counted(hidden, "slower V-cycle")));
  std::string text = table.text();
  for (const auto& [why, names] : others)
    text += wrap("  ", fmt::format("{} {}", counted(std::ssize(names), "other"), why));
  return text;
}

std::string levels_text(const MultigridRecord& record) {
  if (record.levels.empty()) return "";
  double shortest = record.cycle_seconds;
  for (const MultigridLevel& level : record.levels)
    if (level.seconds > 0) shortest = std::min(shortest, level.seconds);
  const DurationFormat duration(std::max(shortest, record.cycle_seconds / 1000));
  Table table({{"level"},
               {"order"},
               {"elements"},
               {"DOFs"},
               {"largest λ"},
               {"exchange", false},
               {"one exchange"},
               {duration.unit()},
               {"share"}});
  int number = 0;
  for (const MultigridLevel& level : record.levels)
    table.add({std::to_string(++number), std::to_string(level.order),
               fmt::format("{}", fmt::join(level.elements, "x")), std::to_string(level.total_dofs),
               level.is_direct ? "direct" : fmt::format("{:.3g}", level.eigenvalue_bound),
               level.is_replicated      ? "on every rank"
               : level.strategy.empty() ? "none"
                                        : level.strategy,
               level.exchange_seconds ? seconds_text(*level.exchange_seconds) : "-",
               duration.text(level.seconds),
               fmt::format("{:.0f} %", 100 * level.seconds / record.cycle_seconds)});
  std::string text = table.text();
  Groups<std::string> notes;
  number = 0;
  for (const MultigridLevel& level : record.levels) {
    ++number;
    if (!level.origin.cache_note.empty())
      add_to_group(notes, level.origin.cache_note, std::to_string(number));
  }
  for (const auto& [note, levels] : notes)
    text += wrap("    cache: ", fmt::format("level{} {}: {}", levels.size() == 1 ? "" : "s",
                                            fmt::join(levels, ", "), note));
  return text;
}

/// After how many solves multigrid has made up for its set-up.
std::string pays_text(const MultigridRecord& record, double solve_seconds) {
  const JacobiComparison& jacobi = *record.jacobi;
  const std::string took =
      jacobi.converged
          ? fmt::format("CG with Jacobi takes {} in {}", seconds_text(jacobi.seconds),
                        counted(jacobi.iterations, "iteration"))
          : fmt::format("CG with Jacobi was given up after {} in {}",
                        counted(jacobi.iterations, "iteration"), seconds_text(jacobi.seconds));
  const double saved = jacobi.seconds - solve_seconds;
  if (saved <= 0) return took + (jacobi.converged ? "; multigrid does not pay" : "");
  const auto solves = static_cast<std::int64_t>(std::ceil(record.setup_seconds / saved));
  return fmt::format("{}, {}{:.1f} times as long; multigrid's set-up pays after {}{}", took,
                     jacobi.converged ? "" : "more than ", jacobi.seconds / solve_seconds,
                     jacobi.converged ? "" : "at most ",
                     counted(std::max<std::int64_t>(solves, 1), "solve"));
}

}  // namespace

std::string name(const MultigridMethod& method) {
  return fmt::format("{}, {} of degree {}, {}, orders {}", name(method.smoother),
                     name(method.polynomial), method.degree, name(method.precision),
                     orders_text(method.orders));
}

std::string multigrid_text(const MultigridRecord& record, ReportDetail detail) {
  const MultigridCandidate* const selected = record.selected();
  std::string text = fmt::format("\n{}", heading("Multigrid"));
  text += candidates_text(record, detail);
  text += wrap("  Selected: ", selected == nullptr ? "none" : name(selected->method));
  if (!record.why.empty()) text += wrap("    ", record.why);
  if (record.budget_ended)
    text += wrap("    ",
                 "the tuning budget ended before all V-cycles were measured; "
                 "gather_scatter.tuning.budget_seconds sets it");
  if (!record.origin.cache_note.empty()) text += wrap("    cache: ", record.origin.cache_note);
  text += wrap("  ", fmt::format("Tuning of multigrid took {}", seconds_text(record.tune_seconds)));
  if (record.levels.empty()) return text;
  text += "\n" + levels_text(record);
  text += labelled_line("V-cycle",
                        fmt::format("{}, {:.1f} times an application of A in double; set-up {}",
                                    seconds_text(record.cycle_seconds),
                                    record.cycle_seconds / record.operator_seconds,
                                    seconds_text(record.setup_seconds)));
  if (record.launched_cycle_seconds)
    text += labelled_line("replayed",
                          fmt::format("the GPU replays the kernels of a V-cycle; if the host "
                                      "launched them, it would take {}",
                                      seconds_text(*record.launched_cycle_seconds)));
  if (const auto& uniform = record.uniform)
    text += labelled_line(
        "one for all",
        fmt::format("{} at every level takes {} per V-cycle, {:.2f} times the selected",
                    uniform->strategy, seconds_text(uniform->seconds),
                    uniform->seconds / uniform->selected_seconds));
  return text;
}

std::string multigrid_comparison(const SolveRecord& solve) {
  if (!solve.multigrid || !solve.multigrid->jacobi) return "";
  return labelled_line("without", pays_text(*solve.multigrid, solve.solve_seconds));
}

}  // namespace nekbone_k
