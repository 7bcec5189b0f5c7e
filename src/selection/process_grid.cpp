// SPDX-License-Identifier: BSD-3-Clause
#include "selection/process_grid.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/format.hpp"
#include "core/region.hpp"
#include "core/statistics.hpp"
#include "core/waiting.hpp"
#include "selection/replay.hpp"
#include "tuning/plan_timing.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

/// Maximum number of balanced partitions to measure, and of those with equal predictions, e.g. one
/// shape in several directions. The best slabs come on top.
constexpr int most_tried = 6, most_alike = 3;
/// Minimum number of rounds, even beyond the budget.
constexpr int least_grid_rounds = 5;
/// Planning stops after this time, s, but not before two partitions are planned.
constexpr double most_planning = 3;
/// Minimum relative saving for which a partition replaces an earlier one in the list.
constexpr double worth_changing = 0.1;
/// Bytes per DOF sent: of each plan, without messages and field, and of the set-up of one plan.
constexpr double plan_bytes = 60, planning_bytes = 256;

void choose_tried(std::vector<GridCandidate>& candidates) {
  int tried = 0;
  bool slabs = false;
  for (GridCandidate& c : candidates) {
    const bool first_slabs = !slabs && c.model.partition.is_slabs();
    slabs |= first_slabs;
    const auto alike = std::count_if(candidates.begin(), candidates.end(), [&](const auto& other) {
      return other.tried && other.model.messages == c.model.messages &&
             other.model.sent_bytes == c.model.sent_bytes;
    });
    c.tried = first_slabs || (c.balanced && tried < most_tried && alike < most_alike);
    if (c.tried && c.balanced) ++tried;
  }
}

MeshSpec divided(const Case& input, const GridCandidate& candidate) {
  return input.mesh.divided_by(candidate.model.partition);
}

/// Bytes on this rank to measure `tried` with any one of the case's strategies.
double measuring_memory(const Communicator& comm, const Case& input, int order,
                        const std::vector<GridCandidate*>& tried) {
  int buffers = 0;
  for (const std::string& name : input.strategies)
    buffers = std::max(buffers, find_strategy(name)->buffers);
  double all = 0, largest = 0;
  for (const GridCandidate* c : tried) {
    const auto sent =
        static_cast<double>(halo_size(divided(input, *c), order, comm.size(), comm.rank()).sent);
    all += sent;
    largest = std::max(largest, sent);
  }
  return all * (plan_bytes + (1.0 + buffers) * input.field_kind.item_bytes()) +
         largest * planning_bytes;
}

std::shared_ptr<const DeviceHaloPlan> plan_of(const Communicator& comm, const MeshSpec& spec,
                                              int order) {
  const BoxMesh mesh(spec, order, comm.size(), comm.rank());
  std::vector<GlobalId> ids;
  for (const LatticePoint& p : mesh.sharing_candidates()) ids.push_back(mesh.global_id(p));
  return std::make_shared<DeviceHaloPlan>(make_halo_plan(comm, ids));
}

/// Plans the exchanges of `tried` in sequence. When time runs out, removes the rest from `tried`.
std::vector<std::shared_ptr<const DeviceHaloPlan>> make_plans(const Communicator& comm,
                                                              const Case& input, int order,
                                                              std::vector<GridCandidate*>& tried) {
  const double begin = wall_seconds();
  std::vector<std::shared_ptr<const DeviceHaloPlan>> plans;
  while (plans.size() < tried.size()) {
    if (plans.size() >= 2 && comm.broadcast(wall_seconds() - begin) > most_planning) break;
    plans.push_back(plan_of(comm, divided(input, *tried[plans.size()]), order));
  }
  for (std::size_t c = plans.size(); c < tried.size(); ++c) tried[c]->tried = false;
  tried.resize(plans.size());
  return plans;
}

/// Measures `tried` for `seconds` with the case's first strategy that is available, right and
/// timeable. Returns why there is none, or nothing.
std::string measure(const Communicator& comm, const Case& input, double seconds, TuningGuard& guard,
                    Progress& progress, std::vector<GridCandidate*>& tried, GridRecord& grid) {
  double at = wall_seconds();
  const auto seconds_since_last = [&] {
    const double before = at;
    at = wall_seconds();
    return comm.max(at - before);
  };
  progress.stage(fmt::format("planning {} process grids", tried.size()));
  const auto plans = make_plans(comm, input, grid.order, tried);
  grid.plan_seconds += seconds_since_last();

  progress.stage("tuning the process grid");
  // Verify with the neighbours of the first grid but few DOFs. Tuning verifies each order anyway.
  Verifier verifier(comm, plan_of(comm, divided(input, *tried.front()), 1));
  std::string last_failure = "no strategy is available and right";
  for (const std::string& name : input.strategies) {
    const Strategy& strategy = *find_strategy(name);
    const auto verify = [&] {
      return verifier.verify(strategy, guard.patience(), input.field_kind);
    };
    const bool right = verify_candidate(name, guard.why_excluded(name), guard, verify).verified;
    grid.verify_seconds += seconds_since_last();
    if (!right) continue;
    PlanTiming timing =
        time_plans(comm, plans, input.field_kind, strategy, seconds, least_grid_rounds, guard);
    grid.tune_seconds += seconds_since_last();
    if (!timing.failure.empty()) {
      last_failure = fmt::format("{}: {}", name, timing.failure);
      continue;
    }
    grid.strategy = name;
    grid.rounds = timing.rounds;
    grid.repeats = timing.repeats;
    for (std::size_t c = 0; c < tried.size(); ++c) tried[c]->timing = std::move(timing.stages[c]);
    return {};
  }
  return last_failure;
}

}  // namespace

GridRecord list_grids(const Communicator& comm, const Case& input) {
  GridRecord grid;
  grid.order = input.solves() ? input.solver_order
                              : *std::max_element(input.orders.begin(), input.orders.end());
  const int dof_bytes = input.field_kind.item_bytes();
  if (input.partition_mode != PartitionMode::automatic) {
    grid.candidates = {{model_partition(comm, input.mesh, grid.order, dof_bytes)}};
    grid.why = "as mesh.partition says";
    return grid;
  }
  for (const PartitionModel& model : model_partitions(comm, input.mesh, grid.order, dof_bytes))
    grid.candidates.push_back({model});
  const std::int64_t least = grid.candidates.front().model.elements;
  for (GridCandidate& c : grid.candidates) c.balanced = c.model.elements == least;
  if (grid.candidates.size() == 1) {
    grid.why = "there is no other";
  } else if (input.grid_budget_seconds > 0) {
    choose_tried(grid.candidates);
    grid.why = "the best by the model";
  } else {
    grid.why =
        "the best by the model; none is measured, as gather_scatter.tuning.grid_budget_seconds is "
        "0";
  }
  return grid;
}

std::vector<Partition> selectable_partitions(const GridRecord& grid) {
  std::vector<Partition> partitions{grid.partition()};
  for (const GridCandidate& c : grid.candidates)
    if (c.tried && c.balanced) partitions.push_back(c.model.partition);
  return partitions;
}

void tune_grid(const Communicator& comm, const Case& input, double seconds,
               const MachineRecord& machine, const MemoryBudget& budget, TuningGuard& guard,
               Progress& progress, GridRecord& grid) {
  const Region region("tune grid");
  std::vector<GridCandidate*> tried;
  int most_messages = 0;
  for (GridCandidate& c : grid.candidates)
    if (c.tried) {
      tried.push_back(&c);
      most_messages = std::max(most_messages, c.model.messages);
    }
  if (tried.size() < 2) return;
  const auto measure_if_it_fits = [&](std::vector<GridCandidate*>& measured) -> std::string {
    if (most_messages == 0) return "nothing is shared";
    const double on_rank = measuring_memory(comm, input, grid.order, measured);
    const double bytes = comm.max(on_rank * budget.sharers);
    if (bytes > budget.available)
      return fmt::format("that takes {} per {}", bytes_text(bytes), budget.place);
    if (const double most = comm.max(on_rank); most > budget.process.left)
      return fmt::format("that takes {} per rank, and {} leaves {}", bytes_text(most),
                         budget.process.limit, bytes_text(budget.process.left));
    return measure(comm, input, seconds, guard, progress, measured, grid);
  };

  KeptChoice kept;
  if (input.tuning_mode == TuningMode::cached) {
    kept = find_kept_grid(comm, input, machine, grid.order);
    const auto found =
        std::find_if(grid.candidates.begin(), grid.candidates.end(), [&](const GridCandidate& c) {
          return c.balanced && c.model.partition.name() == kept.name;
        });
    if (found != grid.candidates.end()) {
      const auto selected = static_cast<int>(found - grid.candidates.begin());
      std::string objection;
      std::vector<GridCandidate*> both{&grid.candidates.front(), &*found};
      // If these two cannot be measured, neither can the others, so the choice is taken.
      if (selected > 0 && measure_if_it_fits(both).empty())
        objection = objection_to_kept(grid.candidates, selected);
      if (objection.empty()) {
        grid.selected = selected;
        grid.replayed = true;
        grid.why = "the choice of " + kept.note;
        return;
      }
      for (GridCandidate* measured : both) measured->timing.reset();
      kept = {.name = "", .note = objection, .agreed = kept.agreed, .cost_seconds = 0};
    }
  }
  const std::string failure = measure_if_it_fits(tried);
  if (!failure.empty()) {
    grid.why = "the best by the model; none is measured: " + failure;
    return;
  }
  grid.selected = judge_grids(grid.candidates);
  const auto faster = [&](const GridCandidate& c) {
    return c.timing && c.timing->cost.median < grid.candidates[grid.selected].timing->cost.median;
  };
  const auto eligible =
      std::count_if(grid.candidates.begin(), grid.candidates.end(),
                    [](const GridCandidate& c) { return c.timing && c.balanced; });
  grid.why = grid.candidates[grid.selected].timing->tie ? "the best by the model of those that tie"
             : std::none_of(grid.candidates.begin(), grid.candidates.end(), faster) ? "the fastest"
             : eligible == 1 ? "the only one in which no rank has more elements than necessary"
                             : "the fastest of those that divide the elements evenly";
  if (input.tuning_mode == TuningMode::cached) make_grid_choice(input, machine, kept, grid);
}

int judge_grids(std::vector<GridCandidate>& candidates) {
  const GridCandidate* best = nullptr;
  for (GridCandidate& c : candidates) {
    if (!c.timing) continue;
    c.timing->cost = summarize(c.timing->samples);
    if (c.balanced && (best == nullptr || c.timing->cost.median < best->timing->cost.median))
      best = &c;
  }
  const StageResult& fastest = *best->timing;
  std::vector<int> tied;
  for (std::size_t p = 0; p < candidates.size(); ++p) {
    if (!candidates[p].timing) continue;
    StageResult& timing = *candidates[p].timing;
    timing.relative_to_best = timing.cost.median / fastest.cost.median;
    const bool same = is_tie(timing.samples, fastest.samples, for_ever) ||
                      timing.relative_to_best <= 1 + worth_changing;
    if (candidates[p].balanced && same) tied.push_back(static_cast<int>(p));
  }
  for (const int p : tied) candidates[p].timing->tie = tied.size() > 1;
  return tied.front();
}

std::string objection_to_kept(std::vector<GridCandidate>& candidates, int kept) {
  const GridCandidate& best = candidates[judge_grids(candidates)];
  const GridCandidate& candidate = candidates[kept];
  if (&best == &candidate || candidate.timing->tie) return {};
  return fmt::format("an exchange takes {} where the elements are divided {}, and {} where {}",
                     seconds_text(candidate.timing->cost.median), candidate.model.partition.name(),
                     seconds_text(best.timing->cost.median), best.model.partition.name());
}

}  // namespace nekbone_k
