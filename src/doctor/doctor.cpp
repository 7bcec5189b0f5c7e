// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/errors.hpp"
#include "core/format.hpp"
#include "core/launcher.hpp"
#include "core/runtime.hpp"
#include "core/standard_streams.hpp"
#include "core/system.hpp"
#include "core/topology.hpp"
#include "core/types.hpp"
#include "doctor/doctor_record.hpp"
#include "doctor/doctor_text.hpp"
#include "gs/strategy_table.hpp"
#include "machine/limits.hpp"
#include "machine/machine_record.hpp"
#include "reduce/all_reduce.hpp"
#include "report/report.hpp"
#include "report/warnings.hpp"
#include "tuning/all_reduce_tuner.hpp"
#include "tuning/measure_paths.hpp"
#include "tuning/transfer_probe.hpp"
#include "tuning/tuning_watch.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

/// Prints on rank 0 immediately, because the next test may end the job.
void say(const Communicator& comm, const std::string& text) {
  if (comm.is_root()) print_on_stdout(text);
}

std::string networks_text() {
  std::string text;
  for (const NetworkInterface& interface : network_interfaces()) {
    text += fmt::format("{}{} ({}", text.empty() ? "" : ", ", interface.name, interface.kind);
    if (!interface.state.empty()) text += ", " + interface.state;
    if (interface.numa_node) text += fmt::format(", NUMA node {}", *interface.numa_node);
    text += ')';
  }
  return text.empty() ? "none but the loopback" : text;
}

/// Fills in everything that needs no test. Collective.
DoctorRecord look_around(const Communicator& comm) {
  DoctorRecord record;
  record.machine = make_machine_record(comm);
  record.kernels_on_host = is_host_device;
  record.threads = is_host_device ? record.machine.concurrency : 1;
  record.slow_build = std::string_view(build_type) == "Debug" ||
                      std::string_view(build_flags).find("-fsanitize") != std::string_view::npos;
  record.unused_gpu = is_host_device && !comm.all(!has_gpu_files());
  record.launched = static_cast<int>(comm.max(std::int64_t{launched_processes(comm.size())}));
  for (const std::string& cores : comm.gather(std::to_string(online_core_count())))
    record.online_cores.push_back(std::stoi(cores));
  record.numa_nodes = comm.gather(ranges_text(numa_nodes_of(cores_in(allowed_cores()))));
  const std::optional<int> device_node = numa_node_of_device(device_place());
  record.device_numa_nodes = comm.gather(device_node ? std::to_string(*device_node) : "");
  record.networks = comm.gather(networks_text());
  record.network_numa_nodes = comm.gather(ranges_text(numa_nodes_of(network_interfaces())));
  record.probe.claim = mpi_claim(comm);
  record.probe.memory = DeviceMemory::name();
  return record;
}

MpiProbe try_transfers(const Communicator& comm, TuningGuard& guard, const MpiTrial& trial) {
  if (!is_host_device || trial.is_bad()) {
    const std::string why = guard.why_excluded(guarded_name(direct_messages));
    if (!why.empty()) {
      say(comm, wrap("  not tried: ", why));
      return {DeviceMemory::name(), mpi_claim(comm), {}};
    }
  }
  ProbeRows rows;
  ProbeOptions options;
  options.staged = !is_host_device;  // on the host, staging would only add a copy
  options.before = [&](const ProbeEntry& entry) { say(comm, rows.before(entry)); };
  options.after = [&](const ProbeEntry& entry) {
    say(comm, rows.after(entry));
    if (!is_host_device) guard.go_on();
  };
  // A crash here means that every strategy with direct messages would crash, so the guard records
  // it. If kernels run on the host, all messages are of that kind and none can be skipped.
  const auto probe_it = [&] { return probe_mpi(comm, options); };
  const MpiProbe probe =
      is_host_device ? probe_it() : tried(guard, guarded_name(direct_messages), probe_it);
  say(comm, rows.end() + probe_result_text(probe));
  return probe;
}

/// Shared DOFs to try exchanges with. Each rank shares one DOF with all ranks and 20,000 with the
/// next rank, so that messages are too long for MPI's eager protocol.
std::shared_ptr<const DeviceHaloPlan> ring_and_one(const Communicator& comm) {
  constexpr GlobalId count = 20'000;
  std::vector<GlobalId> ids{comm.size() * count};
  std::set<int> both{comm.rank(), (comm.rank() + 1) % comm.size()};
  for (const int rank : both)
    for (GlobalId i = 0; i < count; ++i) ids.push_back(rank * count + i);
  return std::make_shared<DeviceHaloPlan>(make_halo_plan(comm, ids));
}

/// Tests with `verify` whether a strategy is available and right. If MPI delivers no messages,
/// tests only whether it is available. `guarded_as` is the guard's name of the strategy.
template <class AnyStrategy, class Verify>
Availability try_one(const Communicator& comm, const AnyStrategy& strategy,
                     const std::string& guarded_as, TuningGuard& guard, bool messages_come,
                     const Verify& verify) {
  say(comm, attempt_text(strategy.name));
  comm.barrier();
  Availability result{strategy.name, guard.why_excluded(guarded_as)};
  result.is_journaled = !result.why_not.empty();
  if (result.why_not.empty() && !messages_come) {
    result.why_not = why_unavailable(comm, strategy);
  } else if (result.why_not.empty()) {
    const Verdict verdict = verify_candidate(guarded_as, "", guard, verify);
    (verdict.available ? result.wrong : result.why_not) = verdict.failure;
  }
  say(comm, attempt_result_text(result));
  return result;
}

/// Tries every plain exchange strategy, and verifies it if MPI delivers messages.
std::vector<Availability> try_exchanges(const Communicator& comm, TuningGuard& guard,
                                        bool messages_come) {
  say(comm, fmt::format("\n{}", heading("Exchange strategies available here, alike with +overlap "
                                        "where they have it")));
  if (comm.size() == 1)
    say(comm, "  One rank exchanges nothing; with several ranks, some may be unavailable.\n");
  std::vector<Availability> results;
  Verifier verifier(comm, ring_and_one(comm));
  for (const Strategy& strategy : all_strategies()) {
    if (strategy.overlapped) continue;
    results.push_back(try_one(comm, strategy, strategy.name, guard, messages_come,
                              [&] { return verifier.verify(strategy, guard.patience()); }));
  }
  return results;
}

std::vector<Availability> try_sums(const Communicator& comm, TuningGuard& guard,
                                   bool messages_come) {
  say(comm, fmt::format("\n{}", heading("All-reduces available here")));
  std::vector<Availability> results;
  for (const AllReduceStrategy& strategy : all_reduce_strategies())
    results.push_back(try_one(comm, strategy, guarded_name(strategy), guard, messages_come,
                              [&] { return verify_all_reduce(comm, strategy, guard.patience()); }));
  return results;
}

}  // namespace

bool doctor(const Communicator& comm, const DoctorOptions& options, const MpiTrial& trial) {
  pretended_ranks_per_node();  // throws if the variable is invalid
  DoctorRecord record = look_around(comm);
  record.trial = trial;
  const LoadWatch load(comm.rank(), find_node_layout(comm), record.machine);
  say(comm, doctor_header_text(record) + probe_header_text(record));
  TuningWatch watch(comm, options.journal, options.patience, record.machine, /*is_probe=*/true);
  NarrowedGuard guard = without_bad_trial(watch, trial, are_on_several_nodes(comm));
  record.probe = try_transfers(comm, guard, trial);
  // Measure paths only after the transfers finished, because a stuck path would end the job.
  if (!record.probe.stuck) say(comm, paths_text(measure_paths(comm, all_strategies(), guard)));
  record.exchanges = try_exchanges(comm, guard, !record.probe.stuck);
  for (Availability& one : record.exchanges)
    one.is_journaled = one.is_journaled && one.why_not != why_excluded(trial);
  record.sums = try_sums(comm, guard, !record.probe.stuck);
  if (!watch.complaint().empty()) record.machine.warnings.push_back(watch.complaint());
  if (std::string loaded = load.warning(comm); !loaded.empty())
    record.machine.warnings.push_back(std::move(loaded));
  say(comm, findings_text(find_faults(record)));
  if (record.probe.stuck) {
    comm.barrier();                             // until rank 0 has printed everything
    end_job(static_cast<int>(ExitCode::fail));  // MPI_Finalize would wait for the messages
  }
  return !trial.is_bad() && is_healthy(record);
}

}  // namespace nekbone_k
