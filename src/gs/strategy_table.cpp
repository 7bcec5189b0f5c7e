#include "gs/strategy_table.hpp"

#include <vector>

#include "core/errors.hpp"
#include "core/types.hpp"
#include "gs/message_memory.hpp"
#include "gs/strategies/all_to_all.hpp"
#include "gs/strategies/crystal_router.hpp"
#include "gs/strategies/host_staged.hpp"
#include "gs/strategies/nccl.hpp"
#include "gs/strategies/neighbour_collective.hpp"
#include "gs/strategies/one_sided.hpp"
#include "gs/strategies/pairwise.hpp"
#include "gs/strategies/peer_memory.hpp"
#include "gs/strategies/persistent.hpp"

namespace nekbone_k {
namespace {

std::vector<Strategy> make_table() {
  const std::string device = std::string(DeviceMemory::name()) + ", direct";
  const std::string host = "Host, staged";
  const std::string shared = std::string(DeviceMemory::name()) + ", shared";
  std::vector<Strategy> table{
      {"device-pairwise", device, "MPI_Isend/Irecv on device buffers", make_pairwise},
      {"host-pairwise", host, "MPI_Isend/Irecv on host copies", host_staged<make_pairwise>},
      {"device-persistent", device, "MPI_Startall on device buffers", make_persistent},
      {"host-persistent", host, "MPI_Startall on host copies", host_staged<make_persistent>},
      {"device-neighbour", device, "MPI_Ineighbor_alltoallv on device buffers",
       make_neighbour_collective},
      {"host-neighbour", host, "MPI_Ineighbor_alltoallv on host copies",
       host_staged<make_neighbour_collective>},
      {"device-alltoall", device, "MPI_Ialltoallv on device buffers", make_all_to_all},
      {"host-alltoall", host, "MPI_Ialltoallv on host copies", host_staged<make_all_to_all>},
      {"device-put", device, "MPI_Put into device buffers", make_one_sided},
      {"host-put", host, "MPI_Put into host copies", host_staged<make_one_sided>},
      {"device-crystal", device, "crystal router on device buffers", make_crystal_router},
      {"host-crystal", host, "crystal router on host copies",
       host_staged<make_host_crystal_router>},
      {"nccl", device, "ncclSend/ncclRecv on device buffers", make_nccl},
      {"peer-memory", shared, "kernels write into the neighbours' memory", make_peer_memory},
  };
  for (Strategy& strategy : table) {
    if (strategy.memory != device) strategy.buffers = 4;
    // The router's items pass through two more, and some of them are others'.
    if (strategy.name.ends_with("crystal")) strategy.buffers += 4;
  }
  for (std::size_t i = 0, plain = table.size(); i < plain; ++i) {
    // After the first of a router's steps nothing moves until the next is begun.
    if (table[i].name.ends_with("crystal")) continue;
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
  // A ring, as what is made for nothing lacks nothing.
  std::vector<GlobalId> ids{comm.rank()};
  if (comm.size() > 1) ids.push_back((comm.rank() + 1) % comm.size());
  const HaloPlan ring = make_halo_plan(comm, ids);
  const std::size_t bytes = ring.n_slots() * sizeof(double);
  const DeviceMessageMemory send(bytes), receive(bytes);
  try {
    strategy.make(comm, ring, {send.data(), receive.data(), sizeof(double)});
  } catch (const UnavailableError& error) {
    return error.what();
  }
  return {};
}

}  // namespace nekbone_k
