#include "gs/strategies/pairwise.hpp"

#include "core/types.hpp"
#include "gs/strategies/mpi_item.hpp"

namespace nekbone_k {
namespace {

class Pairwise final : public Exchange {
 public:
  Pairwise(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm), m_plan(plan), m_buffers(buffers), m_item(buffers.item_bytes) {
    m_requests.reserve(2 * plan.neighbours.size());
  }

  void start() override {
    m_requests.clear();
    if (m_plan.neighbours.empty()) return;
    m_buffers.stream.fence(
        "nekbone_k: send packed and receive drained, before MPI has the buffers");
    // Receives first: a message that finds its receive posted is not copied through MPI's own
    // buffers.
    post_receives(m_comm, m_plan, m_buffers, m_buffers.receive, m_item, tag, m_requests);
    for (const Neighbour& n : m_plan.neighbours)
      check_mpi(MPI_Isend(m_buffers.message(m_buffers.send, n), n.count, m_item.get(), n.rank, tag,
                          m_comm.get(), &m_requests.emplace_back()),
                "MPI_Isend");
  }

  void finish() override { wait_all(m_requests, m_buffers.patience); }

 private:
  static constexpr int tag = 17;

  const Communicator& m_comm;
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  MpiItem m_item;
  std::vector<MPI_Request> m_requests;
};

}  // namespace

std::unique_ptr<Exchange> make_pairwise(const Communicator& comm, const HaloPlan& plan,
                                        const MessageBuffers& buffers) {
  return std::make_unique<Pairwise>(comm, plan, buffers);
}

}  // namespace nekbone_k
