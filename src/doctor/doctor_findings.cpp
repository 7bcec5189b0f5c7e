// SPDX-License-Identifier: BSD-3-Clause
// Derives likely problems from doctor's measurements.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/format.hpp"
#include "core/topology.hpp"
#include "doctor/doctor_record.hpp"
#include "doctor/doctor_text.hpp"
#include "report/warnings.hpp"

namespace nekbone_k {
namespace {

using Findings = std::vector<Finding>;

/// Splits a warning at "; " into problem and fix.
Finding finding_of(const std::string& warning) {
  const std::size_t end = warning.find("; ");
  return {warning.substr(0, end), end == warning.npos ? "" : warning.substr(end + 2)};
}

const ProbeEntry* first_failure(const MpiProbe& probe, ProbeMemory memory) {
  for (const ProbeEntry& entry : probe.entries)
    if (entry.memory == memory && !entry.ok()) return &entry;
  return nullptr;
}

/// Fixes for an MPI that corrupts messages in host memory, and for one that fails on device memory.
constexpr const char* other_transport =
    "try another transport of this MPI (Open MPI: mpirun --mca pml ob1 --mca btl self,tcp), "
    "or another MPI; no result can be trusted before";
constexpr const char* gpu_aware_mpi =
    "use an MPI built for these GPUs, or pin what does without: gather_scatter.strategies: "
    "[host-pairwise, host-persistent, nccl, peer-memory]";

std::string though_claimed(const DoctorRecord& record) {
  const MpiClaim& claim = record.probe.claim;
  return claim.device.value_or(false) ? fmt::format(", though {} says that it can", claim.query)
                                      : "";
}

void add_trial_fault(const DoctorRecord& record, Findings& findings) {
  if (!record.trial.is_bad()) return;
  if (record.kernels_on_host)
    findings.push_back({why_excluded(record.trial), other_transport});
  else
    findings.push_back({why_excluded(record.trial) + though_claimed(record),
                        std::string("nothing to do for nekbone-k, which excludes the strategies "
                                    "that need it; for those, ") +
                            "use an MPI built for these GPUs"});
}

void add_transfer_faults(const DoctorRecord& record, Findings& findings) {
  const ProbeEntry* const direct = first_failure(record.probe, ProbeMemory::direct);
  const ProbeEntry* const host =
      record.kernels_on_host ? direct : first_failure(record.probe, ProbeMemory::staged);
  if (host != nullptr)
    findings.push_back(
        {fmt::format("MPI does not deliver host memory right ({})", failure_text(*host)),
         other_transport});
  if (direct == nullptr || direct == host) return;
  findings.push_back({fmt::format("MPI corrupts messages from device memory{} ({})",
                                  though_claimed(record), failure_text(*direct)),
                      gpu_aware_mpi});
}

void add_strategy_faults(const DoctorRecord& record, Findings& findings) {
  const auto add = [&](const std::vector<Availability>& tried, const char* fault) {
    for (const Availability& one : tried) {
      if (one.wrong.empty()) continue;
      const bool came_to_its_end = one.wrong.starts_with("WRONG");
      findings.push_back(
          {one.name + (came_to_its_end ? fault : " does not finish"),
           std::string("nothing to do for nekbone-k: runs exclude it; ") +
               (came_to_its_end ? "" : "if it was only slow, raise --patience; ") +
               "report it to the maintainers of the MPI, the driver or the network"});
    }
  };
  add(record.exchanges, " exchanges wrong data");
  add(record.sums, " gives wrong sums");
}

/// Adds why runs skip strategies that failed in an earlier job, each reason once.
void add_journaled(const DoctorRecord& record, Findings& findings) {
  const auto add = [&](const std::vector<Availability>& tried) {
    for (const Availability& one : tried) {
      if (!one.is_journaled) continue;
      const std::size_t end = std::min(one.why_not.find("; "), one.why_not.size());
      const std::string what = one.why_not.substr(0, end) + ", so runs skip it";
      if (std::none_of(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.what == what; }))
        findings.push_back({what, "if someone ended that job, or if the fault is fixed, " +
                                      one.why_not.substr(std::min(end + 2, one.why_not.size()))});
    }
  };
  add(record.exchanges);
  add(record.sums);
}

/// Adds transfers that are right but have unexpected results or times.
void add_transfer_surprises(const DoctorRecord& record, Findings& findings) {
  const MpiProbe& probe = record.probe;
  if (record.kernels_on_host || probe.entries.empty()) return;
  const bool right = first_failure(probe, ProbeMemory::direct) == nullptr;
  if (right && probe.claim.device == false)
    findings.push_back(
        {fmt::format("{} says that MPI does not send device memory, but every transfer was right",
                     probe.claim.query),
         "nothing to do for nekbone-k, which measures; tell programs that trust the query"});
  for (const ProbeEntry& direct : probe.entries)
    for (const ProbeEntry& staged : probe.entries) {
      constexpr std::size_t size = 1 << 20;
      constexpr double clear = 1.1;  // a smaller ratio may be noise
      if (direct.memory != ProbeMemory::direct || staged.memory != ProbeMemory::staged) continue;
      if (direct.place != staged.place || direct.bytes != size || staged.bytes != size) continue;
      if (direct.offset != staged.offset || !direct.ok() || !staged.ok()) continue;
      if (direct.seconds < clear * staged.seconds) continue;
      findings.push_back(
          {fmt::format("MPI takes {} for {} of device memory {}, but {} by way of the host",
                       seconds_text(direct.seconds), bytes_text(size), name(direct.place),
                       seconds_text(staged.seconds)),
           "see that MPI finds the GPUs' own paths (UCX: cuda_ipc, gdr_copy or rocm_ipc in "
           "UCX_TLS; between nodes nvidia-peermem); the tuner picks a host- strategy until then"});
    }
}

void add_rank_faults(const DoctorRecord& record, Findings& findings) {
  const MachineRecord& machine = record.machine;
  if (const std::string warning =
          separate_jobs(record.launched, machine.ranks, machine.mpi_library);
      !warning.empty())
    findings.push_back(finding_of(warning));
  else if (machine.ranks == 1)
    findings.push_back({"there is only one rank, so nothing is exchanged and no transfer was tried",
                        "start more: mpirun -np 2 nekbone-k doctor"});
}

void add_core_faults(const DoctorRecord& record, Findings& findings) {
  for (const SharedCores& shared : shared_cores(record.machine)) {
    const std::size_t threads = shared.ranks.size() * record.threads;
    const auto online = static_cast<std::size_t>(record.online_cores[shared.ranks.front()]);
    // The machine's warnings cover more threads than cores on the whole node.
    if (threads <= shared.cores.size() || shared.cores.size() >= online) continue;
    findings.push_back(
        {fmt::format("ranks {} are bound to the same core{} {} of {}: {} threads on {}",
                     ranges_text(shared.ranks), shared.cores.size() > 1 ? "s" : "",
                     ranges_text(shared.cores), shared.host, threads, shared.cores.size()),
         fmt::format("give each rank cores of its own: mpirun --map-by slot:PE={} --bind-to core, "
                     "or srun --cpus-per-task={} --cpu-bind=cores",
                     record.threads, record.threads)});
  }
}

/// The NUMA nodes in a text such as "0, 2-3".
std::vector<int> numbers_in(std::string text) {
  std::erase(text, ' ');
  return cores_in(text);
}
/// E.g. "node 0" or "nodes 0, 2".
std::string nodes_text(const std::string& nodes) {
  return (numbers_in(nodes).size() == 1 ? "node " : "nodes ") + nodes;
}

/// Ranks with equal cores that are all far from the same NUMA nodes.
struct FarRanks {
  std::string cores, place;  ///< NUMA nodes
  std::vector<int> ranks;

  std::string text() const {
    return fmt::format("{} bound to cores of NUMA {}",
                       (ranks.size() > 1 ? "ranks " : "rank ") + ranges_text(ranks) +
                           (ranks.size() > 1 ? " are" : " is"),
                       nodes_text(cores));
  }
};

/// Ranks whose cores belong to none of the NUMA nodes in their `places`. Skips ranks for which
/// either is unknown.
std::vector<FarRanks> far_ranks(const std::vector<std::string>& cores,
                                const std::vector<std::string>& places) {
  std::map<std::pair<std::string, std::string>, std::vector<int>> far;
  for (std::size_t r = 0; r < places.size(); ++r) {
    const std::vector<int> here = numbers_in(cores[r]), there = numbers_in(places[r]);
    if (here.empty() || there.empty()) continue;
    if (std::find_first_of(here.begin(), here.end(), there.begin(), there.end()) == here.end())
      far[{cores[r], places[r]}].push_back(static_cast<int>(r));
  }
  std::vector<FarRanks> found;
  for (const auto& [of, ranks] : far) found.push_back({of.first, of.second, ranks});
  return found;
}

void add_device_faults(const DoctorRecord& record, Findings& findings) {
  for (const FarRanks& far : far_ranks(record.numa_nodes, record.device_numa_nodes))
    findings.push_back(
        {fmt::format("{}, {} at {}", far.text(),
                     far.ranks.size() > 1 ? "their GPUs are" : "its GPU is", nodes_text(far.place)),
         "bind each rank to cores next to its GPU: mpirun --map-by ppr:N:numa --bind-to core for N "
         "GPUs per NUMA node, or srun --cpu-bind=map_ldom:... in the order of the GPUs (nvidia-smi "
         "topo -m shows it)"});
}

void add_network_faults(const DoctorRecord& record, Findings& findings) {
  if (record.machine.nodes <= 1) return;
  for (const FarRanks& far : far_ranks(record.numa_nodes, record.network_numa_nodes))
    findings.push_back(
        {fmt::format("{}, the network is next to {}", far.text(), nodes_text(far.place)),
         "where few ranks run on a node, bind them to cores of that NUMA node (mpirun --cpu-set, "
         "numactl --cpunodebind); where many do, let some have an adapter that is next to them "
         "(UCX_NET_DEVICES), if there is one"});
}

void add_build_faults(const DoctorRecord& record, Findings& findings) {
  if (record.slow_build)
    findings.push_back({fmt::format("this is a build for debugging ({}), many times slower",
                                    record.machine.build_type),
                        "build with the preset openmp, serial, cuda or hip"});
  if (record.unused_gpu && record.kernels_on_host)
    findings.push_back({"a node has a GPU, but in this build kernels run on the host",
                        "build with cmake --preset cuda or hip, unless the host is meant"});
}

}  // namespace

std::vector<SharedCores> shared_cores(const MachineRecord& machine) {
  std::map<std::pair<std::string, int>, std::vector<int>> ranks_on;  // (host, core)
  for (std::size_t r = 0; r < machine.binding.size(); ++r)
    for (const int core : cores_in(machine.binding[r]))
      ranks_on[{machine.hosts[r], core}].push_back(static_cast<int>(r));
  std::vector<SharedCores> shared;
  for (const auto& [place, ranks] : ranks_on) {
    if (ranks.size() < 2) continue;
    const auto same = std::find_if(shared.begin(), shared.end(), [&](const SharedCores& s) {
      return s.host == place.first && s.ranks == ranks;
    });
    if (same != shared.end())
      same->cores.push_back(place.second);
    else
      shared.push_back({place.first, {place.second}, ranks});
  }
  return shared;
}

std::vector<Finding> find_faults(const DoctorRecord& record) {
  Findings findings;
  add_trial_fault(record, findings);
  add_transfer_faults(record, findings);
  add_strategy_faults(record, findings);
  add_journaled(record, findings);
  add_rank_faults(record, findings);
  for (const std::string& warning : record.machine.warnings)
    findings.push_back(finding_of(warning));
  add_core_faults(record, findings);
  add_device_faults(record, findings);
  add_network_faults(record, findings);
  add_transfer_surprises(record, findings);
  add_build_faults(record, findings);
  return findings;
}

bool is_healthy(const DoctorRecord& record) {
  const auto some_and_all_right = [](const std::vector<Availability>& tried) {
    const auto is_verified = [](const Availability& one) {
      return one.wrong.empty() && one.why_not.empty();
    };
    return std::any_of(tried.begin(), tried.end(), is_verified) &&
           std::all_of(tried.begin(), tried.end(),
                       [](const Availability& one) { return one.wrong.empty(); });
  };
  return record.machine.ranks > 1 &&
         std::all_of(record.probe.entries.begin(), record.probe.entries.end(),
                     [](const ProbeEntry& entry) { return entry.ok(); }) &&
         some_and_all_right(record.exchanges) && some_and_all_right(record.sums);
}

}  // namespace nekbone_k
