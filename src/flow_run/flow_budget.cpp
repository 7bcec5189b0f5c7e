// SPDX-License-Identifier: BSD-3-Clause
#include "flow_run/flow_budget.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "flow/step_lengths.hpp"
#include "mesh/gll.hpp"

namespace nekbone_k {
namespace {

/// Measured on flows of order 7 (docs/tuning.md): doubles per DOF and step that move at the copy
/// bandwidth, and kernels per step.
constexpr double values_per_step = 600, launches_per_step = 400;

/// The CFL number per unit of time of a velocity of size 1 along each direction.
double usual_speed(const Case& input) {
  const std::vector<double> nodes = make_gll_basis(input.solver_order).nodes;
  const double gap = (nodes[1] - nodes[0]) / 2;  // in elements
  double speed = 0;
  for (int d = 0; d < 3; ++d)
    speed += (1 + std::abs(input.flow.translation[d])) * input.mesh.elements[d] /
             (input.mesh.extent[d] * gap);
  return speed;
}

/// Why the tuning of a flow has no cap; empty if it has one.
std::string why_no_cap(const Case& input, const FlowTuning& tuning) {
  if (input.budget_given) return "the input gives gather_scatter.tuning.budget_seconds";
  if (input.tuning_mode == TuningMode::cached) return "later runs use the cached choices, too";
  if (!tuning.step_seconds)
    return "the memory bandwidth is not known, as with report.bandwidth false";
  return {};
}

}  // namespace

int expected_steps(const Case& input, int done, double time) {
  const FlowCase& flow = input.flow;
  const double speed = usual_speed(input);
  StepLengths lengths(flow);
  lengths.begin(speed);
  if (done == 0 || flow.steps > 0) return std::max(0, lengths.total() - done);
  // The steps of the earlier run may have had another length, so count by time.
  const double step = flow.cfl > 0 ? std::min(flow.dt, flow.cfl / speed) : flow.dt;
  const double left = std::max(0, lengths.n_start() - done) +
                      std::max(0.0, std::ceil((flow.end_time - time) / step - 1e-9));
  return static_cast<int>(std::min<double>(left, std::numeric_limits<int>::max()));
}

double expected_step_seconds(double dofs, double copy_bandwidth, double launch_seconds) {
  return values_per_step * sizeof(double) * dofs / copy_bandwidth +
         launches_per_step * launch_seconds;
}

double capped_budget(double cap_seconds, double most) {
  return std::min(most, std::max(least_tuning_budget, cap_seconds / tuning_parts));
}

FlowTuning plan_flow_tuning(const Case& input, const MachineRecord& machine, int done,
                            double time) {
  FlowTuning tuning;
  tuning.budget_seconds = input.tuning.budget_seconds;
  tuning.grid_budget_seconds = input.grid_budget_seconds;
  tuning.expected_steps = expected_steps(input, done, time);
  // The mesh of a flow is periodic.
  const double dofs =
      static_cast<double>(input.mesh.total_elements()) * std::pow(input.solver_order, 3);
  if (machine.bandwidth.copy > 0)
    tuning.step_seconds = expected_step_seconds(dofs, machine.bandwidth.copy,
                                                machine.paths ? machine.paths->launch : 0);
  tuning.why_no_cap = why_no_cap(input, tuning);
  if (!tuning.why_no_cap.empty()) return tuning;
  tuning.cap_seconds = tuning_share * *tuning.expected_seconds();
  tuning.budget_seconds = capped_budget(*tuning.cap_seconds, tuning.budget_seconds);
  tuning.grid_budget_seconds = capped_budget(*tuning.cap_seconds, tuning.grid_budget_seconds);
  return tuning;
}

double tuning_seconds(const RunRecord& run) {
  double seconds = run.grid.plan_seconds + run.grid.verify_seconds + run.grid.tune_seconds;
  if (run.all_reduce) seconds += run.all_reduce->verify_seconds + run.all_reduce->tune_seconds;
  for (const OrderRecord& order : run.orders)
    seconds += order.tuning.verify_seconds + order.tuning.tune_seconds;
  if (run.flow && run.flow->multigrid) seconds += run.flow->multigrid->tune_seconds;
  return seconds;
}

}  // namespace nekbone_k
