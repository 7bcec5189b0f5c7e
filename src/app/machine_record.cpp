#include "app/machine_record.hpp"

#include <fmt/format.h>

#include "app/placement.hpp"
#include "core/commit.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "core/machine.hpp"
#include "core/types.hpp"

namespace nekbone_k {
namespace {

std::vector<int> count_ranks_per_node(const Communicator& comm, const NodeLayout& layout) {
  std::vector<int> counts;
  const std::string here = layout.node_rank == 0 ? std::to_string(layout.node_ranks()) : "";
  for (const std::string& count : comm.gather(here))
    if (!count.empty()) counts.push_back(std::stoi(count));
  return counts;
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

  // Of each kind that of the lowest rank that has one.
  for (const std::string& here :
       placement_warnings(find_placement(comm, layout, machine.hosts, machine.binding)))
    if (const std::string warning = comm.first_text(here); !warning.empty())
      machine.warnings.push_back(warning);
  return machine;
}

}  // namespace nekbone_k
