// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategy_table.hpp"

#include <vector>

#include "core/errors.hpp"
#include "core/message_memory.hpp"
#include "core/nccl.hpp"
#include "core/types.hpp"
#include "gs/strategies/all_to_all.hpp"
#include "gs/strategies/crystal_router.hpp"
#include "gs/strategies/datatypes.hpp"
#include "gs/strategies/host_staged.hpp"
#include "gs/strategies/nccl.hpp"
#include "gs/strategies/neighbour_collective.hpp"
#include "gs/strategies/node_aware.hpp"
#include "gs/strategies/nvshmem.hpp"
#include "gs/strategies/one_sided.hpp"
#include "gs/strategies/pairwise.hpp"
#include "gs/strategies/peer_memory.hpp"
#include "gs/strategies/persistent.hpp"
#include "gs/strategies/pipelined.hpp"

namespace nekbone_k {
namespace {

constexpr const char* overlap_suffix = "+overlap";

std::vector<Strategy> make_table() {
  const std::string device = std::string(DeviceMemory::name()) + ", direct";
  const std::string host = "Host, staged";
  const std::string shared = std::string(DeviceMemory::name()) + ", shared";
  /// Cost, memory and availability of a group of strategies.
  struct Group {
    CostModel cost;
    int buffers;  ///< Strategy::buffers
    bool can_overlap = true;
    std::string_view not_built = {};
  };
  const Group by_device{{.carrier = direct_messages}, 2};
  // Two more buffers: host copies of the sent and of the received messages.
  const Group by_host{{.carrier = Carrier::host_messages, .staged = true}, 4};
  const auto putting = [](Group group) {
    // Before a put the target grants access; after it the origin reports completion.
    group.cost.empty_exchanges = 2;
    return group;
  };
  const auto gathering = [](Group group) {
    // Items between nodes pass through three more buffers. On average over the ranks of a node,
    // each holds the items that a rank sends to other nodes.
    group.cost.gathered = true;
    group.buffers += 3;
    return group;
  };
  const auto routing = [](Group group) {
    // Items pass through two more buffers. They also hold items of other ranks, so they count
    // twice. There is no overlap, because after the first step nothing moves until the next one
    // begins.
    group.cost.routed = true;
    group.buffers += 4;
    group.can_overlap = false;
    return group;
  };
  const Group by_datatypes{by_device.cost, by_device.buffers, true, datatypes_missing};
  const Group by_nccl{{.carrier = Carrier::nccl, .host_waits = false}, 2, true, nccl_missing};
  // Messages alternate between two buffers. An exchange by one kernel alternates between two
  // others.
  const Group by_nvshmem{
      {.carrier = Carrier::nvshmem, .host_waits = false}, 4, true, nvshmem_missing};
  const Group by_kernels{{.carrier = Carrier::peer_memory,
                          .host_waits = false,
                          .packs_itself = true,
                          .one_kernel = !is_host_device},
                         is_host_device ? 4 : 6};

  struct Line {
    Strategy strategy;
    Group group;
  };
  const std::vector<Line> lines{
      {{"device-pairwise", device, "MPI_Isend/Irecv on device buffers", make_pairwise}, by_device},
      {{"host-pairwise", host, "MPI_Isend/Irecv on host copies", host_staged<make_pairwise>},
       by_host},
      {{"device-persistent", device, "MPI_Startall on device buffers", make_persistent}, by_device},
      {{"host-persistent", host, "MPI_Startall on host copies", host_staged<make_persistent>},
       by_host},
      {{"device-datatypes", device, "MPI_Isend of indexed datatypes on the field", make_datatypes},
       by_datatypes},
      {{"device-pipelined", device, "each message is sent once it is packed", make_pipelined},
       by_device},
      {{"host-pipelined", host, "each message is staged and sent once it is packed",
        make_host_pipelined},
       by_host},
      {{"device-neighbour", device, "MPI_Ineighbor_alltoallv on device buffers",
        make_neighbour_collective},
       by_device},
      {{"host-neighbour", host, "MPI_Ineighbor_alltoallv on host copies",
        host_staged<make_neighbour_collective>},
       by_host},
      {{"device-alltoall", device, "MPI_Ialltoallv on device buffers", make_all_to_all}, by_device},
      {{"host-alltoall", host, "MPI_Ialltoallv on host copies", host_staged<make_all_to_all>},
       by_host},
      {{"device-put", device, "MPI_Put into device buffers", make_one_sided}, putting(by_device)},
      {{"host-put", host, "MPI_Put into host copies", host_staged<make_one_sided>},
       putting(by_host)},
      {{"device-node-aware", device, "one message per pair of nodes, on device buffers",
        make_node_aware},
       gathering(by_device)},
      {{"host-node-aware", host, "one message per pair of nodes, on host copies",
        host_staged<make_host_node_aware>},
       gathering(by_host)},
      {{"device-crystal", device, "crystal router on device buffers", make_crystal_router},
       routing(by_device)},
      {{"host-crystal", host, "crystal router on host copies",
        host_staged<make_host_crystal_router>},
       routing(by_host)},
      {{"nccl", device, "ncclSend/ncclRecv on device buffers", make_nccl}, by_nccl},
      {{"nvshmem", shared, "NVSHMEM puts with signals", make_nvshmem}, by_nvshmem},
      {{"peer-memory", shared, "kernels or CPU cores write to memory of neighbours",
        make_peer_memory},
       by_kernels},
  };
  std::vector<Strategy> table;
  for (const Line& line : lines) {
    Strategy& plain = table.emplace_back(line.strategy);
    plain.cost = line.group.cost;
    plain.buffers = line.group.buffers;
    plain.not_built = line.group.not_built;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].group.can_overlap) continue;
    Strategy overlapped = table[i];
    overlapped.name += overlap_suffix;
    overlapped.description += ", overlapped with Ax";
    overlapped.overlapped = true;
    overlapped.cost.one_kernel = false;
    table.push_back(overlapped);
  }
  return table;
}

}  // namespace

std::span<const Strategy> all_strategies() {
  static const std::vector<Strategy> table = make_table();
  return table;
}

const Strategy& first_strategy() {
  static const Strategy& first =
      *find_strategy(is_host_device ? "device-pairwise" : "host-pairwise");
  return first;
}

const Strategy* find_strategy(const std::string& name) {
  for (const Strategy& strategy : all_strategies())
    if (strategy.name == name) return &strategy;
  return nullptr;
}

Strategy without_overlap(const Strategy& strategy) {
  if (!strategy.overlapped) return strategy;
  return *find_strategy(
      strategy.name.substr(0, strategy.name.size() - std::string_view(overlap_suffix).size()));
}

std::string why_unavailable(const Communicator& comm, const Strategy& strategy) {
  // Use a ring, because an exchange without neighbours lacks nothing.
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
