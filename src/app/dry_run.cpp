// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "app/display.hpp"
#include "app/run.hpp"
#include "app/run_files.hpp"
#include "app/run_plan.hpp"
#include "core/format.hpp"
#include "core/grouping.hpp"
#include "core/whole_file.hpp"
#include "flow_run/flow_budget.hpp"
#include "flow_run/flow_checkpoints.hpp"
#include "flow_run/flow_files.hpp"
#include "gs/strategies/node_aware.hpp"
#include "gs/strategy_table.hpp"
#include "machine/limits.hpp"
#include "machine/machine_record.hpp"
#include "operators/axhelm/axhelm.hpp"
#include "report/warnings.hpp"
#include "selection/memory.hpp"
#include "tuning/all_reduce_tuner.hpp"
#include "tuning/decision_cache.hpp"
#include "tuning/tuning_watch.hpp"

namespace nekbone_k {
namespace {

/// What a run would skip, grouped by reason.
struct Skipped {
  Groups<std::string> strategies, all_reduces;
};

bool is_any_left(const Groups<std::string>& skipped, std::size_t count) {
  for (const auto& [why, names] : skipped) count -= names.size();
  return count > 0;
}

/// The line on a run that could not pass; empty if it could.
std::string fail_text(const Case& input, const Skipped& skipped) {
  const auto none = [](const char* what, const Groups<std::string>& groups, const char* key) {
    return labelled_line("FAIL", fmt::format("no {} would be available: {}; change {}", what,
                                             groups.front().first, key));
  };
  if (!is_any_left(skipped.strategies, input.strategies.size()))
    return none("strategy", skipped.strategies, "gather_scatter.strategies");
  if (input.solves() && !is_any_left(skipped.all_reduces, input.all_reduces.size()))
    return none("all-reduce", skipped.all_reduces, "solver.all_reduce");
  return {};
}

/// Finds only reasons that are known before any message. Collective.
Skipped find_skipped(const Communicator& comm, const Case& input, const TuningGuard& journal) {
  const std::string nothing_to_gather = why_nothing_to_gather(nodes_of_ranks(comm));
  Skipped skipped;
  for (const std::string& name : input.strategies) {
    const Strategy& strategy = *find_strategy(name);
    std::string why(strategy.not_built);
    if (why.empty() && strategy.cost.gathered) why = nothing_to_gather;
    if (why.empty()) why = journal.why_excluded(name);
    if (!why.empty()) add_to_group(skipped.strategies, why, name);
  }
  if (!input.solves()) return skipped;
  for (const std::string& name : input.all_reduces) {
    const AllReduceStrategy& strategy = *find_all_reduce(name);
    std::string why(strategy.not_built);
    if (why.empty()) why = why_excluded(journal, strategy);
    if (!why.empty()) add_to_group(skipped.all_reduces, why, name);
  }
  return skipped;
}

/// Why a run could not read or write its cache; empty if it could. Not collective.
std::string cache_fault(const Case& input) {
  const std::string& path = input.tuning_cache;
  if (const std::string why = why_not_replaceable(path); !why.empty())
    return fmt::format("{} cannot be written: {}; a run would keep no choice", path, why);
  return DecisionCache(path).why_unusable();
}

/// The text on strategies that a run would skip and on a cache that it could not use. Collective.
std::string would_skip_text(const Communicator& comm, const Case& input, const Skipped& skipped) {
  const auto section = [](const char* title, const Groups<std::string>& groups) {
    std::string text;
    for (const auto& [why, names] : groups)
      text += wrap("  ", fmt::format("{}: {}", fmt::join(names, ", "), why));
    return text.empty() ? text : fmt::format("\nWould skip {}\n{}", title, text);
  };
  std::string text =
      section("strategies", skipped.strategies) + section("all-reduces", skipped.all_reduces);
  if (input.tuning_mode == TuningMode::cached) {
    const std::string fault = comm.broadcast(comm.is_root() ? cache_fault(input) : "");
    if (!fault.empty())
      text += labelled_line(
          "WARNING", fmt::format("{}: {}", input.place("gather_scatter.tuning.cache"), fault));
  }
  return text;
}

/// The text on one order. Collective.
std::string would_tune_text(const Communicator& comm, const RunPlan& plan, int order) {
  const Case& input = *plan.input;
  const MemoryBudget& budget = plan.budget;
  const BoxMesh mesh(input.mesh.divided_by(plan.grid.partition()), order, comm.size(), comm.rank());
  const Spread elements = comm.spread(static_cast<double>(mesh.box().volume()));
  const TuningMemory memory = tuning_memory(mesh, input);
  const double plain = comm.max(memory.without_operator * budget.sharers);
  const double full = comm.max(memory.with_operator * budget.sharers);
  const bool fits = budget.fits(comm, memory.with_operator);
  // The last field of the order: that of a flow's scalars, which may be overlapped.
  const auto field = std::find_if(plan.fields.rbegin(), plan.fields.rend(),
                                  [&](const TunedField& tuned) { return tuned.order == order; });
  const std::vector<Strategy>& candidates = field->strategies;
  const auto overlapped =
      std::count_if(candidates.begin(), candidates.end(),
                    [](const Strategy& strategy) { return strategy.overlapped; });

  std::string text =
      fmt::format("\nWould tune order {}: {}, ", order, counted(mesh.total_dofs(), "DOF"));
  if (elements.min < elements.max) text += fmt::format("{:.0f} to ", elements.min);
  text += fmt::format("{:.0f} element{} per rank\n  {} strateg{}", elements.max,
                      elements.max == 1 ? "" : "s", candidates.size(),
                      candidates.size() == 1 ? "y" : "ies at most");
  if (overlapped > 0)
    text += fmt::format("; {} of them overlapped with {}", overlapped,
                        fits ? "Ax" : "the on-rank gather-scatter");
  if (input.is_flow()) text += "; for fields of three components, not overlapped, and of one";
  text += fmt::format("; {} per {}\n", bytes_text(fits ? full : plain), budget.place);
  if (!is_compiled_order(order))
    text += fmt::format(
        "  order {} is not compiled: a slower kernel with a run-time order (CMake: "
        "NEKBONE_K_ORDERS)\n",
        order);
  return text;
}

/// E.g. "run the flow from abc at order 9 to time 0.5, in steps of 0.005".
std::string flow_in_words(const Case& input, const std::optional<FlowRestart>& restart) {
  const FlowCase& flow = input.flow;
  const std::string from = restart ? fmt::format("step {}, time {:.6g}, of {},", restart->step,
                                                 restart->time, restart->file)
                                   : flow.initial_text();
  return fmt::format(
      "run the flow from {} at order {} {}, {}", from, input.solver_order,
      flow.steps == 0 ? fmt::format("to time {:g}", flow.end_time)
      : restart ? fmt::format("for {} more", counted(expected_steps(input, restart->step), "step"))
                : fmt::format("for {}", counted(flow.steps, "step")),
      flow.cfl > 0 ? fmt::format("by CFL number {:g} in steps of at most {:g}", flow.cfl, flow.dt)
                   : fmt::format("in steps of {:g}", flow.dt));
}

/// The text on the solve or the flow.
std::string would_solve_text(const RunPlan& plan) {
  const Case& input = *plan.input;
  const MemoryBudget& budget = plan.budget;
  std::string text = fmt::format(
      "\nWould {}\n  {} per {}, {} available",
      input.is_flow() ? flow_in_words(input, plan.restart)
                      : fmt::format("solve {} at order {} by CG, {} iterations{}",
                                    name(input.problem), input.solver_order, input.iterations,
                                    input.tolerance > 0 ? " at most" : ""),
      bytes_text(budget.solve), budget.place, bytes_text(budget.available));
  if (budget.process.left < unlimited)
    text += fmt::format("; {} more per rank, {} left by {}", bytes_text(budget.rank_solve),
                        bytes_text(budget.process.left), budget.process.limit);
  return text + '\n';
}

}  // namespace

bool dry_run(const Communicator& comm, Case given) {
  const RunPlan plan = make_run_plan(comm, std::move(given));
  const Case& input = *plan.input;
  const MemoryBudget& budget = plan.budget;
  static_cast<void>(open_report(comm, input));
  require_free_report(comm, input, plan.separate_jobs);
  require_output(comm, input);
  if (input.is_flow()) check_flow_files(comm, input);
  // If the case does not fit, the dry run shows the memory that it needs before it refuses it.
  if (budget.fits_machine()) require_countable(comm, plan);
  // Checking all elements of a case that does not fit could take hours.
  if (budget.fits()) require_no_inverted_elements(comm, plan);

  RunRecord record;
  record.input = plan.input;
  record.machine = make_machine_record(comm);
  for (const std::string& warning : {plan.separate_jobs, replaced_checkpoint(comm, input),
                                     nothing_exchanged(input, comm.size())})
    if (!warning.empty()) record.machine.warnings.push_back(warning);
  TuningWatch watch(comm, input.tuning_journal, input.tuning_patience, record.machine);
  const Skipped skipped = find_skipped(comm, input, watch);

  Display display(comm, ReportDetail::usual);
  display.show(header_text(record));
  display.show(would_divide_text(plan.grid, input.grid_budget_seconds, comm.size()));
  for (const int order : input.orders_to_tune()) display.show(would_tune_text(comm, plan, order));
  display.show(would_skip_text(comm, input, skipped));
  const std::string failure = fail_text(input, skipped);
  if (input.solves() && failure.empty()) display.show(would_solve_text(plan));
  require_memory(input, budget, comm.size());
  display.show(failure);
  return failure.empty();
}

}  // namespace nekbone_k
