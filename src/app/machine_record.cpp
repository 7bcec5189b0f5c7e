#include "app/machine_record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "core/commit.hpp"
#include "core/config.hpp"
#include "core/machine.hpp"
#include "core/types.hpp"

namespace nekbone_k {
namespace {

std::vector<int> count_ranks_per_node(const Communicator& comm, const NodeLayout& layout) {
  std::vector<int> counts;
  const std::string here = layout.node_rank == 0 ? std::to_string(layout.node_ranks) : "";
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
  machine.ranks = comm.size();
  machine.nodes = layout.nodes;
  machine.ranks_per_node = count_ranks_per_node(comm, layout);
  machine.hosts = comm.gather(host_name());
  machine.devices = comm.gather(device_name());
  machine.binding = comm.gather(allowed_cores());
  machine.started = utc_time();

  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, DeviceMemory>::accessible;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const long threads = std::int64_t{layout.node_ranks} * (on_host ? machine.concurrency : 1);
  const auto excess = comm.max(std::int64_t{threads - cores});
  if (excess > 0)
    machine.warnings.push_back(
        fmt::format("a node runs {} threads on {} cores; set OMP_NUM_THREADS or use fewer ranks, "
                    "or timings mean "
                    "little",
                    threads, cores));
  const bool crowded = allowed_core_count() < (on_host ? machine.concurrency : 1);
  if (!comm.all(!crowded))
    machine.warnings.push_back(
        "a rank is bound to fewer cores than it has threads; see the launcher's --bind-to or "
        "--cpus-per-task");
  return machine;
}

}  // namespace nekbone_k
