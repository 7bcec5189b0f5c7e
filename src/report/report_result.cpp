// SPDX-License-Identifier: BSD-3-Clause
// The result of a run: the last section of the terminal report.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/format.hpp"
#include "core/grouping.hpp"
#include "report/report.hpp"
#include "report/report_candidates.hpp"
#include "report/verdict.hpp"
#include "tuning/transfer_probe.hpp"

namespace nekbone_k {
namespace {

template <class Tuning>
auto wrong_candidates(const Tuning& tuning) {
  std::vector<const typename decltype(tuning.candidates)::value_type*> wrong;
  for (const auto& c : tuning.candidates)
    if (c.available && !c.verified) wrong.push_back(&c);
  return wrong;
}

/// How many candidates were excluded `where`, and why the first was; empty if none was. `what` is
/// the noun for candidates.
template <class Tuning>
std::string exclusion_text(const Tuning& tuning, const std::string& where, const char* what) {
  const auto wrong = wrong_candidates(tuning);
  if (wrong.empty()) return "";
  return labelled_line(
      "excluded",
      fmt::format("{}{} of {} {} WRONG and excluded{}; the first, {}: {}", where, wrong.size(),
                  tuning.candidates.size(), what, tuning.selected < 0 ? ", so none is left" : "",
                  wrong.front()->strategy.name, wrong.front()->failure));
}

/// Faults found before and during tuning.
std::string faults_text(const RunRecord& record) {
  std::string text;
  if (const auto& transfers = record.machine.transfers) {
    const auto& entries = transfers->probe.entries;
    const auto wrong = transfers->probe.count_wrong();
    if (wrong > 0)
      text += labelled_line("MPI transfers",
                            fmt::format("{} of {} WRONG; the first: {}", wrong, entries.size(),
                                        failure_text(*first_wrong(*transfers))));
  }
  if (record.all_reduce) text += exclusion_text(*record.all_reduce, "", "all-reduces");
  for (const OrderRecord& order : record.orders) {
    const std::string where = fmt::format("order {}: ", order.order);
    text += exclusion_text(order.tuning, where, "strategies");
    if (!order.on_rank_failure.empty())
      text += labelled_line("on-rank QQ^T", where + order.on_rank_failure);
  }
  return text;
}

std::string interval_text(const Summary& cost) {
  return fmt::format("{} .. {}", seconds_text(cost.low), seconds_text(cost.high));
}

std::string selected_table(const std::vector<OrderRecord>& orders) {
  if (orders.empty()) return "";
  Table table({{"order"}, {"selected strategy", false}, {"cost"}, {"95 % interval", false}});
  for (const OrderRecord& order : orders) {
    std::string number = std::to_string(order.order);
    if (const int n = order.tuning.kind.components; n > 1) number += fmt::format(", {} values", n);
    if (order.tuning.selected < 0) {
      table.add({number, "none", "-", "-"});
      continue;
    }
    const CandidateResult& winner = order.tuning.candidates[order.tuning.selected];
    if (!winner.own_stage()) {
      table.add({number, winner.strategy.name, "-", "nothing to exchange"});
      continue;
    }
    const Summary& cost = winner.own_stage()->cost;
    if (winner.strategy.overlapped && contains_zero(cost))
      table.add({number, winner.strategy.name, "-", "not distinguishable from the work alone"});
    else
      table.add({number, winner.strategy.name, seconds_text(cost.median),
                 interval_text(cost) + (winner.strategy.overlapped ? ", beyond the work alone"
                                                                   : ", the exchange alone")});
  }
  return table.text();
}

std::string all_reduce_line(const AllReduceRecord& tuning) {
  if (tuning.selected < 0) return labelled_line("all-reduce", "none");
  const AllReduceResult& winner = tuning.candidates[tuning.selected];
  std::string text = winner.strategy.name;
  if (winner.timing)
    text += fmt::format(", {} ({})", seconds_text(winner.timing->cost.median),
                        interval_text(winner.timing->cost));
  return labelled_line("all-reduce", text);
}

std::string solve_lines(const SolveRecord& solve) {
  if (solve.iterations == 0) return "";
  return labelled_line("CG", fmt::format("order {}, {}, {} per iteration", solve.order,
                                         counted(solve.iterations, "iteration"),
                                         seconds_text(solve.solve_seconds / solve.iterations))) +
         labelled_line("FOM", figure_of_merit_text(solve));
}

/// Warnings about the machine, then about the run, without repeats.
std::string warnings_text(const RunRecord& record) {
  std::vector<std::string> warnings = record.machine.warnings;
  for (const std::string& warning : record.warnings)
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
      warnings.push_back(warning);
  std::string text;
  for (const std::string& warning : warnings) text += labelled_line("WARNING", warning);
  return text;
}

/// Why no candidate was available, with the reason of the first; empty if one was available.
template <class Tuning>
std::string why_none(const Tuning& tuning) {
  const bool none = std::none_of(tuning.candidates.begin(), tuning.candidates.end(),
                                 [](const auto& c) { return c.available; });
  if (!none || tuning.candidates.empty()) return {};
  const auto& first = tuning.candidates.front();
  if (first.failure.starts_with(first.strategy.name)) return first.failure;  // from the journal
  return fmt::format("{}: {}", first.strategy.name, first.failure);
}

/// why_none() of all orders, with equal reasons grouped.
std::vector<std::string> why_no_strategy(const std::vector<OrderRecord>& orders) {
  Groups<int> reasons;
  for (const OrderRecord& order : orders)
    if (const std::string why = why_none(order.tuning); !why.empty())
      add_to_group(reasons, why, order.order);
  // A flow tunes two fields at its order.
  for (auto& [why, its_orders] : reasons)
    its_orders.erase(std::unique(its_orders.begin(), its_orders.end()), its_orders.end());
  std::vector<std::string> texts;
  for (const auto& [why, its_orders] : reasons)
    texts.push_back(fmt::format("no strategy is available at order{} {}: {}",
                                its_orders.size() == 1 ? "" : "s", fmt::join(its_orders, ", "),
                                why));
  if (!texts.empty())
    texts.push_back("nekbone-k doctor lists the strategies for gather_scatter.strategies");
  return texts;
}

/// The reasons, then PASS or FAIL.
std::string verdict_line(const RunRecord& record, bool has_file) {
  std::vector<std::string> parts;
  if (!has_file)
    parts.push_back(fmt::format("{}{} cannot be written",
                                record.passed ? "all else passed, but " : "",
                                record.input->report_json));
  for (std::string& why : why_no_strategy(record.orders)) parts.push_back(std::move(why));
  if (record.all_reduce)
    if (const std::string why = why_none(*record.all_reduce); !why.empty())
      parts.push_back("no all-reduce is available: " + why);
  if (record.solve) {
    parts.push_back("CG: " + record.solve->verdict);
    for (const auto& [strategy, failure] : record.solve->excluded)
      parts.push_back(strategy + " was right in tuning and WRONG in CG");
    for (const CgMethodResult& candidate : record.solve->methods.candidates)
      if (candidate.available && !candidate.verified && !candidate.failure.empty())
        parts.push_back(name(candidate.method) + ": " + candidate.failure);
  }
  if (record.flow) parts.push_back("flow: " + record.flow->verdict);
  parts.push_back(seconds_text(record.total_seconds) + " in all");
  if (has_file && !record.input->report_json.empty())
    parts.push_back("all samples in " + record.input->report_json);
  return labelled_line(!has_file             ? "FAIL"
                       : record.passed       ? "PASS"
                       : was_stopped(record) ? "STOPPED"
                                             : "FAIL",
                       fmt::format("{}", fmt::join(parts, "; ")));
}

}  // namespace

std::string closing_text(const RunRecord& record, bool has_file) {
  std::string text = fmt::format("\n{}", heading("Result"));
  text += selected_table(record.orders);
  if (record.all_reduce) text += all_reduce_line(*record.all_reduce);
  if (record.solve) text += solve_lines(*record.solve);
  if (record.flow) text += flow_lines(*record.flow);
  text += faults_text(record);
  if (!record.choices_kept.empty()) text += labelled_line("choices", record.choices_kept);
  return text + warnings_text(record) + verdict_line(record, has_file);
}

}  // namespace nekbone_k
