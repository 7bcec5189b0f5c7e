#include "gs/strategy_table.hpp"

#include <vector>

#include "core/errors.hpp"
#include "core/types.hpp"
#include "gs/strategies/all_to_all.hpp"
#include "gs/strategies/host_staged.hpp"
#include "gs/strategies/nccl.hpp"
#include "gs/strategies/pairwise.hpp"
#include "gs/strategies/peer_memory.hpp"

namespace nekbone_k {
namespace {

std::vector<Strategy> make_table() {
  const std::string device = std::string(DeviceMemory::name()) + ", direct";
  const std::string host = "Host, staged";
  std::vector<Strategy> table{
      {"device-pairwise", device, "MPI_Isend/Irecv on device buffers", make_pairwise},
      {"host-pairwise", host, "MPI_Isend/Irecv on host copies", host_staged<make_pairwise>, false,
       4},
      {"device-alltoall", device, "MPI_Ialltoallv on device buffers", make_all_to_all},
      {"host-alltoall", host, "MPI_Ialltoallv on host copies", host_staged<make_all_to_all>, false,
       4},
      {"nccl", device, "ncclSend/ncclRecv on a stream beside the kernels'", make_nccl},
      {"peer-memory", std::string(DeviceMemory::name()) + ", shared",
       "kernels write into neighbours' memory; device-pairwise to other nodes", make_peer_memory,
       false, 4},
  };
  for (std::size_t i = 0, plain = table.size(); i < plain; ++i) {
    Strategy overlapped = table[i];
    overlapped.name += "+overlap";
    overlapped.description += ", interior elements in between";
    overlapped.overlapped = true;
    table.push_back(overlapped);
  }
  return table;
}

}  // namespace

std::span<const Strategy> all_strategies() {
  static const std::vector<Strategy> table = make_table();
  return table;
}

const Strategy* find_strategy(const std::string& name) {
  for (const Strategy& strategy : all_strategies())
    if (strategy.name == name) return &strategy;
  return nullptr;
}

std::string why_unavailable(const Communicator& comm, const Strategy& strategy) {
  const HaloPlan nothing;
  try {
    strategy.make(comm, nothing, {});
  } catch (const UnavailableError& error) {
    return error.what();
  }
  return {};
}

}  // namespace nekbone_k
