// SPDX-License-Identifier: BSD-3-Clause
#include "app/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "app/display.hpp"
#include "app/order_run.hpp"
#include "app/run_files.hpp"
#include "app/run_plan.hpp"
#include "core/errors.hpp"
#include "core/runtime.hpp"
#include "core/standard_streams.hpp"
#include "core/system.hpp"
#include "gs/strategy_table.hpp"
#include "machine/machine_record.hpp"
#include "machine/memory_bandwidth.hpp"
#include "report/report.hpp"
#include "report/report_json.hpp"
#include "report/verdict.hpp"
#include "report/warnings.hpp"
#include "flow_run/flow_checkpoints.hpp"
#include "flow_run/flow_run.hpp"
#include "selection/process_grid.hpp"
#include "selection/replay.hpp"
#include "tuning/measure_paths.hpp"
#include "tuning/transfer_probe.hpp"
#include "tuning/tuning_watch.hpp"

namespace nekbone_k {
namespace {

/// The strategy selected at the solver's order for a kind of field; nullptr if none was right.
const Strategy* selected_strategy(const std::vector<OrderRecord>& orders, int order,
                                  const FieldKind& kind = {}) {
  for (const OrderRecord& record : orders)
    if (record.order == order && record.tuning.kind == kind && record.tuning.selected >= 0)
      return &record.tuning.candidates[record.tuning.selected].strategy;
  return nullptr;
}

/// The verified strategies that were not selected at the solver's order. Sorted by their cost
/// relative to the best of their own stage.
std::vector<Strategy> other_strategies(const std::vector<OrderRecord>& orders, int order) {
  std::vector<const CandidateResult*> others;
  for (const OrderRecord& record : orders)
    if (record.order == order)
      for (const CandidateResult& c : record.tuning.candidates)
        if (c.verified && !c.selected && c.own_stage()) others.push_back(&c);
  std::stable_sort(others.begin(), others.end(), [](const auto* one, const auto* other) {
    return one->own_stage()->relative_to_best < other->own_stage()->relative_to_best;
  });
  std::vector<Strategy> strategies;
  for (const CandidateResult* c : others) strategies.push_back(c->strategy);
  return strategies;
}

/// The verified all-reduces that were not selected, sorted by cost.
std::vector<AllReduceStrategy> other_all_reduces(const AllReduceTuning& tuning) {
  std::vector<const AllReduceResult*> others;
  for (const AllReduceResult& c : tuning.candidates)
    if (c.verified && !c.selected && c.timing) others.push_back(&c);
  std::stable_sort(others.begin(), others.end(), [](const auto* one, const auto* other) {
    return one->timing->relative_to_best < other->timing->relative_to_best;
  });
  std::vector<AllReduceStrategy> strategies;
  for (const AllReduceResult* c : others) strategies.push_back(c->strategy);
  return strategies;
}

std::vector<AllReduceStrategy> chosen_all_reduces(const Case& input) {
  std::vector<AllReduceStrategy> chosen;
  for (const std::string& name : input.all_reduces) chosen.push_back(*find_all_reduce(name));
  return chosen;
}

/// Ends a run with unfinished messages, for which MPI_Finalize would wait. `not_written` says why
/// there is no report. Collective.
[[noreturn]] void end_stuck(const Communicator& comm, bool passed, std::string not_written) {
  if (not_written.empty()) not_written = comm.broadcast(why_not_printed());
  if (comm.is_root() && !not_written.empty())
    print_on_stderr(fmt::format("nekbone-k: {}\n", not_written));
  comm.barrier();  // until rank 0 has written everything
  end_job(static_cast<int>(!not_written.empty() ? ExitCode::internal
                           : passed             ? ExitCode::pass
                                                : ExitCode::fail));
}

/// Fills in the results of the whole run, which began at `begin`. Collective.
void sum_up(const Communicator& comm, double begin, RunRecord& record) {
  record.passed = has_passed(record);
  record.total_seconds = comm.max(wall_seconds() - begin);
}

/// Selects the all-reduce. Collective.
void tune_sums(const Communicator& comm, TuningGuard& guard, Display& display, RunRecord& record) {
  const Case& input = record.input;
  display.progress().stage("tuning the all-reduce");
  record.all_reduce = tune_or_replay(comm, input, record.grid.partition(), record.machine,
                                     chosen_all_reduces(input), guard);
  display.show(all_reduce_text(*record.all_reduce, display.detail()));
}

/// The all-reduce of CG; null without CG or if none was right.
const AllReduceStrategy* selected_sum(const RunRecord& record) {
  if (!record.all_reduce || record.all_reduce->selected < 0) return nullptr;
  return &record.all_reduce->candidates[record.all_reduce->selected].strategy;
}

/// The time of the selected all-reduce; 0 if it was not timed, as on one rank.
double seconds_of_sum(const AllReduceTuning& tuning) {
  const auto& timing = tuning.candidates[tuning.selected].timing;
  return timing ? timing->cost.median : 0;
}

/// Solves with the selected strategies, if there are any. `discretization` must have the solver's
/// order. Calls `write_so_far` when the solution is recorded but comparisons follow. Collective.
void solve_by_selected(const Communicator& comm, Discretization& discretization,
                       const MemoryBudget& memory, TuningGuard& guard,
                       const std::function<void()>& write_so_far, Display& display,
                       RunRecord& record) {
  const Case& input = record.input;
  const Strategy* const strategy = selected_strategy(record.orders, input.solver_order);
  const AllReduceStrategy* const sum = selected_sum(record);
  if (strategy == nullptr || sum == nullptr) return;
  bool is_printed = false;
  const auto print_once = [&] {
    if (!is_printed) display.show(solve_text(*record.solve, record.machine, display.detail()));
    is_printed = true;
  };
  record.solve = solve(comm, input, discretization,
                       {*strategy, other_strategies(record.orders, input.solver_order), *sum,
                        other_all_reduces(*record.all_reduce)},
                       {record.machine, memory, seconds_of_sum(*record.all_reduce)}, guard,
                       display.progress(), [&](const SolveRecord& solved) {
                         record.solve = solved;
                         print_once();
                         write_so_far();
                       });
  // Explain a missing audit only if the run had other strategies to compare with.
  const bool was_chosen = input.audit && input.strategies.size() > 1 && comm.size() > 1;
  for (const OrderRecord& order : record.orders)
    if (order.order == input.solver_order && order.replayed && was_chosen)
      record.solve->why_no_audit =
          "an earlier run selected the strategy, and this run verified no other";
  print_once();
  display.show(comparisons_text(*record.solve));
}

/// Runs the flow with the selected strategies, if there are any. Collective.
void flow_by_selected(const Communicator& comm, Discretization& discretization,
                      const FlowConditions& conditions, TuningGuard& guard, FlowFiles& files,
                      Display& display, RunRecord& record) {
  const Case& input = record.input;
  const Strategy* const vectors =
      selected_strategy(record.orders, input.solver_order, {n_components, Precision::double_});
  const Strategy* const scalars = selected_strategy(record.orders, input.solver_order);
  const AllReduceStrategy* const sum = selected_sum(record);
  if (vectors == nullptr || scalars == nullptr || sum == nullptr) return;
  record.flow = run_flow(comm, input, discretization.space, discretization.factors(),
                         {*vectors, *scalars, *sum}, conditions, guard, display.progress(), files);
  if (files.series) record.warn(files.series->complaint());
  record.warn(record.flow->checkpoint_failure);
  record.warn(record.flow->field_failure);
  display.show(flow_text(*record.flow, display.detail()));
}

}  // namespace

ExitCode run(const Communicator& comm, Case input, const MpiTrial& trial, ReportDetail detail) {
  const double begin = wall_seconds();
  Display display(comm, detail);
  const std::optional<FlowRestart> restart = plan_restart(comm, input);
  const RunPlan plan = make_run_plan(comm, input);
  require_size(comm, plan);
  const auto file = open_report(comm, input);
  const auto lock = lock_report(comm, input, plan.separate_jobs);
  require_output(comm, input);
  FlowFiles flow_files;
  if (input.is_flow())
    flow_files =
        open_flow_files(comm, input, restart ? std::optional(restart->step) : std::nullopt);
  display.progress().stage("checking the mesh");
  require_no_inverted_elements(comm, plan);

  RunRecord record;
  record.input = input;
  record.grid = plan.grid;
  record.machine = make_machine_record(comm);
  record.warn(plan.separate_jobs);
  if (!plan.separate_jobs.empty()) record.machine.warnings.push_back(plan.separate_jobs);
  record.warn(nothing_exchanged(input, comm.size()));
  const LoadWatch load(comm.rank(), plan.layout, record.machine);
  if (input.measure_bandwidth) {
    display.progress().stage("measuring the memory bandwidth");
    record.machine.bandwidth =
        measure_memory_bandwidth(comm, plan.layout, plan.budget.needed(), plan.budget.available);
    reset_peak_memory();  // exclude the arrays of that measurement
  }
  display.show(header_text(record));

  TuningWatch watch(comm, input.tuning_journal, input.tuning_patience, record.machine);
  display.progress().stage("trying MPI's transfers");
  record.machine.transfers = probe_transfers(comm, input.chosen_strategies(), watch, trial);
  display.show(transfers_text(*record.machine.transfers));
  record.warn(watch.complaint());
  for (const std::string& failure : earlier_failures(input, watch)) record.warn(failure);
  NarrowedGuard guard = without_wrong_transfers(watch, *record.machine.transfers);
  display.progress().stage("measuring the machine's paths");
  record.machine.paths = measure_paths(comm, input.chosen_strategies(), guard);
  display.show(paths_text(*record.machine.paths));

  tune_grid(comm, input, record.machine, plan.budget, guard, display.progress(), record.grid);
  display.show(grid_text(record.grid, comm.size(), detail));
  if (input.solves()) tune_sums(comm, guard, display, record);
  const MeshSpec mesh = input.mesh.divided_by(record.grid.partition());
  std::unique_ptr<Discretization> discretization;  // of the last order
  for (const auto& [order, kind] : input.fields_to_tune()) {
    discretization.reset();
    release_freed_memory();
    Case of_kind = input;
    of_kind.field_kind = kind;
    if (restart) restart->pin(of_kind);
    auto [tuning, its_discretization] =
        tune_order(comm, of_kind, mesh, order, record.machine, selected_sum(record), plan.budget,
                   guard, display.progress());
    discretization = std::move(its_discretization);
    record.orders.push_back(std::move(tuning));
    display.show(order_text(record.orders.back(), detail));
  }
  // A long CG on an idle machine must not hide that the machine was loaded during tuning.
  const std::string loaded_while_tuning = load.warning(comm);

  // Keep the solution in case the comparisons crash.
  const auto write_so_far = [&] {
    sum_up(comm, begin, record);
    if (comm.is_root()) file->write_for_now(to_json(record));
  };
  if (input.is_flow())
    flow_by_selected(comm, *discretization, {record.machine, plan.budget, begin, restart}, guard,
                     flow_files, display, record);
  else if (input.solves())
    solve_by_selected(comm, *discretization, plan.budget, guard, write_so_far, display, record);
  record.warn(slow_kernels(record.orders));
  std::string loaded = load.warning(comm);
  if (loaded.empty()) loaded = loaded_while_tuning;
  record.choices_kept = keep_choices(
      comm, input, loaded.empty() ? "" : "the machine was loaded while it was measured", record);
  record.warn(loaded);
  // On a loaded machine, the load may make a selection look bad.
  if (loaded.empty() && record.solve)
    for (const std::string& regret : regrets(*record.solve)) record.warn(regret);
  sum_up(comm, begin, record);
  const bool stopped = was_stopped(record);
  record.complete = !stopped;

  // Write the file first, because the printed result says whether it was written.
  std::string not_written =
      complaint_on_root<OutputError>(comm, [&] { file->write(to_json(record)); });
  if (!input.solves() && !record.orders.empty()) display.show(means_text(record.orders));
  display.show_result(closing_text(record, not_written.empty()));
  if (record.machine.transfers->probe.stuck) end_stuck(comm, record.passed, not_written);
  if (!not_written.empty()) throw OutputError(not_written);
  return record.passed ? ExitCode::pass : stopped ? ExitCode::stopped : ExitCode::fail;
}

}  // namespace nekbone_k
