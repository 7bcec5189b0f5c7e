// SPDX-License-Identifier: BSD-3-Clause
// The JSON report. If you change it, change docs/report.schema.json and report_version, too.
#include <fmt/format.h>

#include <cmath>

#include "input/input_keys.hpp"
#include "machine/json_values.hpp"
#include "report/report_json.hpp"
#include "tuning/tuning_json.hpp"

namespace nekbone_k {
namespace {

using json::number;
using json::numbers;
using json::optional_number;
using json::summary;
using Json = nlohmann::ordered_json;

/// A ratio, or null if the reference was not measured.
Json ratio(double value, double reference) {
  return reference != 0 ? number(value / reference) : Json(nullptr);
}

/// A count stored as double, without a decimal point if it is an integer.
Json count(double value) {
  const bool whole = value == std::floor(value) && std::abs(value) < 9e15;
  return whole ? Json(static_cast<std::int64_t>(value)) : number(value);
}

Json spread(const Spread& s) {
  return {{"min", count(s.min)}, {"avg", number(s.avg)}, {"max", count(s.max)}};
}

Json libraries_json(const LibraryVersions& l) {
  const auto version = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return {{"device_runtime", version(l.device_runtime)},
          {"device_driver", version(l.device_driver)},
          {"nccl", version(l.nccl)},
          {"nvshmem", version(l.nvshmem)}};
}

Json machine_json(const MachineRecord& m) {
  Json quota = Json::array();
  for (const double cores : m.cpu_quota) quota.push_back(number(cores));
  const auto measured = [](double bandwidth) {
    return bandwidth > 0 ? number(bandwidth) : Json(nullptr);
  };
  return {
      {"version", m.version},
      {"commit", m.commit},
      {"compiler", m.compiler},
      {"build_type", m.build_type},
      {"kokkos_version", m.kokkos_version},
      {"backend", m.backend},
      {"concurrency", m.concurrency},
      {"mpi_library", m.mpi_library},
      {"libraries", libraries_json(m.libraries)},
      {"processor", m.processor},
      {"ranks", m.ranks},
      {"nodes", m.nodes},
      {"ranks_per_node", m.ranks_per_node},
      {"hosts", m.hosts},
      {"devices", m.devices},
      {"binding", m.binding},
      {"cpu_quota", std::move(quota)},
      {"warnings", m.warnings},
      {"copy_bandwidth_bytes_per_s", measured(m.bandwidth.copy)},
      {"triad_bandwidth_bytes_per_s", measured(m.bandwidth.triad)},
      {"mpi_transfers", m.transfers ? transfers_json(*m.transfers) : Json(nullptr)},
      {"paths", m.paths ? paths_json(*m.paths) : Json(nullptr)},
  };
}

Json grid_json(const GridRecord& g) {
  Json candidates = Json::array();
  for (std::size_t c = 0; c < g.candidates.size(); ++c) {
    const auto& [model, balanced, tried, timing] = g.candidates[c];
    candidates.push_back({
        {"partition", model.partition.name()},
        {"blocks", model.partition.is_grid() ? Json(model.partition.blocks) : Json(nullptr)},
        {"slabs", model.partition.is_slabs()},
        {"modelled_rank", c + 1},
        {"most_elements", model.elements},
        {"messages", model.messages},
        {"sent_bytes", count(model.sent_bytes)},
        {"balanced", balanced},
        {"selected", static_cast<int>(c) == g.selected},
        {"timing", stage_json(timing)},
    });
  }
  return {
      {"order", g.order},
      {"selected", g.partition().name()},
      {"why", g.why},
      {"replayed", g.replayed},
      {"strategy", g.strategy.empty() ? Json(nullptr) : Json(g.strategy)},
      {"rounds", g.rounds},
      {"repeats", g.repeats},
      {"plan_s", number(g.plan_seconds)},
      {"verify_s", number(g.verify_seconds)},
      {"tune_s", number(g.tune_seconds)},
      {"candidates", candidates},
  };
}

Json all_reduce_json(const std::optional<AllReduceRecord>& record) {
  if (!record) return nullptr;
  const AllReduceRecord& t = *record;
  Json candidates = Json::array();
  for (const AllReduceResult& c : t.candidates)
    candidates.push_back({
        {"all_reduce", c.strategy.name},
        {"memory", c.strategy.memory},
        {"available", c.available},
        {"verified", c.verified},
        {"failure", c.verified ? Json(nullptr) : Json(c.failure)},
        {"selected", c.selected},
        {"timing", stage_json(c.timing)},
    });
  return {
      {"selected", t.selected >= 0 ? Json(t.candidates[t.selected].strategy.name) : Json(nullptr)},
      {"replayed", t.replayed},
      {"cache_note", t.cache_note.empty() ? Json(nullptr) : Json(t.cache_note)},
      {"rounds", t.rounds},
      {"repeats", t.repeats},
      {"verify_s", number(t.verify_seconds)},
      {"tune_s", number(t.tune_seconds)},
      {"candidates", candidates},
  };
}

Json order_json(const OrderRecord& o) {
  return {
      {"order", o.order},
      {"compiled", o.compiled},
      {"total_dofs", o.total_dofs},
      {"total_local_points", o.total_local_points},
      {"per_rank",
       {{"elements", spread(o.elements)},
        {"boundary_elements", spread(o.boundary_elements)},
        {"interior_elements", spread(o.interior_elements)},
        {"owned_dofs", spread(o.owned_dofs)},
        {"shared_dofs", spread(o.shared_dofs)},
        {"neighbours", spread(o.neighbours)},
        {"message_bytes", spread(o.message_bytes)},
        {"sent_bytes", spread(o.sent_bytes)}}},
      {"messages",
       {{"contiguous", o.layouts.contiguous},
        {"strided", o.layouts.strided},
        {"indexed", o.layouts.indexed}}},
      {"setup_s", number(o.setup_seconds)},
      {"on_rank_failure", o.on_rank_failure.empty() ? Json(nullptr) : Json(o.on_rank_failure)},
      {"replayed", o.replayed},
      {"cache_note", o.cache_note.empty() ? Json(nullptr) : Json(o.cache_note)},
      {"tuning", tuning_json(o.tuning)},
  };
}

Json audit_json(const std::optional<Audit>& audit) {
  if (!audit) return nullptr;
  Json strategies = Json::array();
  for (const AuditedStrategy& audited : audit->strategies)
    strategies.push_back({{"strategy", audited.name}, {"timing", stage_json(audited.timing)}});
  return {
      {"regret", number(audit->regret())}, {"best", audit->strategies[audit->best()].name},
      {"beaten", audit->is_beaten()},      {"others", audit->others},
      {"rounds", audit->rounds},           {"iterations", audit->iterations},
      {"audit_s", number(audit->seconds)}, {"strategies", strategies},
  };
}

Json summation_cost_json(const std::optional<SummationCost>& cost) {
  if (!cost) return nullptr;
  return {{"ratio", number(cost->ratio())},
          {"deterministic_s", number(cost->deterministic_seconds)},
          {"ordinary_s", number(cost->ordinary_seconds)},
          {"rounds", cost->rounds},
          {"iterations", cost->iterations}};
}

Json methods_json(const CgTuning& t) {
  Json candidates = Json::array();
  for (const CgMethodResult& c : t.candidates)
    candidates.push_back({
        {"variant", name(c.method.variant)},
        {"launch", name(c.method.launch)},
        {"strategy", c.exchange},
        {"all_reduce", c.all_reduce},
        {"available", c.available},
        {"verified", c.verified},
        {"failure", c.failure.empty() ? Json(nullptr) : Json(c.failure)},
        {"selected", c.selected},
        {"timing", stage_json(c.timing)},
    });
  return {
      {"why_no_other", t.why.empty() ? Json(nullptr) : Json(t.why)},
      {"rounds", t.rounds},
      {"iterations", t.iterations},
      {"tune_s", number(t.seconds)},
      {"candidates", candidates},
  };
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json multigrid_json(const std::optional<MultigridRecord>& record) {
  if (!record) return nullptr;
  Json candidates = Json::array(), levels = Json::array();
  for (const MultigridCandidate& c : record->candidates)
    candidates.push_back({
        {"orders", c.method.orders},
        {"smoother", name(c.method.smoother)},
        {"polynomial", name(c.method.polynomial)},
        {"degree", c.method.degree},
        {"precision", name(c.method.precision)},
        {"tried", c.tried()},
        {"trial", c.tried() ? Json(name(c.trial)) : Json(nullptr)},
        {"available", c.available},
        {"verified", c.verified},
        {"failure", c.failure.empty() ? Json(nullptr) : Json(c.failure)},
        {"digits_per_iteration", number(c.digits)},
        {"once_s", c.once > 0 ? number(c.once) : Json(nullptr)},
        {"selected", c.selected},
        {"timing", stage_json(c.timing)},
    });
  for (const MultigridLevel& level : record->levels)
    levels.push_back({
        {"order", level.order},
        {"elements", level.elements},
        {"total_dofs", level.total_dofs},
        {"direct", level.is_direct},
        {"on_every_rank", level.is_replicated},
        {"largest_eigenvalue", level.is_direct ? Json(nullptr) : number(level.eigenvalue_bound)},
        {"strategy", level.strategy.empty() ? Json(nullptr) : Json(level.strategy)},
        {"exchange_s", optional_number(level.exchange_seconds)},
        {"cycle_s", number(level.seconds)},
        {"replayed", level.origin.replayed},
        {"cache_note", text_or_null(level.origin.cache_note)},
    });
  Json uniform = nullptr, jacobi = nullptr;
  if (const auto& u = record->uniform)
    uniform = {{"strategy", u->strategy},
               {"cycle_s", number(u->seconds)},
               {"selected_cycle_s", number(u->selected_seconds)}};
  if (const auto& j = record->jacobi)
    jacobi = {{"iterations", j->iterations},
              {"solve_s", number(j->seconds)},
              {"converged", j->converged}};
  return {
      {"why_no_other", text_or_null(record->why)},
      {"replayed", record->origin.replayed},
      {"cache_note", text_or_null(record->origin.cache_note)},
      {"budget_ended", record->budget_ended},
      {"rounds", record->rounds},
      {"iterations", record->iterations},
      {"tune_s", number(record->tune_seconds)},
      {"setup_s", number(record->setup_seconds)},
      {"cycle_s", number(record->cycle_seconds)},
      {"launched_cycle_s", optional_number(record->launched_cycle_seconds)},
      {"operator_s", number(record->operator_seconds)},
      {"candidates", candidates},
      {"levels", levels},
      {"one_strategy_for_all", uniform},
      {"jacobi", jacobi},
  };
}

Json checksum_json(const std::optional<std::uint64_t>& checksum) {
  return checksum ? Json(fmt::format("{:016x}", *checksum)) : Json(nullptr);
}

/// The energy of `n` iterations or steps for `dofs` DOFs. The names of the last two keys are
/// given.
Json energy_json(const EnergyRecord& e, int n, std::int64_t dofs, const char* j_per_one,
                 const char* dofs_per_j) {
  const auto joules = [](int counters, double value) {
    return counters > 0 ? number(value) : Json(nullptr);
  };
  const bool has_rate = e.is_known() && n > 0;
  return {
      {"missing", text_or_null(e.missing)},
      {"cpu_packages", e.packages},
      {"dram_domains", e.dram},
      {"gpus", e.gpus},
      {"cpu_packages_j", joules(e.packages, e.package_joules)},
      {"dram_j", joules(e.dram, e.dram_joules)},
      {"gpus_j", joules(e.gpus, e.gpu_joules)},
      {j_per_one, has_rate ? number(e.joules() / n) : Json(nullptr)},
      {dofs_per_j, has_rate ? number(static_cast<double>(dofs) * n / e.joules()) : Json(nullptr)},
  };
}

Json solve_json(const SolveRecord& s, const MemoryBandwidth& memory) {
  Json excluded = Json::array();
  for (const auto& [strategy, failure] : s.excluded)
    excluded.push_back({{"strategy", strategy}, {"failure", failure}});
  return {
      {"order", s.order},
      {"strategy", s.strategy},
      {"left_out", excluded},
      {"all_reduce", s.all_reduce},
      {"variant", name(s.method.variant)},
      {"launch", name(s.method.launch)},
      {"host_launches", number(s.host_work.launches)},
      {"host_waits", s.host_work.waits},
      {"methods", methods_json(s.methods)},
      {"multigrid", multigrid_json(s.multigrid)},
      {"passed", s.passed},
      {"verdict", s.verdict},
      {"elements", s.elements},
      {"total_dofs", s.total_dofs},
      {"total_local_points", s.total_local_points},
      {"iterations", s.iterations},
      {"converged", s.converged},
      {"broke_down", s.broke_down},
      {"rhs_norm", number(s.rhs_norm)},
      {"residual", number(s.residual)},
      {"true_residual", number(s.true_residual)},
      {"relative_residual", ratio(s.residual, s.rhs_norm)},
      {"relative_true_residual", ratio(s.true_residual, s.rhs_norm)},
      {"error", optional_number(s.error)},
      {"error_l2", optional_number(s.error_l2)},
      {"setup_s", number(s.setup_seconds)},
      {"solve_s", number(s.solve_seconds)},
      {"flops_per_s", number(s.flops)},
      {"dofs_per_s", number(s.dofs_per_second)},
      {"bytes_per_dof", number(s.bytes_per_dof)},
      {"bandwidth_bytes_per_s", number(s.bandwidth)},
      {"bandwidth_share", ratio(s.bandwidth, memory.copy)},
      {"triad_share", ratio(s.bandwidth, memory.triad)},
      {"energy",
       energy_json(s.energy, s.iterations, s.total_dofs, "j_per_iteration", "dofs_per_j")},
      {"peak_memory_bytes", number(s.peak_memory)},
      {"history", numbers(s.history)},
      {"checksum", checksum_json(s.checksum)},
      {"determinism", summation_cost_json(s.summation_cost)},
      {"audit", audit_json(s.audit)},
      {"sum_audit", audit_json(s.sum_audit)},
  };
}

Json flow_row_json(const FlowRow& row) {
  return {
      {"step", row.step},
      {"time", number(row.time)},
      {"dt", number(row.dt)},
      {"energy", number(row.energy)},
      {"enstrophy", number(row.enstrophy)},
      {"reference_enstrophy", optional_number(row.reference)},
      {"energy_loss", row.step > 0 ? number(row.energy_loss) : Json(nullptr)},
      {"dissipation", number(row.dissipation)},
      {"max_divergence", number(row.divergence)},
      {"cfl", number(row.cfl)},
      {"mean_velocity",
       {number(row.momentum[0]), number(row.momentum[1]), number(row.momentum[2])}},
      {"pressure_iterations", row.pressure_iterations},
      {"velocity_iterations", row.velocity_iterations},
      {"step_s", row.step > 0 ? number(row.step_seconds) : Json(nullptr)},
  };
}

Json checkpoints_json(const FlowRecord& f) {
  if (f.checkpoint_file.empty()) return nullptr;
  return {
      {"file", f.checkpoint_file},
      {"written", f.checkpoints},
      {"step", f.checkpoints > 0 ? Json(f.checkpoint_step) : Json(nullptr)},
      {"longest_s", number(f.checkpoint_seconds)},
      {"failure", f.checkpoint_failure.empty() ? Json(nullptr) : Json(f.checkpoint_failure)},
  };
}

Json parts_json(const FlowParts& parts) {
  return {{"advection", number(parts.advection)},
          {"pressure", number(parts.pressure)},
          {"velocity", number(parts.velocity)},
          {"other", number(parts.other)}};
}

Json flow_tuning_json(const FlowTuning& t) {
  return {{"tune_s", number(t.seconds)},
          {"expected_steps", t.expected_steps},
          {"expected_step_s", optional_number(t.step_seconds)},
          {"expected_s", optional_number(t.expected_seconds())},
          {"cap_s", optional_number(t.cap_seconds)},
          {"budget_s", number(t.budget_seconds)},
          {"no_cap", t.why_no_cap.empty() ? Json(nullptr) : Json(t.why_no_cap)}};
}

Json flow_json(const FlowRecord& f) {
  Json rows = Json::array();
  for (const FlowRow& row : f.rows) rows.push_back(flow_row_json(row));
  return {
      {"order", f.order},
      {"elements", f.elements},
      {"total_dofs", f.total_dofs},
      {"vector_strategy", f.vector_strategy},
      {"scalar_strategy", f.scalar_strategy},
      {"all_reduce", f.all_reduce},
      {"multigrid", multigrid_json(f.multigrid)},
      {"tuning", flow_tuning_json(f.tuning)},
      {"setup_s", number(f.setup_seconds)},
      {"start_steps", f.start_steps},
      {"steps", f.steps},
      {"steps_s", number(f.seconds)},
      {"counted_steps", f.counted_steps},
      {"step_s", number(f.step_seconds)},
      {"parts_s", parts_json(f.parts)},
      {"parts_bytes", parts_json(f.part_bytes)},
      {"pressure_iterations", number(f.pressure_iterations)},
      {"velocity_iterations", number(f.velocity_iterations)},
      {"pressure_first_residual", number(f.pressure_first_residual)},
      {"velocity_first_residual", number(f.velocity_first_residual)},
      {"pressure_projected", number(f.pressure_projected)},
      {"velocity_projected", number(f.velocity_projected)},
      {"point_steps_per_s", number(f.points_per_second())},
      {"energy", energy_json(f.energy, f.steps, f.total_dofs, "j_per_step", "point_steps_per_j")},
      {"series", rows},
      {"relative_max_error", optional_number(f.error_max)},
      {"relative_l2_error", optional_number(f.error_l2)},
      {"reference_difference", optional_number(f.reference_difference)},
      {"checksum", checksum_json(f.checksum)},
      {"restart", f.restart ? Json{{"file", f.restart->file},
                                   {"step", f.restart->step},
                                   {"time", number(f.restart->time)}}
                            : Json(nullptr)},
      {"checkpoints", checkpoints_json(f)},
      {"field_files", f.field_files},
      {"stopped", f.stopped.empty() ? Json(nullptr) : Json(f.stopped)},
      {"passed", f.passed},
      {"verdict", f.verdict},
  };
}

}  // namespace

Json to_json(const RunRecord& record) {
  Json orders = Json::array();
  for (const OrderRecord& order : record.orders) orders.push_back(order_json(order));
  Json solve = nullptr;
  if (record.solve) solve = solve_json(*record.solve, record.machine.bandwidth);
  return {
      {"report_version", report_version},
      {"passed", record.passed && record.complete},
      {"complete", record.complete},
      {"warnings", record.warnings},
      {"started", record.machine.started},
      {"total_s", number(record.total_seconds)},
      {"input_file", record.input->source},
      {"input", as_input(*record.input)},
      {"machine", machine_json(record.machine)},
      {"process_grid", grid_json(record.grid)},
      {"orders", orders},
      {"all_reduce", all_reduce_json(record.all_reduce)},
      {"solve", solve},
      {"flow", record.flow ? flow_json(*record.flow) : Json(nullptr)},
  };
}

}  // namespace nekbone_k
