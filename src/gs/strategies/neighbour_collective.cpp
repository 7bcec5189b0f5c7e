// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/neighbour_collective.hpp"

#include <vector>

#include "core/errors.hpp"
#include "core/types.hpp"
#include "gs/strategies/mpi_item.hpp"

namespace nekbone_k {
namespace {

class NeighbourCollective final : public Exchange {
 public:
  NeighbourCollective(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_buffers(buffers), m_item(buffers.item_bytes) {
    std::vector<int> ranks;
    for (const Neighbour& n : plan.neighbours) {
      ranks.push_back(n.rank);
      m_counts.push_back(n.count);
      m_offsets.push_back(n.offset);
    }
    const int degree = static_cast<int>(ranks.size());
    check_mpi(
        MPI_Dist_graph_create_adjacent(comm.get(), degree, ranks.data(), MPI_UNWEIGHTED, degree,
                                       ranks.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &m_graph),
        "MPI_Dist_graph_create_adjacent");
  }
  ~NeighbourCollective() override {
    if (!m_unwinding.now()) MPI_Comm_free(&m_graph);
  }
  NeighbourCollective(const NeighbourCollective&) = delete;
  NeighbourCollective& operator=(const NeighbourCollective&) = delete;

  void post() override {
    if (!m_counts.empty())
      m_buffers.stream.fence(
          "nekbone_k: send packed and receive drained, before MPI has the buffers");
    check_mpi(MPI_Ineighbor_alltoallv(m_buffers.send, m_counts.data(), m_offsets.data(),
                                      m_item.get(), m_buffers.receive, m_counts.data(),
                                      m_offsets.data(), m_item.get(), m_graph, &m_request),
              "MPI_Ineighbor_alltoallv");
  }

  Arrival wait() override {
    wait_all({&m_request, 1}, m_buffers.patience);
    return {};
  }

 private:
  MessageBuffers m_buffers;
  MpiItem m_item;
  std::vector<int> m_counts, m_offsets;
  MPI_Comm m_graph = MPI_COMM_NULL;
  MPI_Request m_request = MPI_REQUEST_NULL;
  Unwinding m_unwinding;
};

}  // namespace

std::unique_ptr<Exchange> make_neighbour_collective(const Communicator& comm, const HaloPlan& plan,
                                                    const MessageBuffers& buffers) {
  return std::make_unique<NeighbourCollective>(comm, plan, buffers);
}

}  // namespace nekbone_k
