// SPDX-License-Identifier: BSD-3-Clause
#include "flow_run/flow_restart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "core/errors.hpp"
#include "flow/step_lengths.hpp"
#include "flow/time_scheme.hpp"
#include "input/input_keys.hpp"
#include "reduce/all_reduce.hpp"

namespace nekbone_k {
namespace {

/// The lines of a text.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Says that a key has another value.
template <class Value>
std::string differs(const char* key, const Value& before, const Value& given) {
  return fmt::format("was written with {} {}, and the input has {}", key, before, given);
}

/// mismatch() of the keys of the flow. The exact solution needs the initial velocity; the path of a
/// file with it may change.
std::string flow_mismatch(const FlowCase& then, const FlowCase& now, int step) {
  const bool have_files = !then.initial_file.empty() && !now.initial_file.empty();
  if (!have_files && then.initial_text() != now.initial_text())
    return differs("flow.initial", then.initial_text(), now.initial_text());
  if (then.initial == FlowKind::taylor_green_2d && then.plane != now.plane)
    return differs("flow.plane", name(then.plane), name(now.plane));
  if (then.translation != now.translation)
    return differs("flow.translation", fmt::format("{}", then.translation),
                   fmt::format("{}", now.translation));
  if (then.time_order != now.time_order)
    return differs("flow.time_order", then.time_order, now.time_order);
  const auto n_start = static_cast<int>(starting_steps(then.time_order, then.dt).size());
  if (then.dt != now.dt && step < n_start)
    return fmt::format(
        "was written among the short steps at the beginning, with flow.dt {}, and the input has {}",
        then.dt, now.dt);
  return {};
}

/// Why a flow cannot continue with another input after `step` steps; empty if it can.
std::string mismatch(const Case& then, const Case& now, int step) {
  const MeshSpec &was = then.mesh, &is = now.mesh;
  if (was.elements != is.elements)
    return differs("mesh.elements", fmt::format("{}", was.elements),
                   fmt::format("{}", is.elements));
  if (was.extent != is.extent)
    return differs("mesh.extent", fmt::format("{}", was.extent), fmt::format("{}", is.extent));
  if (was.deformation != is.deformation)
    return differs("mesh.deformation", name(was.deformation), name(is.deformation));
  if (was.deformation != Deformation::none && was.epsilon != is.epsilon)
    return differs("mesh.epsilon", was.epsilon, is.epsilon);
  // Trilinear elements have straight edges, so that their nodes are elsewhere.
  if (was.deformation != Deformation::none &&
      (was.geometry == Geometry::trilinear) != (is.geometry == Geometry::trilinear))
    return differs("operator.geometry", name(was.geometry), name(is.geometry));
  if (then.solver_order != now.solver_order)
    return differs("solver.order", then.solver_order, now.solver_order);
  return flow_mismatch(then.flow, now.flow, step);
}

/// Says that a checkpoint is later than the end that the input gives; empty if it is not.
std::string beyond_end(const FlowCase& flow, const FlowRestart& restart) {
  if (flow.steps > 0) {
    StepLengths lengths(flow);
    lengths.begin(/*speed=*/1);
    if (restart.step <= lengths.total()) return {};
    return fmt::format("is of step {}, after the last step, {}, with flow.steps {}; give more",
                       restart.step, lengths.total(), flow.steps);
  }
  constexpr double rounding = 1e-9;
  if (restart.time <= flow.end_time * (1 + rounding)) return {};
  return fmt::format("is of time {:.6g}, after flow.end_time {:g}; give a later flow.end_time",
                     restart.time, flow.end_time);
}

/// Pins what `now` leaves open.
void pin_multigrid(const MultigridChoice& then, MultigridChoice& now) {
  const auto pin = [](const auto& was, auto& is) {
    if (!is) is = was;
  };
  pin(then.orders, now.orders);
  pin(then.smoother, now.smoother);
  pin(then.polynomial, now.polynomial);
  pin(then.degree, now.degree);
  pin(then.precision, now.precision);
}

/// Whether `allowed` leaves a choice, and this build has `name` among it.
bool is_allowed(const std::string& name, const std::vector<std::string>& allowed) {
  const AllReduceStrategy* const entry = find_all_reduce(name);
  return allowed.size() > 1 && std::find(allowed.begin(), allowed.end(), name) != allowed.end() &&
         entry != nullptr && entry->not_built.empty();
}

}  // namespace

CheckpointTexts checkpoint_texts(const Communicator& comm, const Case& input,
                                 const FlowChoices& choices) {
  const MultigridMethod& m = choices.multigrid;
  return {{"input", as_input(input).dump()},
          {"choices", fmt::format("solver.multigrid.orders=[{}]\nsolver.multigrid.smoother={}\n"
                                  "solver.multigrid.polynomial={}\nsolver.multigrid.degree={}\n"
                                  "solver.multigrid.precision={}\n",
                                  fmt::join(m.orders, ", "), name(m.smoother), name(m.polynomial),
                                  m.degree, name(m.precision))},
          {"ranks", std::to_string(comm.size())},
          {"partition", fmt::format("{}", fmt::join(choices.partition.blocks, " "))},
          {"vector strategy", choices.vectors},
          {"scalar strategy", choices.scalars},
          {"all-reduce", choices.all_reduce}};
}

void FlowRestart::pin(TunedField& field) const {
  const bool is_vector = field.kind.components > 1;
  const Strategy* const then = find_strategy(is_vector ? vectors : scalars);
  if (then == nullptr || !then->not_built.empty()) return;
  const Strategy strategy = is_vector ? without_overlap(*then) : *then;
  const bool is_candidate =
      std::any_of(field.strategies.begin(), field.strategies.end(),
                  [&](const Strategy& candidate) { return candidate.name == strategy.name; });
  if (is_candidate) field.strategies = {strategy};
}

std::optional<FlowRestart> plan_restart(const Communicator& comm, Case& input) {
  if (input.restart.empty()) return {};
  if (!input.is_flow())
    throw InputError(fmt::format("--restart: given with problem {}; allowed: problem flow",
                                 name(input.problem)));
  try {
    const FlowCheckpoint checkpoint(comm, input.restart);
    std::vector<std::string> overrides = lines_of(checkpoint.text("choices"));
    // The run has its own strategies, and this build may lack those of the earlier one.
    overrides.insert(overrides.end(), {"gather_scatter.strategies=all", "solver.all_reduce=all"});
    const Case then = parse_case(checkpoint.text("input"), input.restart, overrides, any_ranks);
    FlowRestart restart{input.restart, checkpoint.count("steps"), checkpoint.number("time"), "",
                        ""};
    if (const std::string why = mismatch(then, input, restart.step); !why.empty())
      throw InputError(fmt::format(
          "--restart: '{}' {}; give the input of that run, or begin a new flow without --restart",
          input.restart, why));
    if (const std::string why = beyond_end(input.flow, restart); !why.empty())
      throw InputError(fmt::format("--restart: '{}' {}", input.restart, why));
    pin_multigrid(then.multigrid, input.multigrid);
    if (checkpoint.text("ranks") != std::to_string(comm.size())) return restart;
    if (input.partition_mode == PartitionMode::automatic) {
      std::istringstream blocks(checkpoint.text("partition"));
      Partition partition;
      for (int& n : partition.blocks) blocks >> n;
      input.partition_mode = partition.is_grid() ? PartitionMode::grid : PartitionMode::bisection;
      input.mesh.partition = partition;
    }
    if (const std::string sum = checkpoint.text("all-reduce"); is_allowed(sum, input.all_reduces))
      input.all_reduces = {sum};
    restart.vectors = checkpoint.text("vector strategy");
    restart.scalars = checkpoint.text("scalar strategy");
    return restart;
  } catch (const FileError& error) {
    throw InputError(
        fmt::format("--restart: {}; give a checkpoint that this program wrote", error.what()));
  }
}

}  // namespace nekbone_k
