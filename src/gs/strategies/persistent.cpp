#include "gs/strategies/persistent.hpp"

#include <vector>

#include "core/types.hpp"
#include "gs/strategies/mpi_item.hpp"

namespace nekbone_k {
namespace {

class Persistent final : public Exchange {
 public:
  Persistent(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_stream(buffers.stream), m_item(buffers.item_bytes), m_patience(buffers.patience) {
    m_requests.reserve(2 * plan.neighbours.size());
    for (const Neighbour& n : plan.neighbours)
      check_mpi(MPI_Recv_init(buffers.message(buffers.receive, n), n.count, m_item.get(), n.rank,
                              tag, comm.get(), &m_requests.emplace_back()),
                "MPI_Recv_init");
    for (const Neighbour& n : plan.neighbours)
      check_mpi(MPI_Send_init(buffers.message(buffers.send, n), n.count, m_item.get(), n.rank, tag,
                              comm.get(), &m_requests.emplace_back()),
                "MPI_Send_init");
  }
  ~Persistent() override {
    for (MPI_Request& request : m_requests) MPI_Request_free(&request);
  }
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;

  void start() override {
    if (m_requests.empty()) return;
    m_stream.fence("nekbone_k: send packed and receive drained, before MPI has the buffers");
    check_mpi(MPI_Startall(static_cast<int>(m_requests.size()), m_requests.data()), "MPI_Startall");
  }

  void finish() override { wait_all(m_requests, m_patience); }

 private:
  static constexpr int tag = 18;

  ExecutionSpace m_stream;
  MpiItem m_item;
  double m_patience;
  std::vector<MPI_Request> m_requests;  // receives, then sends
};

}  // namespace

std::unique_ptr<Exchange> make_persistent(const Communicator& comm, const HaloPlan& plan,
                                          const MessageBuffers& buffers) {
  return std::make_unique<Persistent>(comm, plan, buffers);
}

}  // namespace nekbone_k
