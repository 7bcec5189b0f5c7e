// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/pairwise.hpp"

#include "core/types.hpp"
#include "gs/strategies/mpi_item.hpp"
#include "gs/strategies/outgoing_messages.hpp"

namespace nekbone_k {
namespace {

class Pairwise final : public Exchange {
 public:
  Pairwise(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm),
        m_plan(plan),
        m_buffers(buffers),
        m_item(buffers.item_bytes),
        m_outgoing(plan, buffers) {
    m_requests.reserve(2 * plan.neighbours.size());
  }

  bool pack(const OutgoingField& field) override { return m_outgoing.pack(field); }

  void post() override {
    m_requests.clear();
    if (m_plan.neighbours.empty()) return;
    m_buffers.stream.fence(
        "nekbone_k: send packed and receive drained, before MPI has the buffers");
    // Receives first: MPI then receives in place and does not copy through buffers of its own.
    post_receives(m_comm, m_plan, m_buffers, m_buffers.receive, m_item, tag, m_requests);
    for (std::size_t p = 0; p < m_plan.neighbours.size(); ++p) {
      const Neighbour& n = m_plan.neighbours[p];
      check_mpi(MPI_Isend(m_outgoing.message(p), n.count, m_item.get(), n.rank, tag, m_comm.get(),
                          &m_requests.emplace_back()),
                "MPI_Isend");
    }
    m_outgoing.forget_field();
  }

  Arrival wait() override {
    wait_all(m_requests, m_buffers.patience);
    return {};
  }

 private:
  static constexpr int tag = 17;

  const Communicator& m_comm;
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  MpiItem m_item;
  OutgoingMessages m_outgoing;
  std::vector<MPI_Request> m_requests;
};

}  // namespace

std::unique_ptr<Exchange> make_pairwise(const Communicator& comm, const HaloPlan& plan,
                                        const MessageBuffers& buffers) {
  return std::make_unique<Pairwise>(comm, plan, buffers);
}

}  // namespace nekbone_k
