// SPDX-License-Identifier: BSD-3-Clause
// The terminal report: its header and the CG run. See report_machine.cpp for the machine,
// report_order.cpp for an order's tuning, and report_result.cpp for the result.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/format.hpp"
#include "report/report.hpp"
#include "report/report_candidates.hpp"

namespace nekbone_k {
namespace {

std::string mesh_text(const MeshSpec& mesh) {
  std::string periodic;
  for (int d = 0; d < 3; ++d)
    if (mesh.periodic[d]) periodic += fmt::format("{}{}", periodic.empty() ? "" : ", ", "xyz"[d]);
  std::string deformation = "not deformed";
  if (mesh.deformation != Deformation::none)
    deformation =
        fmt::format("deformation {} with epsilon {:g}", name(mesh.deformation), mesh.epsilon);
  return fmt::format(
      "{} × {} × {} elements on {:g} × {:g} × {:g}, {}, {}", mesh.elements[0], mesh.elements[1],
      mesh.elements[2], mesh.extent[0], mesh.extent[1], mesh.extent[2],
      periodic.empty() ? "not periodic" : fmt::format("periodic in {}", periodic), deformation);
}

/// `norm` relative to ‖b‖, or absolute if ‖b‖ is zero.
std::string relative(double norm, double rhs_norm) {
  if (!std::isfinite(norm) || !std::isfinite(rhs_norm)) return "not finite";
  if (rhs_norm == 0) return fmt::format("{:.3e} (|b| is 0)", norm);
  return fmt::format("{:.3e} |b|", norm / rhs_norm);
}

std::string iterations_text(const SolveRecord& solve) {
  if (solve.broke_down) return fmt::format("{}, then CG broke down", solve.iterations);
  return fmt::format("{}{}", solve.iterations,
                     solve.tolerance == 0 ? ", the number in the input"
                     : solve.converged    ? ", converged to the tolerance"
                                          : ", not converged");
}

std::string error_text(const SolveRecord& solve) {
  if (!solve.error && !solve.error_l2) return "not known: the problem has no exact solution";
  std::string text;
  if (solve.error && !std::isfinite(*solve.error)) return "not finite";
  if (solve.error) text = fmt::format("{:.3e} largest", *solve.error);
  if (solve.error_l2)
    text += fmt::format("{}{:.3e} in the L2 norm", text.empty() ? "" : ", ", *solve.error_l2);
  return text + ", relative to the exact solution";
}

std::string traffic_text(const SolveRecord& solve, const MemoryBandwidth& memory) {
  std::string text =
      fmt::format("at least {} B per DOF and iteration: {}", significant(solve.bytes_per_dof),
                  giga_text(solve.bandwidth, "B/s"));
  if (memory.copy > 0)
    text += fmt::format(", {:.1f} % of the copy and {:.1f} % of the triad of this run",
                        100 * solve.bandwidth / memory.copy, 100 * solve.bandwidth / memory.triad);
  if (memory.copy > 0 && solve.bandwidth > std::max(memory.copy, memory.triad))
    text +=
        "; more than the memory bandwidth, so the case fits in caches, or the machine was busy "
        "when "
        "the bandwidth was measured";
  return text;
}

}  // namespace

std::string header_text(const RunRecord& record) {
  const MachineRecord& machine = record.machine;
  const Case& input = *record.input;
  std::string text = heading(fmt::format("nekbone-k {}, commit {}, started {}", machine.version,
                                         machine.commit, machine.started));
  text += labelled_line("input", input.source);
  text += labelled_line(
      "problem",
      fmt::format(
          "{}, {} {:g}, geometry {}",
          input.is_flow()  ? fmt::format("flow from {}", input.flow.initial_text())
          : input.solves() ? name(input.problem)
                           : "none, exchanges of " + input.field_kind.text() + " are measured",
          input.is_flow() ? "viscosity" : "lambda",
          input.is_flow() ? input.flow.viscosity : input.lambda, name(input.mesh.geometry)));
  if (input.summation == Summation::deterministic)
    text += labelled_line("sums",
                          "deterministic: added by element of the whole mesh, exact dot products");
  text += labelled_line("mesh", mesh_text(input.mesh));
  text += machine_text(machine, true);
  if (const MemoryBandwidth& memory = machine.bandwidth; memory.copy > 0)
    text += labelled_line(
        "memory", fmt::format("copy {}, triad {}, read plus written, all ranks at once",
                              giga_text(memory.copy, "B/s"), giga_text(memory.triad, "B/s")));
  for (const std::string& warning : machine.warnings) text += labelled_line("WARNING", warning);
  return text;
}

namespace {

std::string audit_text(const Audit& audit) {
  const auto& choice = audit.strategies.front();
  const auto& best = audit.strategies[audit.best()];
  const std::size_t tried = audit.strategies.size() - 1;
  const double less = 100 * (1 - 1 / (1 + audit.regret()));  // per cent
  const std::string verdict =
      audit.best() == 0   ? "no other was faster"
      : choice.timing.tie ? "ties with " + best.name +
                                (less < 0.05 ? "" : fmt::format(", which took {:.1f} % less", less))
      : audit.is_beaten()
          ? fmt::format("{} would have taken {:.1f} % less", best.name, less)
          : fmt::format("{} took {:.1f} % less, which may be noise", best.name, less);
  return fmt::format(
      "{}; {} per iteration with the selected one, start included; {} of {} with {} of {} others",
      verdict, seconds_text(choice.timing.cost.median), counted(audit.rounds, "round"),
      counted(audit.iterations, "iteration"), tried, audit.others);
}

std::string method_text(const CgMethod& method) {
  const std::string how = method.launch == CgLaunch::host    ? "the host waits for every scalar"
                          : method.launch == CgLaunch::plain ? "scalars on the device"
                          : method.launch == CgLaunch::graph
                              ? fmt::format("{} iterations per graph", graph_iterations)
                              : fmt::format("{} iterations per kernel", persistent_iterations);
  return fmt::format("{} CG, launch {}: {}", name(method.variant), name(method.launch), how);
}

/// Lower bounds of the time of an iteration.
std::string limits_text(const SolveRecord& solve, const MachineRecord& machine) {
  std::vector<std::string> parts;
  const double bytes = solve.bytes_per_dof * static_cast<double>(solve.total_dofs);
  if (machine.bandwidth.copy > 0)
    parts.push_back(seconds_text(bytes / machine.bandwidth.copy) +
                    " for its bytes at the bandwidth of the copy");
  const auto& [launches, waits] = solve.host_work;
  std::string host = fmt::format("{:.3g} launches", launches);
  if (machine.paths) host += " of " + seconds_text(machine.paths->launch);
  host += " and " + counted(waits, "wait");
  if (machine.paths && waits > 0) host += " of " + seconds_text(machine.paths->sync);
  parts.push_back(host);
  return fmt::format("{}, per iteration", fmt::join(parts, "; "));
}

/// The table of the methods of CG; empty if there was no choice.
std::string methods_text(const CgTuning& tuning, ReportDetail detail) {
  if (tuning.candidates.size() < 2) return {};
  std::string text = fmt::format("\n{}", heading("Methods of CG"));
  if (!tuning.why.empty())
    return text + wrap("  Selected: ", name(tuning.selected()->method)) + wrap("  ", tuning.why);
  std::vector<CandidateRow> rows;
  for (const CgMethodResult& c : tuning.candidates)
    rows.push_back({name(c.method), c.exchange, c.available, c.verified, c.selected, c.failure,
                    c.timing ? &*c.timing : nullptr});
  CandidateTable table("variant, launch", false, detail, "exchange");
  table.add_section(rows, fmt::format("per iteration; {} of {}", counted(tuning.rounds, "round"),
                                      counted(tuning.iterations, "iteration")));
  text += table.text() + wrap("  Selected: ", name(tuning.selected()->method));
  return text + wrap("  ", fmt::format("Verified and timed in {}", seconds_text(tuning.seconds)));
}

}  // namespace

std::string figure_of_merit_text(const SolveRecord& solve) {
  return fmt::format("{} by Nekbone's count, {}", giga_text(solve.flops, "FLOP/s"),
                     giga_text(solve.dofs_per_second, "DOF/s"));
}

std::string energy_line(const EnergyRecord& energy, int n, const char* noun, std::int64_t dofs,
                        const char* work_per_joule) {
  if (n == 0 || !energy.is_known()) return {};
  std::vector<std::string> counted_parts;
  const auto add = [&](int counters, const char* what) {
    if (counters > 0) counted_parts.push_back(counted(counters, what));
  };
  add(energy.packages, "CPU package");
  add(energy.dram, "memory domain");
  add(energy.gpus, "GPU");
  return labelled_line(
      "energy",
      fmt::format("{} J per {}, {}; {}", significant(energy.joules() / n), noun,
                  giga_text(static_cast<double>(dofs) * n / energy.joules(), work_per_joule),
                  fmt::join(counted_parts, ", ")));
}

std::string solve_text(const SolveRecord& solve, const MachineRecord& machine,
                       ReportDetail detail) {
  std::string text = methods_text(solve.methods, detail);
  if (solve.multigrid) text += multigrid_text(*solve.multigrid, detail);
  text += fmt::format("\n{}", heading(fmt::format("CG at order {}, strategy {}, all-reduce {}{}",
                                                  solve.order, solve.strategy, solve.all_reduce,
                                                  solve.kernels_sum ? " and MPI_Allreduce" : "")));
  text += labelled_line("size", fmt::format("{}, {}, {}", counted(solve.elements, "element"),
                                            counted(solve.total_dofs, "DOF"),
                                            counted(solve.total_local_points, "local point")));
  for (const auto& [strategy, failure] : solve.excluded)
    text += labelled_line("excluded", fmt::format("{}, which was selected: {}", strategy, failure));
  if (solve.history.empty()) return text + labelled_line("FAIL", solve.verdict);  // not begun
  text += labelled_line("method", solve.multigrid ? "flexible CG, one V-cycle per iteration"
                                                  : method_text(solve.method));
  text += labelled_line("iterations", iterations_text(solve));
  text += labelled_line("residual", fmt::format("{} recursive, {} recomputed as b - Ax",
                                                relative(solve.residual, solve.rhs_norm),
                                                relative(solve.true_residual, solve.rhs_norm)));
  text += labelled_line("error", error_text(solve));
  std::string time = seconds_text(solve.solve_seconds);
  if (solve.iterations > 0)
    time += fmt::format(", {} per iteration", seconds_text(solve.solve_seconds / solve.iterations));
  text += labelled_line("time", time + "; set-up " + seconds_text(solve.setup_seconds));
  text += labelled_line("peak memory", bytes_text(solve.peak_memory) + ", all ranks together");
  text += labelled_line("FOM", figure_of_merit_text(solve));
  text += energy_line(solve.energy, solve.iterations, "iteration", solve.total_dofs, "DOF/J");
  text += labelled_line("traffic", traffic_text(solve, machine.bandwidth));
  if (solve.iterations > 0 && !solve.multigrid)
    text += labelled_line("limits", limits_text(solve, machine));
  if (solve.checksum)
    text +=
        labelled_line("checksum", fmt::format("{:016x}, of the solution's bits: the same for every "
                                              "strategy and number of ranks",
                                              *solve.checksum));
  return text + labelled_line(solve.passed ? "PASS" : "FAIL", solve.verdict);
}

std::string comparisons_text(const SolveRecord& solve) {
  std::string text;
  if (const auto& cost = solve.summation_cost)
    text += labelled_line(
        "determinism",
        fmt::format("{} per iteration, {} with ordinary sums: {:.2f} times; medians of "
                    "{} rounds of {} iterations",
                    seconds_text(cost->deterministic_seconds), seconds_text(cost->ordinary_seconds),
                    cost->ratio(), cost->rounds, cost->iterations));
  if (solve.audit)
    text += labelled_line("regret", audit_text(*solve.audit));
  else if (solve.passed && !solve.why_no_audit.empty())
    text += labelled_line("regret", "not known: " + solve.why_no_audit);
  text += multigrid_comparison(solve);
  if (solve.sum_audit)
    text += text.find("regret") == std::string::npos
                ? labelled_line("regret", "all-reduce: " + audit_text(*solve.sum_audit))
                : labelled_line("  all-reduce", audit_text(*solve.sum_audit));
  return text;
}

}  // namespace nekbone_k
