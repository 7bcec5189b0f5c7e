// SPDX-License-Identifier: BSD-3-Clause
#include "app/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/display.hpp"
#include "app/order_run.hpp"
#include "app/run_files.hpp"
#include "app/run_plan.hpp"
#include "core/errors.hpp"
#include "core/runtime.hpp"
#include "core/standard_streams.hpp"
#include "core/system.hpp"
#include "flow_run/flow_budget.hpp"
#include "flow_run/flow_checkpoints.hpp"
#include "flow_run/flow_run.hpp"
#include "gs/strategy_table.hpp"
#include "machine/machine_record.hpp"
#include "machine/memory_bandwidth.hpp"
#include "report/report.hpp"
#include "report/report_json.hpp"
#include "report/verdict.hpp"
#include "report/warnings.hpp"
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

/// A run, stage by stage. The stages are collective, and run() calls them in this order.
class Run {
 public:
  Run(const Communicator& comm, Case input, ReportDetail detail)
      : m_comm(comm), m_display(comm, detail), m_plan(make_run_plan(comm, std::move(input))) {
    m_record.input = m_plan.input;
    m_record.grid = m_plan.grid;
  }

  /// Checks what can be checked before anything is measured, and opens the files of the run.
  void prepare() {
    require_size(m_comm, m_plan);
    m_file = open_report(m_comm, input());
    m_lock = lock_report(m_comm, input(), m_plan.separate_jobs);
    require_output(m_comm, input());
    if (input().is_flow())
      m_flow_files = open_flow_files(
          m_comm, input(), m_plan.restart ? std::optional(m_plan.restart->step) : std::nullopt);
    m_display.progress().stage("checking the mesh");
    require_no_inverted_elements(m_comm, m_plan);
  }

  /// Describes and measures the machine. Excludes strategies that need what failed in `trial`.
  void measure_machine(const MpiTrial& trial) {
    MachineRecord& machine = m_record.machine = make_machine_record(m_comm);
    for (const std::string& warning : {m_plan.separate_jobs, replaced_checkpoint(m_comm, input())})
      if (!warning.empty()) {
        m_record.warn(warning);
        machine.warnings.push_back(warning);
      }
    m_record.warn(nothing_exchanged(input(), m_comm.size()));
    m_load.emplace(m_comm.rank(), m_plan.layout, machine);
    if (input().measure_bandwidth) {
      m_display.progress().stage("measuring the memory bandwidth");
      machine.bandwidth = measure_memory_bandwidth(m_comm, m_plan.layout, m_plan.budget.needed(),
                                                   m_plan.budget.available);
      reset_peak_memory();  // exclude the arrays of that measurement
    }
    m_display.show(header_text(m_record));

    m_watch.emplace(m_comm, input().tuning_journal, input().tuning_patience, machine);
    m_display.progress().stage("trying MPI's transfers");
    machine.transfers = probe_transfers(m_comm, input().chosen_strategies(), *m_watch, trial);
    m_display.show(transfers_text(*machine.transfers));
    m_record.warn(m_watch->complaint());
    for (const std::string& failure : earlier_failures(input(), *m_watch)) m_record.warn(failure);
    m_guard.emplace(without_wrong_transfers(*m_watch, *machine.transfers));
    m_display.progress().stage("measuring the machine's paths");
    machine.paths = measure_paths(m_comm, input().chosen_strategies(), *m_guard);
    m_display.show(paths_text(*machine.paths));
  }

  /// Selects the process grid, the all-reduce and the exchange of each field.
  void tune() {
    TunerOptions options = input().tuning;
    double grid_seconds = input().grid_budget_seconds;
    if (input().is_flow()) {
      const FlowRestart begin = m_plan.restart.value_or(FlowRestart{});
      m_flow_tuning = plan_flow_tuning(input(), m_record.machine, begin.step, begin.time);
      options.budget_seconds = m_flow_tuning.budget_seconds;
      grid_seconds = m_flow_tuning.grid_budget_seconds;
    }
    tune_grid(m_comm, input(), grid_seconds, m_record.machine, m_plan.budget, *m_guard,
              m_display.progress(), m_record.grid);
    m_display.show(grid_text(m_record.grid, m_comm.size(), m_display.detail()));
    const MeshSpec mesh = input().mesh.divided_by(m_record.grid.partition());
    if (input().solves()) {
      m_display.progress().stage("tuning the all-reduce");
      m_record.all_reduce = tune_or_replay(m_comm, input(), mesh, options, m_record.machine,
                                           input().chosen_all_reduces(), *m_guard);
      m_display.show(all_reduce_text(*m_record.all_reduce, m_display.detail()));
    }
    for (const TunedField& field : m_plan.fields) {
      m_discretization.reset();
      release_freed_memory();
      auto [tuning, its_discretization] =
          tune_order(m_comm, m_plan, mesh, field, options, m_record.machine, selected_sum(m_record),
                     *m_guard, m_display.progress());
      m_discretization = std::move(its_discretization);
      m_record.orders.push_back(std::move(tuning));
      m_display.show(order_text(m_record.orders.back(), m_display.detail()));
    }
    // A long CG on an idle machine must not hide that the machine was loaded during tuning.
    m_loaded = m_load->warning(m_comm);
  }

  /// Solves or runs the flow with the selected strategies, if there are any.
  void solve() {
    const AllReduceStrategy* const sum = selected_sum(m_record);
    const Strategy* const scalars = selected_strategy(m_record.orders, input().solver_order);
    if (scalars == nullptr || sum == nullptr) return;
    if (input().is_flow())
      run_flow_by(*scalars, *sum);
    else
      solve_by(*scalars, *sum);
  }

  /// Judges the run, keeps its choices, and writes its report.
  ExitCode close() {
    m_record.warn(slow_kernels(m_record.orders));
    if (std::string loaded = m_load->warning(m_comm); !loaded.empty()) m_loaded = loaded;
    m_record.choices_kept = keep_choices(
        m_comm, m_loaded.empty() ? "" : "the machine was loaded while it was measured", m_record);
    m_record.warn(m_loaded);
    // On a loaded machine, the load may make a selection look bad.
    if (m_loaded.empty() && m_record.solve)
      for (const std::string& regret : regrets(*m_record.solve)) m_record.warn(regret);
    sum_up();
    const bool stopped = was_stopped(m_record);
    m_record.complete = !stopped;

    // Write the file first, because the printed result says whether it was written.
    std::string not_written =
        complaint_on_root<OutputError>(m_comm, [&] { m_file->write(to_json(m_record)); });
    if (!input().solves() && !m_record.orders.empty()) m_display.show(means_text(m_record.orders));
    m_display.show_result(closing_text(m_record, not_written.empty()));
    if (m_record.machine.transfers->probe.stuck) end_stuck(m_comm, m_record.passed, not_written);
    if (!not_written.empty()) throw OutputError(not_written);
    return m_record.passed ? ExitCode::pass : stopped ? ExitCode::stopped : ExitCode::fail;
  }

 private:
  const Case& input() const { return *m_plan.input; }

  void solve_by(const Strategy& exchange, const AllReduceStrategy& sum) {
    bool is_printed = false;
    const auto print_once = [&] {
      if (!is_printed)
        m_display.show(solve_text(*m_record.solve, m_record.machine, m_display.detail()));
      is_printed = true;
    };
    // Keep the solution in case the comparisons crash.
    const auto keep = [&](const SolveRecord& solved) {
      m_record.solve = solved;
      print_once();
      sum_up();
      if (m_comm.is_root()) m_file->write_for_now(to_json(m_record));
    };
    m_record.solve =
        nekbone_k::solve(m_comm, input(), *m_discretization,
                         {exchange, other_strategies(m_record.orders, input().solver_order), sum,
                          other_all_reduces(*m_record.all_reduce)},
                         {m_record.machine, m_plan.budget, seconds_of_sum(*m_record.all_reduce)},
                         *m_guard, m_display.progress(), keep);
    // Explain a missing audit only if the run had other strategies to compare with.
    const bool was_chosen = input().audit && input().strategies.size() > 1 && m_comm.size() > 1;
    for (const OrderRecord& order : m_record.orders)
      if (order.order == input().solver_order && order.replayed && was_chosen)
        m_record.solve->why_no_audit =
            "an earlier run selected the strategy, and this run verified no other";
    print_once();
    m_display.show(comparisons_text(*m_record.solve));
  }

  void run_flow_by(const Strategy& scalars, const AllReduceStrategy& sum) {
    const Strategy* const vectors = selected_strategy(m_record.orders, input().solver_order,
                                                      {n_components, Precision::double_});
    if (vectors == nullptr) return;
    m_record.flow = run_flow(
        m_comm, input(), m_discretization->space, m_discretization->factors(),
        {*vectors, scalars, sum},
        {m_record.machine, m_plan.budget, m_begin, m_flow_tuning.budget_seconds, m_plan.restart},
        *m_guard, m_display.progress(), m_flow_files);
    m_record.flow->tuning = m_flow_tuning;
    m_record.flow->tuning.seconds = tuning_seconds(m_record);
    if (m_flow_files.series) m_record.warn(m_flow_files.series->complaint());
    m_record.warn(m_record.flow->checkpoint_failure);
    m_record.warn(m_record.flow->field_failure);
    m_display.show(flow_text(*m_record.flow, m_record.machine.bandwidth, m_display.detail()));
  }

  /// Fills in the results of the whole run so far.
  void sum_up() {
    m_record.passed = has_passed(m_record);
    m_record.total_seconds = m_comm.max(wall_seconds() - m_begin);
  }

  const Communicator& m_comm;
  const double m_begin = wall_seconds();
  Display m_display;
  const RunPlan m_plan;
  std::unique_ptr<ReportFile> m_file;
  std::unique_ptr<ReportLock> m_lock;
  FlowFiles m_flow_files;
  FlowTuning m_flow_tuning;
  RunRecord m_record;
  std::optional<LoadWatch> m_load;
  std::string m_loaded;  ///< a warning, or empty
  std::optional<TuningWatch> m_watch;
  std::optional<NarrowedGuard> m_guard;
  std::unique_ptr<Discretization> m_discretization;  ///< of the last order
};

}  // namespace

ExitCode run(const Communicator& comm, Case input, const MpiTrial& trial, ReportDetail detail) {
  Run run(comm, std::move(input), detail);
  run.prepare();
  run.measure_machine(trial);
  run.tune();
  run.solve();
  return run.close();
}

}  // namespace nekbone_k
