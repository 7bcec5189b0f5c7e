#include "app/machine_record.hpp"

#include <fmt/format.h>

#include "core/commit.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "core/machine.hpp"
#include "core/topology.hpp"
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

void add_warnings(const Communicator& comm, const NodeLayout& layout, MachineRecord& machine) {
  const int threads = is_host_device ? machine.concurrency : 1;
  const int cores = online_core_count();
  std::string crowded, bound, shared, pretended;
  if (const int ranks = pretended_ranks_per_node(); ranks > 0)
    pretended = fmt::format(
        "NEKBONE_K_RANKS_PER_NODE is {}: each {} ranks of a node exchange as if they were a node; "
        "unset it for timings that count",
        ranks, ranks);
  if (std::int64_t{layout.node_ranks} * threads > cores)
    crowded = fmt::format(
        "{} runs {} threads on {} cores; {}use fewer ranks, or timings mean little", host_name(),
        layout.node_ranks * threads, cores, threads > 1 ? "set OMP_NUM_THREADS or " : "");
  if (allowed_core_count() < threads)
    bound = fmt::format(
        "rank {} is bound to {} cores, fewer than its {} threads; see the launcher's --bind-to or "
        "--cpus-per-task",
        comm.rank(), allowed_core_count(), threads);
  if (const int sharing = ranks_on_device(comm); sharing > 1)
    shared = fmt::format(
        "{} ranks share {}; run one rank a GPU, or show each rank its own (CUDA_VISIBLE_DEVICES, "
        "ROCR_VISIBLE_DEVICES), or timings mean little",
        sharing, device_name());
  for (const std::string& warning : {comm.first_text(crowded), comm.first_text(bound),
                                     comm.first_text(shared), comm.first_text(pretended)})
    if (!warning.empty()) machine.warnings.push_back(warning);
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

  add_warnings(comm, layout, machine);
  return machine;
}

}  // namespace nekbone_k
