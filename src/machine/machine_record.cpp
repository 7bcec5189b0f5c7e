// SPDX-License-Identifier: BSD-3-Clause
#include "machine/machine_record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/commit.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "core/system.hpp"
#include "core/types.hpp"
#include "machine/limits.hpp"
#include "machine/placement.hpp"

namespace nekbone_k {
namespace {

std::vector<int> count_ranks_per_node(const Communicator& comm, const NodeLayout& layout) {
  std::vector<int> counts;
  const std::string here = layout.node_rank == 0 ? std::to_string(layout.node_ranks()) : "";
  for (const std::string& count : comm.gather(here))
    if (!count.empty()) counts.push_back(std::stoi(count));
  return counts;
}

/// The quotas of each rank. Collective.
std::vector<std::vector<CpuQuota>> gather_quotas(const Communicator& comm) {
  std::string here;
  for (const auto& [group, cores] : cpu_quotas()) here += fmt::format("{} {} ", group, cores);
  std::vector<std::vector<CpuQuota>> quotas;
  for (const std::string& text : comm.gather(here)) {
    std::istringstream words(text);
    std::vector<CpuQuota>& its = quotas.emplace_back();
    for (CpuQuota quota; words >> quota.group >> quota.cores;) its.push_back(quota);
  }
  return quotas;
}

std::string kokkos_version() {
  return fmt::format("{}.{}.{}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
                     KOKKOS_VERSION % 100);
}

}  // namespace

MachineRecord make_machine_record(const Communicator& comm) {
  const NodeLayout layout = find_node_layout(comm);
  MachineRecord machine;
  machine.version = version_string;
  machine.commit = commit_string;
  machine.compiler = compiler_string;
  machine.build_type = fmt::format("{}, preset {}", build_type, build_preset);
  machine.kokkos_version = kokkos_version();
  machine.backend = ExecutionSpace::name();
  machine.concurrency = ExecutionSpace().concurrency();
  machine.mpi_library = mpi_library();
  machine.libraries = library_versions();
  machine.processor = processor_name();
  machine.ranks = comm.size();
  machine.nodes = layout.nodes;
  machine.ranks_per_node = count_ranks_per_node(comm, layout);
  machine.hosts = comm.gather(host_name());
  machine.devices = comm.gather(device_name());
  machine.binding = comm.gather(allowed_cores());
  machine.started = utc_time();
  const std::vector<std::vector<CpuQuota>> quotas = gather_quotas(comm);
  for (const std::vector<CpuQuota>& its : quotas) {
    double least = unlimited;
    for (const CpuQuota& quota : its) least = std::min(least, quota.cores);
    machine.cpu_quota.push_back(least);
  }

  // Of each kind of warning, take that of the lowest rank that has one.
  for (const std::string& here :
       placement_warnings(find_placement(comm, layout, machine.hosts, machine.binding, quotas)))
    if (const std::string warning = comm.first_text(here); !warning.empty())
      machine.warnings.push_back(warning);
  if (std::string warning = comm.first_text(unknown_variables(environ)); !warning.empty())
    machine.warnings.push_back(std::move(warning));
  return machine;
}

}  // namespace nekbone_k
