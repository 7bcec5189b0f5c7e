// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/one_sided.hpp"

#include <vector>

#include "core/errors.hpp"
#include "core/types.hpp"
#include "gs/strategies/mpi_item.hpp"
#include "gs/strategies/outgoing_messages.hpp"
#include "gs/strategies/slots_there.hpp"

namespace nekbone_k {
namespace {

class OneSided final : public Exchange {
 public:
  OneSided(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_plan(plan), m_buffers(buffers), m_item(buffers.item_bytes), m_outgoing(plan, buffers) {
    for (const std::int64_t slot : slots_there(comm, plan)) m_targets.push_back(slot);
    std::vector<int> ranks;
    for (const Neighbour& n : plan.neighbours) ranks.push_back(n.rank);

    MPI_Group all = MPI_GROUP_NULL;
    check_mpi(MPI_Comm_group(comm.get(), &all), "MPI_Comm_group");
    const int degree = static_cast<int>(ranks.size());
    int code = MPI_Group_incl(all, degree, ranks.data(), &m_neighbours);
    MPI_Group_free(&all);
    check_mpi(code, "MPI_Group_incl");
    // Make no window if no rank shares anything: some libraries make no window for a single rank.
    if (comm.max(std::int64_t{degree}) == 0) return;
    code =
        MPI_Win_create(buffers.receive, static_cast<MPI_Aint>(buffers.bytes(plan)),
                       static_cast<int>(buffers.item_bytes), MPI_INFO_NULL, comm.get(), &m_window);
    if (!comm.all(code == MPI_SUCCESS))
      throw UnavailableError("this MPI makes no window (MPI_Win_create) of these buffers");
    check_mpi(MPI_Win_set_errhandler(m_window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  }
  ~OneSided() override {
    if (m_window != MPI_WIN_NULL && !m_unwinding.now()) MPI_Win_free(&m_window);
    MPI_Group_free(&m_neighbours);
  }
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  bool pack(const OutgoingField& field) override { return m_outgoing.pack(field); }

  void post() override {
    if (m_plan.neighbours.empty()) return;
    m_buffers.stream.fence(
        "nekbone_k: send packed and receive drained, before MPI has the buffers");
    check_mpi(MPI_Win_post(m_neighbours, 0, m_window), "MPI_Win_post");
    check_mpi(MPI_Win_start(m_neighbours, 0, m_window), "MPI_Win_start");
    for (std::size_t n = 0; n < m_targets.size(); ++n) {
      const Neighbour& to = m_plan.neighbours[n];
      check_mpi(MPI_Put(m_outgoing.message(n), to.count, m_item.get(), to.rank, m_targets[n],
                        to.count, m_item.get(), m_window),
                "MPI_Put");
    }
    m_outgoing.forget_field();
  }

  Arrival wait() override {
    if (m_plan.neighbours.empty()) return {};
    check_mpi(MPI_Win_complete(m_window), "MPI_Win_complete");
    const auto have_come = [&] {
      int all = 0;
      check_mpi(MPI_Win_test(m_window, &all), "MPI_Win_test");
      return all != 0;
    };
    if (!wait_until(have_come, m_buffers.patience)) give_up_waiting(m_buffers.patience);
    return {};
  }

 private:
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  MpiItem m_item;
  OutgoingMessages m_outgoing;
  std::vector<MPI_Aint> m_targets;  // offsets in the windows of the neighbours, in items
  MPI_Group m_neighbours = MPI_GROUP_NULL;
  MPI_Win m_window = MPI_WIN_NULL;
  Unwinding m_unwinding;
};

}  // namespace

std::unique_ptr<Exchange> make_one_sided(const Communicator& comm, const HaloPlan& plan,
                                         const MessageBuffers& buffers) {
  return std::make_unique<OneSided>(comm, plan, buffers);
}

}  // namespace nekbone_k
