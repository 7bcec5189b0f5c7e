// SPDX-License-Identifier: BSD-3-Clause
#include "support/report_records.hpp"

#include <limits>

namespace nekbone_k {

Case& changed_input(RunRecord& record) {
  const auto changed = std::make_shared<Case>(*record.input);
  record.input = changed;
  return *changed;
}
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

CandidateResult candidate(const std::string& name, const std::string& memory, bool overlapped,
                          std::vector<double> samples, Summary cost, double relative) {
  CandidateResult c;
  c.strategy = {name, memory, "", nullptr, overlapped};
  c.verified = true;
  (overlapped ? c.with_work : c.alone) = StageResult{std::move(samples), cost, relative, false};
  return c;
}

PathCost usual_path(double latency, double bandwidth, double further_message = 0) {
  const LinearCost cost{latency, bandwidth};
  return {"", {{8, cost.seconds(8)}, {65536, cost.seconds(65536)}}, cost, further_message};
}

TuningResult usual_tuning() {
  TuningResult t;
  t.candidates = {
      candidate("device-pairwise", "Host (direct)", false, {18e-6, 18.4e-6, 19e-6},
                {18.4e-6, 18e-6, 19e-6}, 1),
      candidate("host-alltoall", "Host (staged copy)", false, {1.2e-3, 1.3e-3, 1.4e-3},
                {1.3e-3, 1.2e-3, 1.4e-3}, 70.65),
      candidate("device-pairwise+overlap", "Host (direct)", true, {1e-3, 1e-3, 1e-3},
                {-2e-6, -3e-6, 1e-6}, 1),
      candidate("host-alltoall+overlap", "Host (staged copy)", true, {1.5e-3, 1.5e-3, 1.5e-3},
                {5e-4, 5e-4, 5e-4}, 1.5),
  };
  t.candidates[0].with_work =
      StageResult{{1.25e-3, 1.25e-3, 1.25e-3}, {2.5e-4, 2.5e-4, 2.5e-4}, 1.25, false};
  t.candidates[2].selected = true;
  t.selected = 2;
  t.breakdown = {3e-6, 12e-6, 2.5e-6};
  t.on_rank = {1.5e-3, 1.4e-3, 1.6e-3};
  t.work_name = "Ax, boundary elements before and interior ones meanwhile";
  t.work_alone = {1e-3, 1e-3, 1e-3};
  t.work_meanwhile = 0.9e-3;
  t.rounds_alone = t.rounds_with_work = 3;
  t.repeats = 11;
  t.verify_seconds = 0.25;
  t.tune_seconds = 2.125;
  return t;
}

GridCandidate grid_candidate(const std::array<int, 3>& blocks, std::int64_t elements, int messages,
                             double bytes) {
  return {{{blocks}, elements, messages, bytes}};
}

GridRecord usual_grid() {
  GridRecord g;
  g.order = 7;
  g.candidates = {
      grid_candidate({1, 2, 2}, 65536, 3, 6422528), grid_candidate({0, 0, 0}, 65536, 3, 6422528),
      grid_candidate({1, 1, 4}, 65536, 2, 9437184), grid_candidate({4, 1, 1}, 65600, 2, 9437184)};
  for (GridCandidate& c : g.candidates) c.balanced = c.tried = c.model.elements == 65536;
  const double seconds[] = {2.1e-3, 2.12e-3, 3.1e-3};
  for (int c = 0; c < 3; ++c) {
    StageResult& timing = g.candidates[c].timing.emplace();
    timing.samples = {seconds[c] - 1e-4, seconds[c], seconds[c] + 1e-4};
    timing.cost = {seconds[c], seconds[c] - 1e-4, seconds[c] + 1e-4};
    timing.relative_to_best = seconds[c] / seconds[0];
    timing.tie = c < 2;
  }
  g.why = "the best by the model of those that tie";
  g.strategy = "device-pairwise";
  g.rounds = 3;
  g.plan_seconds = 0.5;
  g.verify_seconds = 0.25;
  g.tune_seconds = 1;
  return g;
}

SolveRecord usual_solve() {
  SolveRecord s;
  s.order = 7;
  s.strategy = "device-pairwise+overlap";
  s.iterations = 100;
  s.rhs_norm = 4;
  s.residual = s.true_residual = 2e-6;
  s.error = 3e-8;
  s.error_l2 = 2e-8;
  s.history = {4, 1, 2e-6};
  s.setup_seconds = 1.5;
  s.solve_seconds = 20;
  s.total_dofs = 89915392;
  s.total_local_points = 134217728;
  s.elements = 262144;
  s.flops = 87.25e9;
  s.dofs_per_second = 449.6e6;
  s.bytes_per_dof = 171;
  s.bandwidth = 76.88e9;
  s.peak_memory = 17.5 * 1024 * 1024 * 1024;
  s.passed = true;
  s.verdict = "the recomputed residual agrees, and the error is below its bound";
  return s;
}

}  // namespace

OrderRecord usual_order() {
  OrderRecord o;
  o.order = 7;
  o.total_dofs = 89915392;
  o.total_local_points = 134217728;
  o.elements = {65536, 65536, 65536};
  o.owned_dofs = {22e6, 22478848, 23e6};
  o.boundary_elements = {4096, 5120, 6144};
  o.interior_elements = {59392, 60416, 61440};
  o.shared_dofs = {200704, 301056, 401408};
  o.neighbours = {1, 1.5, 2};
  o.message_bytes = {1605632, 1605632, 1605632};
  o.sent_bytes = {1605632, 1605632, 1605632};
  o.layouts = {3, 1, 2};
  o.setup_seconds = 4.5;
  o.tuning = usual_tuning();
  return o;
}

MachinePaths usual_paths() {
  MachinePaths paths;
  paths.launch = 3.25e-6;
  paths.sync = 5e-6;
  paths.pack = usual_path(8e-6, 500e9);
  paths.copy_to_host = usual_path(10e-6, 50e9);
  paths.copy_to_device = usual_path(9e-6, 55e9);
  paths.messages = {
      {Carrier::host_messages, ProbePlace::within_node, usual_path(1.5e-6, 10e9, 0.5e-6)},
      {Carrier::host_messages, ProbePlace::between_nodes, usual_path(2.5e-6, 20e9, 0.25e-6)},
      {Carrier::device_messages,
       ProbePlace::within_node,
       {"path by device messages crashed in the run started 2025-01-30T12:00:00Z; delete "
        "nekbone-k-journal.jsonl to try it again",
        {},
        {},
        0}},
  };
  paths.seconds = 0.25;
  return paths;
}

TransferRecord usual_transfers() {
  TransferRecord transfers;
  transfers.probe.memory = "Host";
  transfers.probe.claim = {"MPIX_Query_cuda_support", false};
  for (const ProbePlace place : {ProbePlace::within_node, ProbePlace::between_nodes})
    for (const std::size_t bytes : {8, 4096, 262144})
      for (const std::size_t offset : {0, 8, 3})
        transfers.probe.entries.push_back({place, ProbeMemory::direct, bytes, offset, "", 1e-6});
  transfers.seconds = 0.0625;
  transfers.several_nodes = true;
  return transfers;
}

MpiTrial crashed_trial() {
  MpiTrial trial;
  trial.outcome = TrialOutcome::crashed;
  trial.what = "crashed by SIGSEGV, at a message of 8 B at offset 0 B";
  trial.host = "node2";
  trial.found = "2026-11-21T21:21:40Z";
  trial.file = "/cache/mpi-trials.json";
  trial.seconds = 0.75;
  return trial;
}

MachineRecord usual_machine() {
  MachineRecord m;
  m.version = "0.1.0";
  m.commit = "0123abc";
  m.compiler = "GNU 12.2.0";
  m.build_type = "Release";
  m.kokkos_version = "4.5.1";
  m.backend = "OpenMP";
  m.concurrency = 2;
  m.mpi_library = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, May 26, 2022";
  m.ranks = 4;
  m.nodes = 2;
  m.ranks_per_node = {2, 2};
  m.hosts = {"node1", "node1", "node2", "node2"};
  m.devices = {"host", "host", "host", "host"};
  m.binding = {"0-1", "2-3", "0-1", "2-3"};
  m.bandwidth = {100e9, 80e9};
  m.started = "2025-01-31T12:00:00Z";
  return m;
}

RunRecord usual_run() {
  RunRecord r;
  Case& input = changed_input(r);
  input.source = "inputs/tgv64.yaml";
  input.mesh.elements = {64, 64, 64};
  input.strategies = {"device-pairwise", "host-alltoall"};
  r.machine = usual_machine();
  r.grid = usual_grid();
  r.orders = {usual_order()};
  r.solve = usual_solve();
  r.total_seconds = 123.5;
  r.passed = r.complete = true;
  return r;
}

RunRecord flow_run() {
  RunRecord r = usual_run();
  r.solve.reset();
  Case& input = changed_input(r);
  input.problem = ProblemKind::flow;
  input.flow.initial = FlowKind::abc;
  input.flow.viscosity = 0.05;
  input.solver_order = 7;
  r.orders = {usual_order(), usual_order()};
  r.orders[0].tuning.kind = {3, Precision::double_};
  AllReduceResult& sum = r.all_reduce.emplace().candidates.emplace_back();
  sum.strategy.name = "host-mpi";
  sum.verified = sum.selected = true;
  r.all_reduce->selected = 0;

  FlowRecord& f = r.flow.emplace();
  f.order = 7;
  f.elements = 64;
  f.total_dofs = 21952;
  f.viscosity = 0.05;
  f.series = "flow.csv";
  f.vector_strategy = "device-put";
  f.scalar_strategy = "device-pairwise+overlap";
  f.all_reduce = "host-mpi";
  f.tuning.expected_steps = 49;
  f.tuning.step_seconds = 0.25;
  f.tuning.cap_seconds = 1.225;
  f.tuning.budget_seconds = f.tuning.grid_budget_seconds = 0.125;
  f.tuning.seconds = 1.125;
  f.setup_seconds = 0.125;
  f.start_steps = 19;
  f.steps = 49;
  f.seconds = 5.5;
  f.counted_steps = 25;
  f.step_seconds = 0.1;
  f.parts = {.advection = 0.01, .pressure = 0.06, .velocity = 0.02, .other = 0.005};
  f.pressure_iterations = 7.25;
  f.velocity_iterations = 3.5;
  f.pressure_first_residual = 8e-5;
  f.velocity_first_residual = 1.75e-2;
  f.pressure_projected = 0.96;
  for (int i = 0; i <= 3; ++i) {
    FlowRow& row = f.rows.emplace_back();
    row.step = i == 0 ? 0 : 19 + 10 * i;
    row.time = 0.25 * i;
    row.dt = 0.025;
    row.energy = 2.125 - 0.125 * i;
    row.enstrophy = 1.5 - 0.0625 * i;
    row.energy_loss = i == 0 ? 0 : 0.5;
    row.dissipation = 0.1 * row.enstrophy;
    row.divergence = 1e-6;
    row.cfl = 0.375;
    row.momentum = {1, 0.5, 0.25};
    row.pressure_iterations = 7;
    row.velocity_iterations = 3;
    row.step_seconds = 0.1;
  }
  f.error_max = 3e-8;
  f.error_l2 = 2e-8;
  f.checksum = 0x0123456789abcdef;
  f.passed = true;
  f.verdict = "all steps converged, near the exact solution";
  return r;
}

RunRecord one_rank_run() {
  RunRecord r = usual_run();
  r.machine.ranks = r.machine.nodes = 1;
  r.machine.ranks_per_node = {1};
  r.machine.hosts = {"laptop"};
  r.machine.devices = {"host"};
  r.machine.binding = {"0"};
  r.grid = {};
  r.grid.candidates.push_back(grid_candidate({1, 1, 1}, 262144, 0, 0));
  OrderRecord& o = r.orders[0];
  o.boundary_elements = o.shared_dofs = o.neighbours = o.message_bytes = o.sent_bytes = {};
  o.layouts = {};
  for (CandidateResult& c : o.tuning.candidates) {
    c.alone.reset();
    c.with_work.reset();
  }
  o.tuning.candidates.back().available = o.tuning.candidates.back().verified = false;
  return r;
}

RunRecord wrong_candidate_run() {
  RunRecord r = usual_run();
  CandidateResult& c = r.orders[0].tuning.candidates[1];
  c.verified = false;
  c.alone.reset();
  c.failure = "add on double: shared DOF 17 (global id 123456789) is 3, not 5, on rank 1; ";
  for (int i = 0; i < 5; ++i) c.failure += "MPI_Ialltoallv: MPI_ERR_TRUNCATE: message truncated; ";
  c.failure += std::string(250, 'x');
  return r;
}

RunRecord nothing_right_run() {
  RunRecord r = usual_run();
  TuningResult& t = r.orders[0].tuning;
  for (CandidateResult& c : t.candidates) {
    c.verified = c.selected = false;
    c.alone.reset();
    c.with_work.reset();
    c.failure = "threw";
  }
  t.selected = -1;
  t.work_alone.clear();
  r.solve.reset();
  r.passed = false;
  return r;
}

RunRecord broken_down_run() {
  RunRecord r = usual_run();
  r.solve->broke_down = true;
  r.solve->passed = r.passed = false;
  r.solve->residual = r.solve->true_residual = nan;
  r.solve->history = {4, nan, infinity};
  r.solve->error = nan;
  r.solve->verdict = "a NaN appeared in iteration 2";
  return r;
}

RunRecord extreme_run() {
  RunRecord r = usual_run();
  MachineRecord& m = r.machine;
  m.ranks = 3000;
  m.nodes = 1500;
  m.ranks_per_node.assign(1500, 2);
  m.hosts.clear();
  for (int rank = 0; rank < 3000; ++rank) m.hosts.push_back("n" + std::to_string(rank % 1500));
  m.devices.assign(3000,
                   "a device with a name as long as vendors like them: " + std::string(80, 'd'));
  m.binding.assign(3000, "");
  m.warnings = {"4 threads on 2 cores: " + std::string(120, 'w') + " take fewer ranks or threads"};
  m.libraries = {"CUDA 13.0", "CUDA 13.1", std::string(90, '2'), std::string(90, '3')};
  m.transfers = usual_transfers();
  for (ProbeEntry& entry : m.transfers->probe.entries) entry.failure = std::string(300, 'f');
  m.transfers->on_host = false;
  m.transfers->trial = crashed_trial();
  m.transfers->trial.what = std::string(300, 'w');
  m.transfers->trial.file = std::string(300, 'f');
  m.mpi_library = "MPICH Version:\t4.0.2\nMPICH Device: ch4\n" + std::string(300, 'c');
  for (int i = 0; i < 1000; ++i) r.grid.candidates.push_back(r.grid.candidates[i]);
  for (GridCandidate& c : r.grid.candidates)
    c.model = {{{100000, 100000, 100000}}, std::int64_t{1} << 50, 1 << 20, 1e15};
  r.grid.candidates[0].timing->cost = {1e-12, -1e9, 1e300};
  r.grid.why = std::string(300, 'y');
  OrderRecord& o = r.orders[0];
  o.compiled = false;
  o.elements = {1, 1.3e15, 2.6e18};
  o.message_bytes = {0, 1e15, 9e18};
  o.sent_bytes = {0, 1e15, 9e18};
  o.tuning.work_name = "work with a very long name " + std::string(150, 'n');
  o.tuning.candidates[0].alone->cost = {1e-12, -1e9, 1e300};
  o.tuning.candidates[0].alone->relative_to_best = 1e30;
  o.tuning.candidates[1].strategy.name = "a-strategy-of-" + std::string(100, 's');
  o.tuning.candidates[1].strategy.memory = "memory of " + std::string(60, 'm');
  o.tuning.candidates[3].with_work->cost = {nan, infinity, -infinity};
  SolveRecord& s = *r.solve;
  s.strategy = std::string(120, 's');
  s.rhs_norm = 0;
  s.flops = 1e30;
  s.bandwidth = 1e-30;
  s.solve_seconds = s.peak_memory = 0;
  s.error.reset();
  s.error_l2.reset();
  return r;
}

}  // namespace nekbone_k
