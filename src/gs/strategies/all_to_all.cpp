// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/all_to_all.hpp"

#include "core/types.hpp"
#include "gs/strategies/mpi_item.hpp"

namespace nekbone_k {
namespace {

class AllToAll final : public Exchange {
 public:
  AllToAll(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm),
        m_buffers(buffers),
        m_item(buffers.item_bytes),
        m_has_neighbours(!plan.neighbours.empty()),
        m_counts(comm.size(), 0),
        m_offsets(comm.size(), 0) {
    for (const Neighbour& n : plan.neighbours) {
      m_counts[n.rank] = n.count;
      m_offsets[n.rank] = n.offset;
    }
  }

  void post() override {
    if (m_has_neighbours) m_buffers.stream.fence("nekbone_k: packed before MPI reads the buffer");
    // MPICH refuses equal buffers, also where nothing is sent and both are null.
    void* const receive = m_has_neighbours ? m_buffers.receive : &m_nothing;
    check_mpi(
        MPI_Ialltoallv(m_buffers.send, m_counts.data(), m_offsets.data(), m_item.get(), receive,
                       m_counts.data(), m_offsets.data(), m_item.get(), m_comm.get(), &m_request),
        "MPI_Ialltoallv");
  }

  Arrival wait() override {
    wait_all({&m_request, 1}, m_buffers.patience);
    return {};
  }

 private:
  const Communicator& m_comm;
  MessageBuffers m_buffers;
  MpiItem m_item;
  bool m_has_neighbours;
  std::vector<int> m_counts, m_offsets;
  std::byte m_nothing{};
  MPI_Request m_request = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Exchange> make_all_to_all(const Communicator& comm, const HaloPlan& plan,
                                          const MessageBuffers& buffers) {
  return std::make_unique<AllToAll>(comm, plan, buffers);
}

}  // namespace nekbone_k
