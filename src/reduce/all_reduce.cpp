// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/all_reduce.hpp"

#include <vector>

#include "core/errors.hpp"
#include "core/nccl.hpp"
#include "core/types.hpp"
#include "reduce/host_mpi.hpp"
#include "reduce/host_shared.hpp"
#include "reduce/nccl.hpp"
#include "reduce/peer_memory.hpp"

namespace nekbone_k {

std::span<const AllReduceStrategy> all_reduce_strategies() {
  static const std::string device = DeviceMemory::name();
  constexpr SumCostModel by_messages{.carrier = Carrier::host_messages};
  constexpr SumCostModel by_memory{.carrier = Carrier::host_messages, .meets_in_memory = true};
  constexpr SumCostModel by_nccl{.carrier = Carrier::nccl, .by_kernels = true};
  constexpr SumCostModel by_kernels{.carrier = Carrier::peer_memory, .by_kernels = true};
  static const std::vector<AllReduceStrategy> table{
      {"host-mpi", "Host", "MPI_Allreduce of host memory", make_host_mpi_sum, by_messages},
      {"host-shared", "Host, shared",
       "slots in memory that a node's ranks share, MPI between nodes", make_host_shared_sum,
       by_memory},
      {"nccl", device, "ncclAllReduce of device memory", make_nccl_sum, by_nccl, nccl_missing},
      {"peer-memory", device + ", shared", "a kernel writes into the other ranks' memory",
       make_peer_memory_sum, by_kernels, peer_memory_sum_missing, true},
  };
  return table;
}

const AllReduceStrategy* find_all_reduce(const std::string& name) {
  for (const AllReduceStrategy& strategy : all_reduce_strategies())
    if (strategy.name == name) return &strategy;
  return nullptr;
}

std::string why_unavailable(const Communicator& comm, const AllReduceStrategy& strategy) {
  try {
    strategy.make(comm, 1, for_ever);
  } catch (const UnavailableError& error) {
    return error.what();
  }
  return {};
}

}  // namespace nekbone_k
