// SPDX-License-Identifier: BSD-3-Clause
// The terminal report of one order: its mesh, halo exchange and tuning.
#include <fmt/format.h>

#include <algorithm>

#include "core/format.hpp"
#include "core/statistics.hpp"
#include "report/report.hpp"
#include "report/report_candidates.hpp"

namespace nekbone_k {
namespace {

std::string mesh_table(const OrderRecord& order) {
  Table table({{"per rank", false}, {"min"}, {"average"}, {"max"}});
  const auto add = [&](const std::string& label, const Spread& s, std::string (*text)(double)) {
    table.add({label, text(s.min), text(s.avg), text(s.max)});
  };
  add("elements", order.elements, count_text);
  add("  at the boundary", order.boundary_elements, count_text);
  add("  in the interior", order.interior_elements, count_text);
  add("owned DOFs", order.owned_dofs, count_text);
  if (order.shared_dofs.max == 0) return table.text();
  add("shared DOFs", order.shared_dofs, count_text);
  add("neighbours", order.neighbours, count_text);
  add(fmt::format("one message ({})", order.tuning.kind.text()), order.message_bytes, bytes_text);
  add("all messages sent", order.sent_bytes, bytes_text);
  return table.text();
}

std::string layouts_text(const MessageLayouts& layouts) {
  return fmt::format("{} of {} messages are contiguous in the field, {} evenly strided, {} indexed",
                     layouts.contiguous, layouts.total(), layouts.strided, layouts.indexed);
}

/// The candidates made for a stage, and any others that the stage timed.
std::vector<CandidateRow> rows_of(const TuningResult& tuning, bool overlapped) {
  std::vector<CandidateRow> rows;
  for (const CandidateResult& c : tuning.candidates) {
    const std::optional<StageResult>& stage = overlapped ? c.with_work : c.alone;
    if (stage || c.strategy.overlapped == overlapped) rows.push_back(candidate_row(c, stage));
  }
  return rows;
}

/// All candidates, each with the stage that it was made for.
std::vector<CandidateRow> all_rows(const TuningResult& tuning) {
  std::vector<CandidateRow> rows;
  for (const CandidateResult& c : tuning.candidates)
    rows.push_back(candidate_row(c, c.own_stage()));
  return rows;
}

std::string alone_title(const TuningResult& tuning) {
  if (tuning.rounds_alone == 0) return "the exchange alone: not timed";
  return fmt::format("the exchange alone; {}, {} in each", counted(tuning.rounds_alone, "round"),
                     counted(tuning.repeats, "exchange"));
}

std::string with_work_title(const TuningResult& tuning) {
  if (tuning.work_alone.empty()) return "with work meanwhile: not timed";
  const std::string portion =
      tuning.work_portion < 1 ? fmt::format("{:.3g} % of ", 100 * tuning.work_portion) : "";
  return fmt::format(
      "with {}{}: cost beyond the work alone (work: {}); ratio of cost plus work; {}", portion,
      tuning.work_name, seconds_text(median(tuning.work_alone)),
      counted(tuning.rounds_with_work, "round"));
}

std::string strategy_table(const TuningResult& tuning, ReportDetail detail) {
  const auto alone = rows_of(tuning, false), with_work = rows_of(tuning, true);
  CandidateTable table("strategy", has_predictions(alone) || has_predictions(with_work), detail);
  table.add_section(alone, alone_title(tuning));
  table.add_section(with_work, with_work_title(tuning), CostKind::beyond_work);
  return table.text();
}

/// The line on candidates that the model predicts badly. With work, both times include the work,
/// because the difference alone may be noise.
std::string off_model_line(const TuningResult& tuning) {
  const double work = tuning.work_alone.empty() ? 0 : median(tuning.work_alone);
  return off_model_text(off_their_model(rows_of(tuning, false)),
                        off_their_model(rows_of(tuning, true), work));
}

/// Why the selected strategy was preferred to candidates that tie with it, by the rule of tune();
/// empty if there are none.
std::string reason_text(const TuningResult& tuning) {
  const CandidateResult& winner = tuning.candidates[tuning.selected];
  const auto stage = winner.with_work ? &CandidateResult::with_work : &CandidateResult::alone;
  const std::optional<StageResult>& found = winner.*stage;
  if (found && !found->tie && found->relative_to_best > 1)
    return wrap("    ", "within 1 % of the best; selected because its exchange alone is faster");
  std::vector<const CandidateResult*> tied, alike;
  for (const CandidateResult& c : tuning.candidates) {
    if (!(c.*stage) || !(c.*stage)->tie) continue;
    tied.push_back(&c);
    if (c.strategy.overlapped == winner.strategy.overlapped) alike.push_back(&c);
  }
  if (!found || !found->tie) return "";
  const bool is_plain = !winner.strategy.overlapped;
  const std::string why = alike.front() != &winner                  ? "its exchange alone is faster"
                          : is_plain || alike.size() == tied.size() ? "it is the simplest"
                          : alike.size() == 1                       ? "it overlaps"
                                              : "it is the simplest that overlaps";
  return wrap("    ", fmt::format("ties with {}; selected because {}",
                                  counted(std::ssize(tied) - 1, "other"), why));
}

std::string winner_text(const TuningResult& tuning) {
  if (tuning.selected < 0)
    return wrap("  Selected: ",
                "none; every strategy is WRONG or unavailable, so this order cannot run");
  std::string text = wrap("  Selected: ", tuning.candidates[tuning.selected].strategy.name);
  text += reason_text(tuning);
  if (const auto& parts = tuning.breakdown)
    text += wrap("    its exchange: ",
                 fmt::format("pack {}, messages {}, unpack {}", seconds_text(parts->pack),
                             seconds_text(parts->exchange), seconds_text(parts->unpack)));
  const Summary& on_rank = tuning.on_rank;
  // One sample has no confidence interval.
  const std::string interval =
      on_rank.low == on_rank.high
          ? ""
          : fmt::format(" ({} .. {})", seconds_text(on_rank.low), seconds_text(on_rank.high));
  text += wrap("    on-rank QQ^T: ", seconds_text(on_rank.median) + interval);
  return text;
}

}  // namespace

std::string order_text(const OrderRecord& order, ReportDetail detail) {
  std::string title = fmt::format("Order {}", order.order);
  if (const int n = order.tuning.kind.components; n > 1)
    title += fmt::format(", {} values per DOF", n);
  std::string text = fmt::format("\n{}", heading(title));
  text += wrap("  ", fmt::format("{}, {}, set up in {}", counted(order.total_dofs, "DOF"),
                                 counted(order.total_local_points, "local point"),
                                 seconds_text(order.setup_seconds)));
  if (!order.compiled)
    text += wrap("  ",
                 "This order was not compiled: the slower kernel with a run-time order ran "
                 "(CMake: NEKBONE_K_ORDERS).");
  text += mesh_table(order);
  const bool shares = order.shared_dofs.max > 0;
  text += wrap("  ", shares ? layouts_text(order.layouts)
                            : "no shared DOFs: nothing to exchange or to time, so the simplest "
                              "strategy is selected");
  const std::vector<CandidateRow> candidates = all_rows(order.tuning);
  if (!shares && nothing_amiss(candidates))
    text += untimed_text(candidates, "strategy", "strategies", "available, with nothing to verify");
  else if (!order.tuning.candidates.empty())
    text += "\n" + strategy_table(order.tuning, detail);
  text += off_model_line(order.tuning);
  text += winner_text(order.tuning);
  if (!order.on_rank_failure.empty()) text += wrap("    ", order.on_rank_failure);
  if (!order.cache_note.empty()) text += wrap("    cache: ", order.cache_note);
  text += wrap("  ",
               fmt::format("Verified in {}, timed in {}", seconds_text(order.tuning.verify_seconds),
                           seconds_text(order.tuning.tune_seconds)));
  return text;
}

}  // namespace nekbone_k
