#include "app/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>

#include "app/doubts.hpp"
#include "app/format.hpp"
#include "app/machine_record.hpp"
#include "app/memory.hpp"
#include "app/order_run.hpp"
#include "app/process_grid.hpp"
#include "app/progress.hpp"
#include "app/replay.hpp"
#include "app/report.hpp"
#include "app/report_file.hpp"
#include "app/report_json.hpp"
#include "app/transfer_probe.hpp"
#include "app/tuning_watch.hpp"
#include "core/errors.hpp"
#include "core/machine.hpp"
#include "core/memory_bandwidth.hpp"
#include "core/runtime.hpp"
#include "gs/measure_paths.hpp"
#include "gs/strategy_table.hpp"
#include "operators/axhelm.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {
namespace {

/// Prints on rank 0, on a line that the progress bar has left.
void print(const Communicator& comm, Progress& progress, const std::string& text) {
  if (!comm.is_root()) return;
  progress.clear();
  std::fputs(text.c_str(), stdout);  // unlike fmt, goes on where it cannot; main looks in the end
  std::fflush(stdout);
}

/// Does `action` on rank 0; a Failure that it throws is thrown alike on every rank.
template <class Failure, class Action>
void on_root(const Communicator& comm, const Action& action) {
  std::string complaint;
  if (comm.is_root()) {
    try {
      action();
    } catch (const Failure& error) {
      complaint = error.what();
    }
  }
  complaint = comm.broadcast(complaint);
  if (!complaint.empty()) throw Failure(complaint);
}

/// Whether two names are of one file, which need not be there yet; nothing that is no file is, as
/// /dev/null may be written to twice.
bool same_file(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::equivalent(one, other, error)) return fs::is_regular_file(one, error);
  if (fs::exists(one, error) || fs::exists(other, error)) return false;
  // Absolute, as names of which no folder is looked at stay relative.
  const auto place = [&](const std::string& name) {
    return error ? fs::path() : fs::weakly_canonical(fs::absolute(name), error);
  };
  error.clear();
  const fs::path one_place = place(one), other_place = place(other);
  return !error && one_place == other_place;
}

/// Throws InputError if what a run writes would replace its input, or another file that it writes.
void require_files_apart(const Case& input) {
  struct File {
    std::string what, path, place;
  };
  std::vector<File> files{
      {"the input", input.input, input.input},
      {"the journal", input.tuning_journal, input.journal_place},
      {"the JSON report", input.report_json, input.report_place},
  };
  if (input.tuning_mode == TuningMode::cached)
    files.push_back({"the cache of decisions", input.tuning_cache, input.cache_place});
  for (std::size_t f = 1; f < files.size(); ++f)
    for (std::size_t before = 0; before < f; ++before)
      if (same_file(files[f].path, files[before].path))
        throw InputError(
            fmt::format("{}: {} would be written to '{}', which is {}; name another file",
                        files[f].place, files[f].what, files[f].path, files[before].what));
}

/// The JSON report on rank 0, nothing on the others. Throws InputError if it cannot be written, or
/// would replace another file of the run.
std::unique_ptr<ReportFile> open_report(const Communicator& comm, const Case& input) {
  std::unique_ptr<ReportFile> file;
  on_root<InputError>(comm, [&] {
    require_files_apart(input);
    try {
      file = std::make_unique<ReportFile>(input.report_json);
    } catch (const InputError& error) {
      throw InputError(input.report_place + ": " + error.what());
    }
  });
  return file;
}

/// The strategy selected at the solver's order, or nullptr if none was right there.
const Strategy* selected_strategy(const std::vector<OrderRecord>& orders, int order) {
  for (const OrderRecord& record : orders)
    if (record.order == order && record.tuning.selected >= 0)
      return &record.tuning.candidates[record.tuning.selected].strategy;
  return nullptr;
}

/// The right ones that were not selected at the solver's order, by how far they were
/// from the best of the stage that they were made for.
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

/// The solver's order last: CG goes on with what was set up for it.
std::vector<int> orders_to_tune(const Case& input) {
  std::vector<int> orders = input.orders;
  if (!input.solves()) return orders;
  std::erase(orders, input.solver_order);
  orders.push_back(input.solver_order);
  return orders;
}

/// Throws InputError, alike on every rank, if the deformation turns an element inside out at one of
/// the orders. In y and z Kershaw's map has a kink in the middle of the box, and an element that
/// straddles it folds however many there are; where it lies between elements none does.
void require_no_inverted_elements(const Communicator& comm, const Case& input) {
  for (const int order : input.orders) {
    const BoxMesh mesh(input.mesh, order, comm.size(), comm.rank());
    if (comm.all(!has_inverted_elements(mesh))) continue;
    throw InputError(fmt::format(
        "{}: {} with mesh.epsilon {} turns elements of order {} inside out; allowed: {}",
        input.deformation_place, name(input.mesh.deformation), input.mesh.epsilon, order,
        input.mesh.deformation == Deformation::kershaw
            ? "even numbers of mesh.elements in y and z, or mesh.epsilon above 0.5"
            : "a smaller mesh.epsilon, more elements, or a higher order in its place"));
  }
}

/// The right ways to sum that were not selected, by how far they were from the best.
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

bool passed(const RunRecord& record) {
  const auto all_right = [](const auto& candidates) {
    return std::all_of(candidates.begin(), candidates.end(),
                       [](const auto& c) { return c.verified || !c.available; });
  };
  const bool solved = !record.input.solves() ||
                      (record.solve && record.solve->passed && record.solve->left_out.empty());
  return solved && (!record.all_reduce || all_right(record.all_reduce->candidates)) &&
         std::all_of(record.orders.begin(), record.orders.end(),
                     [&](const OrderRecord& order) { return all_right(order.tuning.candidates); });
}

/// Fills in what a record says of the whole run, which began at `begin`. Collective.
void sum_up(const Communicator& comm, double begin, RunRecord& record) {
  record.passed = passed(record);
  record.total_seconds = comm.max(wall_seconds() - begin);
}

/// Chooses how to sum over the ranks. Collective.
void tune_sums(const Communicator& comm, const TuningGuard& guard, Progress& progress,
               RunRecord& record) {
  const Case& input = record.input;
  progress.stage("tuning the sums over ranks");
  record.all_reduce = tune_or_replay(comm, input, record.machine, chosen_all_reduces(input), guard);
  print(comm, progress, all_reduce_text(*record.all_reduce));
}

/// How CG will sum over the ranks; null if there is none to come.
const AllReduceStrategy* selected_sum(const RunRecord& record) {
  if (!record.all_reduce || record.all_reduce->selected < 0) return nullptr;
  return &record.all_reduce->candidates[record.all_reduce->selected].strategy;
}

/// Solves on `discretization`, of the solver's order, by what was selected, if anything was right.
/// `write_so_far` is called with the solution recorded, and more to come. Collective.
void solve_by_selected(const Communicator& comm, Discretization& discretization,
                       const TuningGuard& guard, const std::function<void()>& write_so_far,
                       Progress& progress, RunRecord& record) {
  const Case& input = record.input;
  const Strategy* const strategy = selected_strategy(record.orders, input.solver_order);
  const AllReduceStrategy* const sum = selected_sum(record);
  if (strategy == nullptr || sum == nullptr) return;
  bool is_printed = false;
  const auto print_once = [&] {
    if (!is_printed) print(comm, progress, solve_text(*record.solve, record.machine));
    is_printed = true;
  };
  record.solve = solve(comm, input, discretization,
                       {*strategy, other_strategies(record.orders, input.solver_order), *sum,
                        other_all_reduces(*record.all_reduce)},
                       guard, progress, [&](const SolveRecord& solved) {
                         record.solve = solved;
                         print_once();
                         write_so_far();
                       });
  // One that is kept alone, by the input or on one rank, has nothing to be compared with, either.
  const bool was_chosen = input.audit && input.strategies.size() > 1 && comm.size() > 1;
  for (const OrderRecord& order : record.orders)
    if (order.order == input.solver_order && order.replayed && was_chosen)
      record.solve->why_no_audit = "an earlier run chose, and this one verified no other";
  print_once();
  print(comm, progress, comparisons_text(*record.solve));
}

/// What a dry run says of one order. Collective.
std::string would_tune_text(const Communicator& comm, const Case& input, int order,
                            const MemoryBudget& budget) {
  const BoxMesh mesh(input.mesh, order, comm.size(), comm.rank());
  const Spread elements = comm.spread(static_cast<double>(mesh.box().volume()));
  const TuningMemory memory = tuning_memory(mesh, input);
  const double plain = comm.max(memory.without_operator * budget.sharers);
  const double full = comm.max(memory.with_operator * budget.sharers);
  const bool fits = full <= budget.available;
  const auto overlapped =
      std::count_if(input.strategies.begin(), input.strategies.end(),
                    [](const std::string& name) { return find_strategy(name)->overlapped; });

  std::string text =
      fmt::format("\nWould tune order {}: {}, ", order, counted(mesh.total_dofs(), "DOF"));
  if (elements.min < elements.max) text += fmt::format("{:.0f} to ", elements.min);
  text += fmt::format("{:.0f} element{} a rank\n  {} strateg{}", elements.max,
                      elements.max == 1 ? "" : "s", input.strategies.size(),
                      input.strategies.size() == 1 ? "y" : "ies at most");
  if (overlapped > 0)
    text += fmt::format("; {} of them overlapped with {}", overlapped,
                        fits ? "Ax" : "the on-rank gather-scatter");
  text += fmt::format("; {} a {}\n", bytes_text(fits ? full : plain), budget.place);
  if (!is_compiled_order(order))
    text += fmt::format(
        "  order {} is not compiled: a slower kernel with a run-time order (CMake: "
        "NEKBONE_K_ORDERS)\n",
        order);
  return text;
}

}  // namespace

bool run(const Communicator& comm, const Case& input) {
  const double begin = wall_seconds();
  Progress progress(comm.is_root());
  pretended_ranks_per_node();  // throws, before anything is begun, if it cannot be used
  const NodeLayout layout = find_node_layout(comm);
  RunRecord record;
  record.input = input;
  Case tuned = input;
  tuned.orders = orders_to_tune(input);
  record.grid = list_grids(comm, input);
  const MemoryBudget budget =
      estimate_memory(comm, tuned, layout, selectable_partitions(record.grid));
  require_memory(tuned, budget, comm.size());
  const auto file = open_report(comm, input);
  progress.stage("checking the mesh");
  require_no_inverted_elements(comm, tuned);

  record.machine = make_machine_record(comm);
  const LoadWatch load(comm.rank(), layout, record.machine);
  progress.stage("measuring the memory bandwidth");
  record.machine.bandwidth = measure_memory_bandwidth(comm, layout, budget.available);
  reset_peak_memory();  // what measuring took is not what the case takes
  print(comm, progress, header_text(record));
  TuningWatch watch(comm, input.tuning_journal, input.tuning_patience, record.machine);
  progress.stage("trying MPI's transfers");
  record.machine.transfers = probe_transfers(comm, chosen_strategies(input), watch.guard());
  print(comm, progress, transfers_text(*record.machine.transfers));
  if (!watch.complaint().empty()) record.warnings.push_back(watch.complaint());
  for (std::string& failure : earlier_failures(input, watch.guard()))
    record.warnings.push_back(std::move(failure));
  const TuningGuard guard = without_wrong_transfers(watch.guard(), *record.machine.transfers);
  progress.stage("measuring the machine's paths");
  record.machine.paths = measure_paths(comm, chosen_strategies(input), guard);
  print(comm, progress, paths_text(*record.machine.paths));
  tune_grid(comm, input, record.machine, budget, guard, progress, record.grid);
  record.input.mesh.partition = record.grid.partition();
  print(comm, progress, grid_text(record.grid, comm.size()));
  if (input.solves()) tune_sums(comm, guard, progress, record);
  std::unique_ptr<Discretization> discretization;  // of the latest order
  for (const int order : tuned.orders) {
    discretization.reset();
    release_freed_memory();
    auto [tuning, its_discretization] = tune_order(comm, record.input, record.machine, order,
                                                   selected_sum(record), budget, guard, progress);
    discretization = std::move(its_discretization);
    record.orders.push_back(std::move(tuning));
    print(comm, progress, order_text(record.orders.back()));
  }
  // In case that what comes after the solution does not end well.
  const auto write_so_far = [&] {
    sum_up(comm, begin, record);
    if (comm.is_root()) file->write_for_now(to_json(record));
  };
  if (input.solves())
    solve_by_selected(comm, *discretization, guard, write_so_far, progress, record);
  if (std::string slow = slow_kernels(record.orders); !slow.empty())
    record.warnings.push_back(std::move(slow));
  // Where others were in the way they may be why a choice looks bad.
  if (std::string loaded = load.warning(comm); !loaded.empty())
    record.warnings.push_back(std::move(loaded));
  else if (record.solve)
    for (std::string& regret : regrets(*record.solve)) record.warnings.push_back(std::move(regret));
  sum_up(comm, begin, record);
  record.complete = true;
  print(comm, progress, closing_text(record));
  on_root<OutputError>(comm, [&] { file->write(to_json(record)); });
  if (record.machine.transfers->probe.stuck) {
    comm.barrier();  // rank 0 has written everything
    end_job(static_cast<int>(record.passed ? ExitCode::pass : ExitCode::fail));
  }
  return record.passed;
}

void dry_run(const Communicator& comm, const Case& input) {
  pretended_ranks_per_node();  // throws, before anything is begun, if it cannot be used
  const NodeLayout layout = find_node_layout(comm);
  RunRecord record;
  record.input = input;
  Case tuned = input;
  tuned.orders = orders_to_tune(input);
  record.grid = list_grids(comm, input);
  record.input.mesh.partition = record.grid.partition();
  const MemoryBudget budget =
      estimate_memory(comm, tuned, layout, selectable_partitions(record.grid));

  static_cast<void>(open_report(comm, input));
  // On a machine that is too small for the case, looking at all elements could take hours.
  if (budget.needed() <= budget.available) require_no_inverted_elements(comm, tuned);

  Progress progress(comm.is_root());
  record.machine = make_machine_record(comm);
  print(comm, progress, header_text(record));
  print(comm, progress, would_divide_text(record.grid, input.grid_budget_seconds, comm.size()));
  for (const int order : tuned.orders)
    print(comm, progress, would_tune_text(comm, record.input, order, budget));
  if (input.solves())
    print(comm, progress,
          fmt::format("\nWould solve {} at order {} by CG, {} iterations{}\n"
                      "  {} a {}, of {} that can be had\n",
                      name(input.problem), input.solver_order, input.iterations,
                      input.tolerance > 0 ? " at most" : "", bytes_text(budget.solve), budget.place,
                      bytes_text(budget.available)));
  require_memory(tuned, budget, comm.size());
}

}  // namespace nekbone_k
