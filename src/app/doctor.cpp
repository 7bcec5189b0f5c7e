#include "app/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "app/doctor_record.hpp"
#include "app/doctor_text.hpp"
#include "app/doubts.hpp"
#include "app/format.hpp"
#include "app/machine_record.hpp"
#include "app/report.hpp"
#include "app/tuning_watch.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "core/errors.hpp"
#include "core/machine.hpp"
#include "core/runtime.hpp"
#include "core/topology.hpp"
#include "core/types.hpp"
#include "gs/all_reduce.hpp"
#include "gs/all_reduce_tuner.hpp"
#include "gs/measure_paths.hpp"
#include "gs/strategy_table.hpp"
#include "gs/verify.hpp"

namespace nekbone_k {
namespace {

/// Prints on rank 0, at once: what is tried next may end the job.
void say(const Communicator& comm, const std::string& text) {
  if (!comm.is_root()) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
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

/// All but what has to be tried. Collective.
DoctorRecord look_around(const Communicator& comm) {
  DoctorRecord record;
  record.machine = make_machine_record(comm);
  record.kernels_on_host = is_host_device;
  record.threads = is_host_device ? record.machine.concurrency : 1;
  record.slow_build = std::string_view(build_type) == "Debug" ||
                      std::string_view(build_flags).find("-fsanitize") != std::string_view::npos;
  record.unused_gpu = is_host_device && !comm.all(!has_gpu_files());
  record.launched = launched_processes();
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

MpiProbe try_transfers(const Communicator& comm, const TuningGuard& guard) {
  if (!is_host_device) {
    const std::string why = guard.why_excluded(guarded_name(direct_messages));
    if (!why.empty()) {
      say(comm, wrap("  not tried: ", why));
      return {DeviceMemory::name(), mpi_claim(comm), {}};
    }
  }
  ProbeRows rows;
  ProbeOptions options;
  options.staged = !is_host_device;  // on the host it would be the same and a copy
  options.before = [&](const ProbeEntry& entry) { say(comm, rows.before(entry)); };
  options.after = [&](const ProbeEntry& entry) {
    say(comm, rows.after(entry));
    if (!is_host_device) guard.go_on();
  };
  // What crashes here would crash wherever device memory is handed to MPI. Where that is host
  // memory there is no other way, and nothing to leave out.
  const auto probe_it = [&] { return probe_mpi(comm, options); };
  const MpiProbe probe =
      is_host_device ? probe_it() : tried(guard, guarded_name(direct_messages), probe_it);
  say(comm, rows.end() + probe_result_text(probe));
  return probe;
}

/// Shared DOFs to try exchanges with: each rank shares so many with the next that messages are too
/// long for MPI's eager protocol, and one with all.
std::shared_ptr<const DeviceHaloPlan> ring_and_one(const Communicator& comm) {
  constexpr GlobalId count = 20'000;
  std::vector<GlobalId> ids{comm.size() * count};
  std::set<int> both{comm.rank(), (comm.rank() + 1) % comm.size()};
  for (const int rank : both)
    for (GlobalId i = 0; i < count; ++i) ids.push_back(rank * count + i);
  return std::make_shared<DeviceHaloPlan>(make_halo_plan(comm, ids));
}

/// Whether `strategy`, which the guard knows as `guarded_as`, is available and right: by what
/// `verify` returns or throws, or, where no messages come, only whether it is available.
template <class AnyStrategy, class Verify>
Availability try_one(const Communicator& comm, const AnyStrategy& strategy,
                     const std::string& guarded_as, const TuningGuard& guard, bool messages_come,
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

/// Verifies them, too, where messages come at all.
std::vector<Availability> try_exchanges(const Communicator& comm, const TuningGuard& guard,
                                        bool messages_come) {
  say(comm, fmt::format("\n{}", heading("Exchange strategies available here, alike with +overlap "
                                        "where they have it")));
  if (comm.size() == 1)
    say(comm, "  One rank has nobody to exchange with; with more, some may not be available.\n");
  std::vector<Availability> results;
  Verifier verifier(comm, ring_and_one(comm));
  for (const Strategy& strategy : all_strategies()) {
    if (strategy.overlapped) continue;
    results.push_back(try_one(comm, strategy, strategy.name, guard, messages_come,
                              [&] { return verifier.verify(strategy, guard.patience); }));
  }
  return results;
}

std::vector<Availability> try_sums(const Communicator& comm, const TuningGuard& guard,
                                   bool messages_come) {
  say(comm, fmt::format("\n{}", heading("Sums over the ranks available here")));
  std::vector<Availability> results;
  for (const AllReduceStrategy& strategy : all_reduce_strategies())
    results.push_back(try_one(comm, strategy, guarded_name(strategy), guard, messages_come,
                              [&] { return verify_all_reduce(comm, strategy, guard.patience); }));
  return results;
}

}  // namespace

bool doctor(const Communicator& comm, const DoctorOptions& options) {
  pretended_ranks_per_node();  // throws, before anything is begun, if it cannot be used
  DoctorRecord record = look_around(comm);
  const LoadWatch load(comm.rank(), find_node_layout(comm), record.machine);
  say(comm, doctor_header_text(record) + probe_header_text(record));
  TuningWatch watch(comm, options.journal, options.patience, record.machine, /*is_probe=*/true);
  const TuningGuard guard = watch.guard();
  record.probe = try_transfers(comm, guard);
  // Where a carrier ends the job, no run is to lose itself to measuring it.
  if (!record.probe.stuck) say(comm, paths_text(measure_paths(comm, all_strategies(), guard)));
  record.exchanges = try_exchanges(comm, guard, !record.probe.stuck);
  record.sums = try_sums(comm, guard, !record.probe.stuck);
  if (!watch.complaint().empty()) record.machine.warnings.push_back(watch.complaint());
  if (std::string loaded = load.warning(comm); !loaded.empty())
    record.machine.warnings.push_back(std::move(loaded));
  say(comm, findings_text(find_faults(record)));
  if (record.probe.stuck) {
    comm.barrier();                             // rank 0 has said everything
    end_job(static_cast<int>(ExitCode::fail));  // MPI would wait for the messages
  }
  const auto all_right = [](const std::vector<Availability>& tried) {
    return std::all_of(tried.begin(), tried.end(),
                       [](const Availability& one) { return one.wrong.empty(); });
  };
  return std::all_of(record.probe.entries.begin(), record.probe.entries.end(),
                     [](const ProbeEntry& entry) { return entry.ok(); }) &&
         all_right(record.exchanges) && all_right(record.sums);
}

}  // namespace nekbone_k
