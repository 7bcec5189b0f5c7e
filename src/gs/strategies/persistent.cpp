// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/persistent.hpp"

#include <vector>

#include "core/types.hpp"
#include "gs/strategies/mpi_item.hpp"
#include "gs/strategies/outgoing_messages.hpp"

namespace nekbone_k {
namespace {

class Persistent final : public Exchange {
 public:
  Persistent(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm),
        m_plan(plan),
        m_stream(buffers.stream),
        m_item(buffers.item_bytes),
        m_patience(buffers.patience),
        m_outgoing(plan, buffers),
        m_sent_from(plan.neighbours.size()) {
    m_requests.reserve(2 * plan.neighbours.size());
    for (const Neighbour& n : plan.neighbours)
      check_mpi(MPI_Recv_init(buffers.message(buffers.receive, n), n.count, m_item.get(), n.rank,
                              tag, comm.get(), &m_requests.emplace_back()),
                "MPI_Recv_init");
    m_requests.resize(2 * plan.neighbours.size(), MPI_REQUEST_NULL);
    make_sends();
  }
  ~Persistent() override {
    for (MPI_Request& request : m_requests)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;

  bool pack(const OutgoingField& field) override { return m_outgoing.pack(field); }

  void post() override {
    if (m_requests.empty()) return;
    make_sends();
    m_stream.fence("nekbone_k: send packed and receive drained, before MPI has the buffers");
    check_mpi(MPI_Startall(static_cast<int>(m_requests.size()), m_requests.data()), "MPI_Startall");
  }

  Arrival wait() override {
    wait_all(m_requests, m_patience);
    return {};
  }

 private:
  static constexpr int tag = 18;

  /// Remakes the sends whose message has moved, because a request is bound to an address.
  void make_sends() {
    for (std::size_t p = 0; p < m_sent_from.size(); ++p) {
      const std::byte* const message = m_outgoing.message(p);
      if (message == m_sent_from[p]) continue;
      const Neighbour& n = m_plan.neighbours[p];
      MPI_Request& request = m_requests[m_sent_from.size() + p];
      m_sent_from[p] = nullptr;
      if (request != MPI_REQUEST_NULL) check_mpi(MPI_Request_free(&request), "MPI_Request_free");
      check_mpi(MPI_Send_init(message, n.count, m_item.get(), n.rank, tag, m_comm.get(), &request),
                "MPI_Send_init");
      m_sent_from[p] = message;
    }
    m_outgoing.forget_field();
  }

  const Communicator& m_comm;
  const HaloPlan& m_plan;
  ExecutionSpace m_stream;
  MpiItem m_item;
  double m_patience;
  OutgoingMessages m_outgoing;
  std::vector<const std::byte*> m_sent_from;  // by neighbour: address of the message in its request
  std::vector<MPI_Request> m_requests;        // receives, then sends
};

}  // namespace

std::unique_ptr<Exchange> make_persistent(const Communicator& comm, const HaloPlan& plan,
                                          const MessageBuffers& buffers) {
  return std::make_unique<Persistent>(comm, plan, buffers);
}

}  // namespace nekbone_k
