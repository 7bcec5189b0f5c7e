// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/pipelined.hpp"

#include <vector>

#include "core/message_memory.hpp"
#include "core/streams.hpp"
#include "core/types.hpp"
#include "gs/index_runs.hpp"
#include "gs/strategies/mpi_item.hpp"
#include "gs/strategies/outgoing_messages.hpp"

namespace nekbone_k {
namespace {

class Pipelined final : public Exchange {
 public:
  /// With `staged`, messages pass through host memory.
  Pipelined(bool staged, const Communicator& comm, const HaloPlan& plan,
            const MessageBuffers& buffers)
      : m_staged(staged),
        m_comm(comm),
        m_plan(plan),
        m_buffers(buffers),
        m_item(buffers.item_bytes),
        m_outgoing(plan, buffers, is_host_device || staged),
        m_runs(plan.neighbours.size()),
        m_ready(plan.neighbours.size()),
        m_host_send(staged ? buffers.bytes(plan) : 0),
        m_host_receive(staged ? buffers.bytes(plan) : 0) {
    m_requests.reserve(2 * plan.neighbours.size());
    for (std::size_t p = 0; p < plan.neighbours.size(); ++p) {
      const Neighbour& n = plan.neighbours[p];
      m_runs[p] = to_device("nekbone_k: runs of a message",
                            find_runs(plan.message_dofs, n.offset, n.offset + n.count));
    }
  }

  bool pack(const OutgoingField& field) override {
    m_outgoing.set_field(field);
    // On a CPU, post() packs: here the host would pack all messages before it sends the first.
    if constexpr (!is_host_device) prepare_all();
    return true;
  }

  void post() override {
    m_requests.clear();
    const std::size_t n_neighbours = m_plan.neighbours.size();
    if (!m_outgoing.has_field() && !is_host_device) prepare_all();
    for (std::size_t p = 0; p < n_neighbours; ++p) {
      if constexpr (is_host_device) prepare(p);
      m_ready[p].wait();
      // Post receives now: a ready message implies that the previous unpack, which read these
      // buffers, has ended.
      if (p == 0)
        post_receives(m_comm, m_plan, m_buffers,
                      m_staged ? m_host_receive.data() : m_buffers.receive, m_item, tag,
                      m_requests);
      const Neighbour& n = m_plan.neighbours[p];
      const std::byte* const message =
          m_staged ? m_buffers.message(m_host_send.data(), n) : m_outgoing.message(p);
      check_mpi(MPI_Isend(message, n.count, m_item.get(), n.rank, tag, m_comm.get(),
                          &m_requests.emplace_back()),
                "MPI_Isend");
    }
    m_outgoing.forget_field();
  }

  Arrival wait() override {
    if (!m_staged) {
      wait_all(m_requests, m_buffers.patience);
      return {};
    }
    wait_each(m_requests, m_buffers.patience, [&](int request) {
      if (static_cast<std::size_t>(request) >= m_plan.neighbours.size()) return;  // a send
      const Neighbour& n = m_plan.neighbours[request];
      Kokkos::deep_copy(m_buffers.stream,
                        part<DeviceMemory>(m_buffers.message(m_buffers.receive, n), n),
                        part<StagingMemory>(m_buffers.message(m_host_receive.data(), n), n));
    });
    return {};
  }

  void poison() override {
    if (!m_staged) return;
    for (const Neighbour& n : m_plan.neighbours)
      Kokkos::deep_copy(part<StagingMemory>(m_buffers.message(m_host_receive.data(), n), n),
                        part<DeviceMemory>(m_buffers.message(m_buffers.receive, n), n));
  }

 private:
  static constexpr int tag = 24;
  template <class Memory, class Byte>
  using Part = Kokkos::View<Byte*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  template <class Memory, class Byte>
  Part<Memory, Byte> part(Byte* begin, const Neighbour& n) const {
    return Part<Memory, Byte>(begin, n.count * m_buffers.item_bytes);
  }

  void prepare_all() {
    for (std::size_t p = 0; p < m_plan.neighbours.size(); ++p) prepare(p);
  }

  /// Launches the work that makes message p ready to be sent.
  void prepare(std::size_t p) {
    m_outgoing.pack(p, m_runs[p]);
    if (m_staged) {
      const Neighbour& n = m_plan.neighbours[p];
      Kokkos::deep_copy(m_buffers.stream,
                        part<StagingMemory>(m_buffers.message(m_host_send.data(), n), n),
                        part<DeviceMemory>(m_outgoing.message(p), n));
    }
    m_ready[p].record(m_buffers.stream);
  }

  bool m_staged;
  const Communicator& m_comm;
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  MpiItem m_item;
  OutgoingMessages m_outgoing;
  std::vector<DeviceRuns> m_runs;    // by neighbour, of slots and their DOFs
  std::vector<StreamEvent> m_ready;  // by neighbour
  HostMessageMemory m_host_send, m_host_receive;
  std::vector<MPI_Request> m_requests;  // receives, then sends
};

}  // namespace

std::unique_ptr<Exchange> make_pipelined(const Communicator& comm, const HaloPlan& plan,
                                         const MessageBuffers& buffers) {
  return std::make_unique<Pipelined>(false, comm, plan, buffers);
}

std::unique_ptr<Exchange> make_host_pipelined(const Communicator& comm, const HaloPlan& plan,
                                              const MessageBuffers& buffers) {
  return std::make_unique<Pipelined>(true, comm, plan, buffers);
}

}  // namespace nekbone_k
