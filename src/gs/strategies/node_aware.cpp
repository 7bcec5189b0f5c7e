// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/node_aware.hpp"

#include <set>
#include <type_traits>
#include <vector>

#include "core/errors.hpp"
#include "core/message_memory.hpp"
#include "core/system.hpp"
#include "gs/node_routes.hpp"
#include "gs/strategies/mpi_item.hpp"
#include "gs/strategies/passing_items.hpp"

namespace nekbone_k {
namespace {

/// The node of each rank. Throws UnavailableError if there is nothing to gather.
std::vector<int> nodes_with_several_ranks(const Communicator& comm) {
  std::vector<int> nodes = nodes_of_ranks(comm);
  if (const std::string why = why_nothing_to_gather(nodes); !why.empty())
    throw UnavailableError(why);
  return nodes;
}

/// `Space` runs the kernels that order items; it can access the buffers.
template <class Space, class Memory>
class NodeAware final : public Exchange {
 public:
  NodeAware(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm),
        m_buffers(buffers),
        m_item(buffers.item_bytes),
        m_n_slots(plan.n_slots()),
        m_routes(find_node_routes(comm, plan, nodes_with_several_ranks(comm))),
        m_turned(item_positions<Memory>("nekbone_k: items turned", m_routes.turned)),
        m_gathered(m_routes.n_passing() * buffers.item_bytes),
        m_arrived(m_routes.n_passing() * buffers.item_bytes),
        m_scattered(m_routes.n_passing() * buffers.item_bytes) {}

  void post() override {
    if (m_n_slots == 0 && m_routes.n_passing() == 0) return;
    for (const NodeRoutes::Own& own : m_routes.own)
      copy(m_gathered.data(), own.begin, m_buffers.send, own.slot, own.count);
    space().fence("nekbone_k: send packed and receive drained, before MPI has the buffers");
    m_handed_over.clear();
    m_from_nodes.clear();
    m_others.clear();
    post_each(MPI_Irecv, m_routes.members, m_gathered.data(), to_carrier, m_handed_over);
    post_each(MPI_Irecv, m_routes.nodes, m_arrived.data(), between_nodes, m_from_nodes);
    post_each(MPI_Irecv, m_routes.near, m_buffers.receive, on_node, m_others);
    post_each(MPI_Irecv, m_routes.carried, m_buffers.receive, from_carrier, m_others);
    post_each(MPI_Isend, m_routes.carried, m_buffers.send, to_carrier, m_others);
    post_each(MPI_Isend, m_routes.near, m_buffers.send, on_node, m_others);
    wait_all(m_handed_over, m_buffers.patience);
    post_each(MPI_Isend, m_routes.nodes, m_gathered.data(), between_nodes, m_others);
  }

  Arrival wait() override {
    if (m_routes.n_passing() > 0) {
      wait_all(m_from_nodes, m_buffers.patience);
      pick_items(space(), m_turned.data(), m_routes.n_passing(),
                 {m_arrived.data(), m_routes.n_passing()}, m_buffers.item_bytes,
                 m_scattered.data());
      space().fence("nekbone_k: items turned, before MPI reads them");
      post_each(MPI_Isend, m_routes.members, m_scattered.data(), from_carrier, m_others);
      for (const NodeRoutes::Own& own : m_routes.own)
        copy(m_buffers.receive, own.slot, m_scattered.data(), own.begin, own.count);
      if constexpr (!std::is_same_v<Space, ExecutionSpace>) space().fence("nekbone_k: own items");
    }
    wait_all(m_others, m_buffers.patience);
    return {};
  }

  void poison() override {
    for (const auto* memory : {&m_gathered, &m_arrived, &m_scattered})
      poison_items(*memory, m_routes.n_passing(), m_buffers, m_n_slots);
  }

 private:
  using Bytes = Kokkos::View<std::byte*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Requests = std::vector<MPI_Request>;
  // Separate tags, because two ranks may exchange messages of several kinds.
  static constexpr int on_node = 20, to_carrier = 21, between_nodes = 22, from_carrier = 23;

  Space space() const { return picking_space<Space>(m_buffers); }

  std::byte* item(void* buffer, LocalIndex at) const {
    return static_cast<std::byte*>(buffer) + at * m_buffers.item_bytes;
  }

  void copy(void* to, LocalIndex to_item, void* from, LocalIndex from_item, LocalIndex n) const {
    const std::size_t bytes = n * m_buffers.item_bytes;
    Kokkos::deep_copy(space(), Bytes(item(to, to_item), bytes),
                      Bytes(item(from, from_item), bytes));
  }

  template <class Call>
  void post_each(Call call, const std::vector<NodeRoutes::Message>& messages, void* buffer, int tag,
                 Requests& requests) const {
    for (const NodeRoutes::Message& m : messages)
      check_mpi(call(item(buffer, m.begin), m.count, m_item.get(), m.rank, tag, m_comm.get(),
                     &requests.emplace_back()),
                "a message of a node-aware exchange");
  }

  const Communicator& m_comm;
  MessageBuffers m_buffers;
  MpiItem m_item;
  LocalIndex m_n_slots;
  NodeRoutes m_routes;
  ItemPositions<Memory> m_turned;
  // Passing items: for other nodes, as they arrive from other nodes, and by destination rank.
  MessageMemory<Memory> m_gathered, m_arrived, m_scattered;
  Requests m_handed_over, m_from_nodes, m_others;
};

}  // namespace

std::string why_nothing_to_gather(std::span<const int> nodes) {
  const std::set<int> distinct(nodes.begin(), nodes.end());
  if (distinct.size() == 1) return "all ranks are on one node: nothing goes to another";
  if (distinct.size() == nodes.size())
    return "each rank is alone on its node: there is nothing to gather";
  return {};
}

std::unique_ptr<Exchange> make_node_aware(const Communicator& comm, const HaloPlan& plan,
                                          const MessageBuffers& buffers) {
  return std::make_unique<NodeAware<ExecutionSpace, DeviceMemory>>(comm, plan, buffers);
}

std::unique_ptr<Exchange> make_host_node_aware(const Communicator& comm, const HaloPlan& plan,
                                               const MessageBuffers& buffers) {
  return std::make_unique<NodeAware<Kokkos::DefaultHostExecutionSpace, StagingMemory>>(comm, plan,
                                                                                       buffers);
}

}  // namespace nekbone_k
