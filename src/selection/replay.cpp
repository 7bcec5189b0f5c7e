// SPDX-License-Identifier: BSD-3-Clause
#include "selection/replay.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/format.hpp"
#include "core/grouping.hpp"
#include "core/peer_memory.hpp"
#include "core/statistics.hpp"
#include "core/system.hpp"
#include "machine/limits.hpp"
#include "tuning/all_reduce_tuner.hpp"

namespace nekbone_k {
namespace {

/// The model of a device: "Cuda 0, NVIDIA H200 at 0000:1b:00" gives "NVIDIA H200".
std::string kind_of(const std::string& device) {
  const std::size_t name = device.find(", "), place = device.rfind(" at ");
  const std::size_t begin = name == std::string::npos ? 0 : name + 2;
  return device.substr(begin, place == std::string::npos ? place : place - begin);
}

const MachinePaths* paths_of(const MachineRecord& machine) {
  return machine.paths ? &*machine.paths : nullptr;
}

std::string or_none(const std::string& version) { return version.empty() ? "none" : version; }

template <class Texts>
std::string joined(const Texts& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string names_of(std::span<const Strategy> strategies) {
  std::vector<std::string_view> names;
  for (const Strategy& strategy : strategies) names.push_back(strategy.name);
  return joined(names);
}

/// Why the ranks must not share a choice, or nothing. The same on every rank. Collective.
std::string disagreement(const Communicator& comm, const DecisionKey& key) {
  const std::string here = fmt::format("{}", fmt::join(key.fields, "\n"));
  const std::vector<std::string> keys = comm.gather(here);
  for (std::size_t r = 1; r < keys.size(); ++r)
    if (keys[r] != keys[0])
      return fmt::format("ranks 0 and {} see different machines or run different programs", r);
  return {};
}

struct CachedChoice {
  std::string strategy;  ///< or partition; empty if none was found
  double cost_seconds = 0;
  std::string note;
};

/// Looks up `key` in the cache on rank 0. Returns the result on every rank. Collective.
CachedChoice look_up(const Communicator& comm, const DecisionCache& cache, const DecisionKey& key) {
  CachedChoice looked;
  if (comm.is_root()) {
    const DecisionCache::Found found = cache.find(key);
    looked.note = found.why_not;
    if (found.decision) {
      looked = {found.decision->strategy, found.decision->cost_seconds,
                fmt::format("{}, chosen {}", cache.path(), found.decision->found)};
    }
  }
  looked.strategy = comm.broadcast(looked.strategy);
  looked.cost_seconds = comm.broadcast(looked.cost_seconds);
  looked.note = comm.broadcast(looked.note);
  return looked;
}

/// Stores a choice. Returns the outcome in words.
std::string store(const Communicator& comm, const DecisionCache& cache, const MadeChoice& made) {
  std::string failure;
  if (comm.is_root()) failure = cache.store(made.key, made.decision);
  failure = comm.broadcast(failure);
  return failure.empty() ? fmt::format("kept in {}", cache.path()) : failure;
}

/// The conditions for which the choice of a partition is valid.
DecisionKey make_grid_key(const Case& input, const MachineRecord& machine, int order) {
  DecisionKey key = make_decision_key(
      input, input.mesh, {order, input.field_kind, input.chosen_strategies()}, machine);
  key.kind = "process grids";
  key.fields.erase("partition");
  return key;
}

/// TuningSummary of tuning: the selected candidate or, if none is right, the first.
struct TuningSummary {
  std::string name, failure;
  bool right = false, available = true;
  double cost = 0;   ///< s; 0 if nothing was timed
  double noise = 0;  ///< s; smaller differences of the cost are noise
};

TuningSummary summary_of(const TuningResult& tuning) {
  const CandidateResult& c = tuning.candidates[std::max(tuning.selected, 0)];
  // An overlapped exchange may cost less than the noise of the work that it overlaps.
  return {c.strategy.name,
          c.failure,
          tuning.selected >= 0,
          c.available,
          c.own_stage() ? c.own_stage()->cost.median : 0,
          tuning.work_alone.empty() ? 0 : 0.1 * median(tuning.work_alone)};
}

TuningSummary summary_of(const AllReduceTuning& tuning) {
  const AllReduceResult& c = tuning.candidates[std::max(tuning.selected, 0)];
  return {c.strategy.name, c.failure, tuning.selected >= 0, c.available,
          c.timing ? c.timing->cost.median : 0};
}

/// Why an earlier choice cannot be taken now, or nothing.
std::string objection(const TuningSummary& outcome, const CachedChoice& looked) {
  if (!outcome.right)
    return fmt::format("{} is {} now: {}", outcome.name,
                       outcome.available ? "WRONG" : "not available", outcome.failure);
  if (outcome.cost <= 1.5 * std::max(looked.cost_seconds, 0.0) + outcome.noise) return {};
  return fmt::format("{} now costs {}, and {} when it was chosen", outcome.name,
                     seconds_text(outcome.cost), seconds_text(looked.cost_seconds));
}

/// A tuning result, whether it is the choice of an earlier run, and if not, the choice to cache.
template <class Tuning>
struct TunedOrReplayed {
  Tuning tuning;
  bool replayed = false;
  std::string note;
  std::optional<MadeChoice> made;
};

/// Takes an earlier choice for `key` if `find` knows it and there is no objection to its timing by
/// `tune`. Otherwise calls `tune` with all of `strategies`. Collective.
template <class AnyStrategy, class Find, class Excluded, class Tune>
auto tune_or_take(const Communicator& comm, const Case& input, const TunerOptions& options,
                  const MachineRecord& machine, const DecisionKey& key,
                  std::span<const AnyStrategy> strategies, const Find& find,
                  const Excluded& is_excluded, const Tune& tune) {
  TunedOrReplayed<decltype(tune(strategies, options))> result;
  if (input.tuning_mode == TuningMode::measure) {
    result.tuning = tune(strategies, options);
    return result;
  }
  const DecisionCache cache(input.tuning_cache);
  std::string why_not = disagreement(comm, key);
  const bool agreed = why_not.empty();
  if (agreed) {
    const CachedChoice looked = look_up(comm, cache, key);
    const AnyStrategy* const found = find(looked.strategy);
    why_not = looked.note;
    if (!looked.strategy.empty() && found == nullptr) {
      why_not = fmt::format("{} names {}, which is no strategy", cache.path(), looked.strategy);
    } else if (found != nullptr) {
      TunerOptions quick = options;
      quick.budget_seconds = std::min(quick.budget_seconds, 0.1);
      result.tuning = tune(std::span(found, 1), quick);
      why_not = objection(summary_of(result.tuning), looked);
      result.replayed = why_not.empty();
      if (result.replayed) {
        result.note = "the choice of " + looked.note;
        return result;
      }
    }
  }
  result.tuning = tune(strategies, options);
  result.note = "measured anew, as " + why_not;
  const TuningSummary outcome = summary_of(result.tuning);
  if (!agreed || !outcome.right) return result;
  // Do not cache a choice made without an excluded strategy. That strategy might win if tried
  // again.
  for (const AnyStrategy& strategy : strategies)
    if (is_excluded(strategy)) {
      result.note += fmt::format("; not kept, because {} was excluded", strategy.name);
      return result;
    }
  result.made = {key, {outcome.name, outcome.cost, machine.started}};
  return result;
}

/// Why the audit in CG rejects a choice, or nothing.
std::string objection_of(const std::optional<Audit>& audit) {
  if (!audit || !audit->is_beaten()) return {};
  return fmt::format("CG would have been faster with {}", audit->strategies[audit->best()].name);
}

/// The nodes of ranks in rank order: numbers of consecutive ranks per node, with nodes numbered by
/// first appearance, e.g. "0: 4, 1: 4". A long text is replaced by its hash.
std::string nodes_in_words(const std::vector<std::string>& hosts) {
  std::map<std::string, std::size_t> numbers;
  std::string text;
  std::uint64_t hash = 0;
  for (std::size_t begin = 0, end = 0; begin < hosts.size(); begin = end) {
    while (end < hosts.size() && hosts[end] == hosts[begin]) ++end;
    const std::size_t number = numbers.emplace(hosts[begin], numbers.size()).first->second;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", number, end - begin);
    hash = (hash ^ (number << 20 ^ (end - begin))) * 0x9e37'79b9'7f4a'7c15ULL;
  }
  constexpr std::size_t longest = 60;
  return text.size() <= longest ? text
                                : fmt::format("{} nodes, layout {:x}", numbers.size(), hash >> 32);
}

}  // namespace

DecisionKey make_decision_key(const Case& input, const MeshSpec& mesh, const TunedField& field,
                              const MachineRecord& machine) {
  std::set<std::string> devices;
  for (const std::string& device : machine.devices) devices.insert(kind_of(device));
  std::set<std::string> bindings(machine.binding.begin(), machine.binding.end());
  std::set<std::string> quotas;
  for (const double cores : machine.cpu_quota)
    quotas.insert(cores < unlimited ? cpu_time_text(cores) : "none");
  return {"exchanges",
          {
              {"elements", joined(mesh.elements)},
              {"periodic", joined(mesh.periodic)},
              {"partition", mesh.partition.name()},
              {"order", std::to_string(field.order)},
              {"components", std::to_string(field.kind.components)},
              {"precision", name(field.kind.precision)},
              {"geometry", name(mesh.geometry)},
              {"sums", input.summation == Summation::deterministic ? "deterministic" : "ordinary"},
              {"strategies", names_of(field.strategies)},
              {"ranks", std::to_string(machine.ranks)},
              {"ranks per node", joined(machine.ranks_per_node)},
              {"nodes of the ranks", nodes_in_words(machine.hosts)},
              {"cores", joined(bindings)},
              {"CPU quotas", joined(quotas)},
              {"threads", std::to_string(machine.concurrency)},
              {"processor", machine.processor},
              {"devices", joined(devices)},
              {"MPI", machine.mpi_library},
              {"backend", machine.backend},
              {"program", machine.version + ", commit " + machine.commit},
              {"compiler", machine.compiler},
              {"build", machine.build_type},
              {"Kokkos", machine.kokkos_version},
              {"GPU runtime", or_none(machine.libraries.device_runtime)},
              {"GPU driver", or_none(machine.libraries.device_driver)},
              {"NCCL", or_none(machine.libraries.nccl)},
              {"NVSHMEM", or_none(machine.libraries.nvshmem)},
              {"pretended ranks per node", std::to_string(pretended_ranks_per_node())},
              {"peer memory on a shared GPU", peer_memory_may_share_gpu() ? "allowed" : "no"},
          }};
}

void tune_or_replay(const Case& input, const ExchangeToTune& exchange, const MachineRecord& machine,
                    GatherScatter& gs, const OverlapWork& work, TuningGuard& guard,
                    OrderRecord& record) {
  const TunedField& field = exchange.field;
  DecisionKey key = make_decision_key(input, exchange.mesh, field, machine);
  key.kind = exchange.kind;
  key.fields["work"] = work.name;
  auto result = tune_or_take(
      gs.communicator(), input, exchange.options, machine, key, std::span(field.strategies),
      find_strategy,
      [&](const Strategy& strategy) { return !guard.why_excluded(strategy.name).empty(); },
      [&](std::span<const Strategy> tried, const TunerOptions& options) {
        return tune(gs, field.kind, tried, work, options, guard, paths_of(machine));
      });
  record.tuning = std::move(result.tuning);
  record.replayed = result.replayed;
  record.cache_note = std::move(result.note);
  record.made = std::move(result.made);
}

AllReduceRecord tune_or_replay(const Communicator& comm, const Case& input, const MeshSpec& mesh,
                               const TunerOptions& options, const MachineRecord& machine,
                               std::span<const AllReduceStrategy> strategies, TuningGuard& guard) {
  DecisionKey key =
      make_decision_key(input, mesh, {input.solver_order, input.field_kind, {}}, machine);
  key.kind = "all-reduces";
  key.fields["strategies"] = joined(input.all_reduces);
  auto result = tune_or_take(
      comm, input, options, machine, key, strategies, find_all_reduce,
      [&](const AllReduceStrategy& strategy) { return !why_excluded(guard, strategy).empty(); },
      [&](std::span<const AllReduceStrategy> tried, const TunerOptions& its_options) {
        return tune_all_reduce(comm, tried, its_options, guard, paths_of(machine));
      });
  return {std::move(result.tuning), result.replayed, std::move(result.note),
          std::move(result.made)};
}

KeptChoice find_kept_choice(const Communicator& comm, const Case& input, const DecisionKey& key) {
  const std::string why_not = disagreement(comm, key);
  if (!why_not.empty()) return {"", why_not, false, 0};
  const CachedChoice looked = look_up(comm, DecisionCache(input.tuning_cache), key);
  return {looked.strategy, looked.note, true, looked.cost_seconds};
}

KeptChoice find_kept_grid(const Communicator& comm, const Case& input, const MachineRecord& machine,
                          int order) {
  return find_kept_choice(comm, input, make_grid_key(input, machine, order));
}

void make_grid_choice(const Case& input, const MachineRecord& machine, const KeptChoice& found,
                      GridRecord& grid) {
  const std::string reason =
      found.name.empty() ? found.note
                         : fmt::format("{} names {}, which is no choice", found.note, found.name);
  grid.why += "; measured anew, as " + reason;
  if (!found.agreed) return;
  const double cost = grid.candidates[grid.selected].timing->cost.median;
  grid.made = {make_grid_key(input, machine, grid.order),
               {grid.partition().name(), cost, machine.started}};
}

DecisionKey make_v_cycle_key(const Case& input, const MeshSpec& mesh,
                             const MachineRecord& machine) {
  DecisionKey key = make_decision_key(
      input, mesh, {input.solver_order, input.field_kind, input.chosen_strategies()}, machine);
  key.kind = "V-cycles";
  const auto pin = [&](const char* name, const auto& value, const auto& text) {
    key.fields[std::string("solver.multigrid.") + name] = value ? text(*value) : "auto";
  };
  const auto named = [](auto value) { return std::string(name(value)); };
  const MultigridChoice& pins = input.multigrid;
  pin("orders", pins.orders, [](const std::vector<int>& orders) { return joined(orders); });
  pin("smoother", pins.smoother, named);
  pin("polynomial", pins.polynomial, named);
  pin("degree", pins.degree, [](int degree) { return std::to_string(degree); });
  pin("precision", pins.precision, named);
  key.fields["solver.multigrid.coarse_dofs"] = std::to_string(pins.coarse_dofs);
  pin("replicated_dofs", pins.replicated_dofs, [](int dofs) { return std::to_string(dofs); });
  // A GPU replays kernels unless the host launches them.
  key.fields["solver.launch"] = input.launch == CgLaunchChoice::host ? "host" : "auto";
  // Convergence depends on the equation and on the shape of the elements.
  key.fields["lambda"] = fmt::format("{}", input.lambda);
  key.fields["problem"] = name(input.problem);
  key.fields["extent"] = joined(mesh.extent);
  key.fields["deformation"] = mesh.deformation == Deformation::none
                                  ? "none"
                                  : fmt::format("{} {}", name(mesh.deformation), mesh.epsilon);
  key.fields["memory limit"] =
      input.memory_limit_gib > 0 ? fmt::format("{} GiB", input.memory_limit_gib) : "none";
  return key;
}

std::string keep_choices(const Communicator& comm, const std::string& unreliable,
                         RunRecord& record) {
  const DecisionCache cache(record.input->tuning_cache);
  Groups<const MadeChoice*> outcomes;  // in words
  const auto keep = [&](const std::optional<MadeChoice>& made, const std::string& its_reason,
                        std::string& note) {
    if (!made) return;
    const std::string& why_not = unreliable.empty() ? its_reason : unreliable;
    const std::string outcome =
        why_not.empty() ? store(comm, cache, *made) : "not kept: " + why_not;
    note += "; " + outcome;
    add_to_group(outcomes, outcome, &*made);
  };
  SolveRecord* const solve = record.solve ? &*record.solve : nullptr;
  keep(record.grid.made, "", record.grid.why);
  if (record.all_reduce)
    keep(record.all_reduce->made, solve ? objection_of(solve->sum_audit) : "",
         record.all_reduce->cache_note);
  for (OrderRecord& order : record.orders) {
    const bool solved_at = solve && solve->order == order.order;
    keep(order.made,
         !solved_at                 ? ""
         : !solve->excluded.empty() ? solve->excluded.front().strategy + " was WRONG in CG"
                                    : objection_of(solve->audit),
         order.cache_note);
  }
  const auto keep_multigrid = [&](std::optional<MultigridRecord>& multigrid,
                                  const std::string& its_reason) {
    if (!multigrid) return;
    keep(multigrid->origin.made, its_reason, multigrid->origin.cache_note);
    for (MultigridLevel& level : multigrid->levels)
      keep(level.origin.made, its_reason, level.origin.cache_note);
  };
  if (solve) keep_multigrid(solve->multigrid, solve->passed ? "" : "CG did not pass with it");
  if (record.flow)
    keep_multigrid(record.flow->multigrid,
                   record.flow->passed ? "" : "the flow did not pass with it");
  std::string text;
  for (const auto& [outcome, choices] : outcomes)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ",
                        counted(std::ssize(choices), "choice"), outcome);
  return text;
}

}  // namespace nekbone_k
