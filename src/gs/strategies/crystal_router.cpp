// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/crystal_router.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "core/errors.hpp"
#include "core/message_memory.hpp"
#include "gs/strategies/mpi_item.hpp"
#include "gs/strategies/passing_items.hpp"
#include "gs/strategies/slots_there.hpp"

namespace nekbone_k {
namespace {

/// The destination of an item.
struct Destination {
  std::int64_t rank, slot;  ///< slot in the receive buffer of `rank`
};

/// One halving of a range of ranks: the partners of this rank in the other half.
struct Step {
  int to;                 ///< receives all items for the other half
  std::vector<int> from;  ///< ranks of the other half that send to this rank: at most two
};

/// The messages of one step. It picks items from the store and sends them; received items are
/// appended to the store. If a count is 0, there is no message.
struct Stage {
  int to = -1;
  LocalIndex first_picked = 0, n_picked = 0;  ///< in the picked items of all stages
  struct Arrival {
    int from;
    LocalIndex begin, count;  ///< in the store
  };
  std::vector<Arrival> arrivals;
};

/// The rank of the other half of [first, first + size) that `rank` sends to. If the lower half is
/// larger by one, its last rank sends to the last rank of the upper half.
int rank_across(int rank, int first, int size) {
  const int lower = (size + 1) / 2;
  return rank < first + lower ? std::min(rank + lower, first + size - 1) : rank - lower;
}

/// Visits the steps of a rank, from the range of all ranks to a range of one.
template <class Visit>
void for_each_step(int rank, int size, const Visit& visit) {
  int first = 0;
  while (size > 1) {
    const int lower = (size + 1) / 2, last = first + size - 1;
    const bool is_lower = rank < first + lower;
    Step step{rank_across(rank, first, size), {}};
    if (is_lower) {
      if (rank + lower <= last) step.from = {rank + lower};
    } else {
      step.from = {rank - lower};
      if (rank == last && size % 2 == 1) step.from.push_back(first + lower - 1);
    }
    visit(step, [=](std::int64_t other) { return (other < first + lower) != is_lower; });
    if (is_lower) {
      size = lower;
    } else {
      first += lower;
      size -= lower;
    }
  }
}

/// `Space` runs the kernels that pick items; it can access the buffers.
template <class Space, class Memory>
class CrystalRouter final : public Exchange {
 public:
  CrystalRouter(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm), m_buffers(buffers), m_item(buffers.item_bytes), m_n_slots(plan.n_slots()) {
    find_ways(plan);
    m_picked_memory = std::make_unique<MessageMemory<Memory>>(m_most_picked * buffers.item_bytes);
    m_store_memory =
        std::make_unique<MessageMemory<Memory>>((m_store_size - m_n_slots) * buffers.item_bytes);
  }

  void post() override {
    m_next = 0;
    post_stage();
  }

  Arrival wait() override {
    while (m_next < m_stages.size()) {
      wait_all(std::span(m_requests).first(m_n_requests), m_buffers.patience);
      ++m_next;
      post_stage();
    }
    pick(m_arrived, 0, m_n_slots, m_buffers.receive);
    if constexpr (!std::is_same_v<Space, ExecutionSpace>) space().fence("nekbone_k: items picked");
    return {};
  }

  void poison() override {
    poison_items(*m_picked_memory, m_most_picked, m_buffers, m_n_slots);
    poison_items(*m_store_memory, m_store_size - m_n_slots, m_buffers, m_n_slots);
  }

 private:
  static constexpr int tag = 19;

  Space space() const { return picking_space<Space>(m_buffers); }

  /// Follows all items from rank to rank once: messages carry the destinations of the items.
  void find_ways(const HaloPlan& plan) {
    const std::vector<std::int64_t> slots = slots_there(m_comm, plan);
    std::vector<Destination> store;
    for (std::size_t p = 0; p < slots.size(); ++p)
      for (LocalIndex i = 0; i < plan.neighbours[p].count; ++i)
        store.push_back({plan.neighbours[p].rank, slots[p] + i});

    std::vector<LocalIndex> picked, held;  // positions in the store
    for (LocalIndex at = 0; at < m_n_slots; ++at) held.push_back(at);
    for_each_step(m_comm.rank(), m_comm.size(), [&](const Step& step, const auto& is_other) {
      Stage stage;
      stage.to = step.to;
      stage.first_picked = static_cast<LocalIndex>(picked.size());
      std::vector<Destination> sent;
      std::vector<LocalIndex> kept;
      for (const LocalIndex at : held) {
        if (!is_other(store[at].rank)) {
          kept.push_back(at);
          continue;
        }
        picked.push_back(at);
        sent.push_back(store[at]);
      }
      held = std::move(kept);
      stage.n_picked = static_cast<LocalIndex>(sent.size());
      m_most_picked = std::max(m_most_picked, stage.n_picked);

      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Isend(sent.data(), 2 * stage.n_picked, MPI_INT64_T, step.to, tag, m_comm.get(),
                          &request),
                "MPI_Isend");
      for (const int from : step.from) {
        MPI_Status status;
        check_mpi(MPI_Probe(from, tag, m_comm.get(), &status), "MPI_Probe");
        int count = 0;
        check_mpi(MPI_Get_count(&status, MPI_INT64_T, &count), "MPI_Get_count");
        const auto begin = static_cast<LocalIndex>(store.size());
        store.resize(begin + count / 2);
        check_mpi(MPI_Recv(store.data() + begin, count, MPI_INT64_T, from, tag, m_comm.get(),
                           MPI_STATUS_IGNORE),
                  "MPI_Recv");
        stage.arrivals.push_back({from, begin, count / 2});
        for (LocalIndex at = begin; at < begin + count / 2; ++at) held.push_back(at);
      }
      check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
      m_stages.push_back(stage);
    });

    require(held.size() == static_cast<std::size_t>(m_n_slots), "an item lost its way");
    std::vector<LocalIndex> arrived(m_n_slots);
    for (const LocalIndex at : held) arrived[store[at].slot] = at;
    m_picked = item_positions<Memory>("nekbone_k: items to pick", picked);
    m_arrived = item_positions<Memory>("nekbone_k: items that arrived", arrived);
    m_store_size = static_cast<LocalIndex>(store.size());
  }

  /// Item i of `to` = item which(first + i) of the store. The store begins with the send buffer, of
  /// n_slots items.
  void pick(const ItemPositions<Memory>& which, LocalIndex first, LocalIndex n, void* to) const {
    pick_items(space(), which.data() + first, n,
               {m_buffers.send, m_n_slots, m_store_memory->data()}, m_buffers.item_bytes, to);
  }

  /// Begins stage m_next, if there is one.
  void post_stage() {
    if (m_next == m_stages.size()) return;
    const Stage& stage = m_stages[m_next];
    pick(m_picked, stage.first_picked, stage.n_picked, m_picked_memory->data());
    // Receives need this, too: a kernel may still read the items picked at the previous call.
    space().fence("nekbone_k: items picked, before MPI has the buffers");
    m_n_requests = 0;
    for (const Stage::Arrival& a : stage.arrivals)
      if (a.count > 0)
        check_mpi(MPI_Irecv(static_cast<std::byte*>(m_store_memory->data()) +
                                (a.begin - m_n_slots) * m_buffers.item_bytes,
                            a.count, m_item.get(), a.from, tag, m_comm.get(),
                            &m_requests[m_n_requests++]),
                  "MPI_Irecv");
    if (stage.n_picked > 0)
      check_mpi(MPI_Isend(m_picked_memory->data(), stage.n_picked, m_item.get(), stage.to, tag,
                          m_comm.get(), &m_requests[m_n_requests++]),
                "MPI_Isend");
  }

  const Communicator& m_comm;
  MessageBuffers m_buffers;
  MpiItem m_item;
  // The store of a call: items that this rank sends, then items that pass through.
  LocalIndex m_n_slots, m_store_size = 0, m_most_picked = 0;
  std::vector<Stage> m_stages;
  ItemPositions<Memory> m_picked, m_arrived;
  std::unique_ptr<MessageMemory<Memory>> m_picked_memory, m_store_memory;
  std::size_t m_next = 0;  // the current stage
  std::array<MPI_Request, 3> m_requests{};
  int m_n_requests = 0;
};

using HostSpace = Kokkos::DefaultHostExecutionSpace;

}  // namespace

std::vector<int> crystal_route(int from, int to, int ranks) {
  std::vector<int> route;
  for (int first = 0, size = ranks, at = from; size > 1; route.push_back(at)) {
    const int lower = (size + 1) / 2;
    const bool to_lower = to < first + lower;
    if ((at < first + lower) != to_lower) at = rank_across(at, first, size);
    if (!to_lower) first += lower;
    size = to_lower ? lower : size - lower;
  }
  return route;
}

std::unique_ptr<Exchange> make_crystal_router(const Communicator& comm, const HaloPlan& plan,
                                              const MessageBuffers& buffers) {
  return std::make_unique<CrystalRouter<ExecutionSpace, DeviceMemory>>(comm, plan, buffers);
}

std::unique_ptr<Exchange> make_host_crystal_router(const Communicator& comm, const HaloPlan& plan,
                                                   const MessageBuffers& buffers) {
  return std::make_unique<CrystalRouter<HostSpace, StagingMemory>>(comm, plan, buffers);
}

}  // namespace nekbone_k
