// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/nccl.hpp"

#include "core/errors.hpp"
#include "core/nccl.hpp"

#ifdef NEKBONE_K_HAVE_NCCL

namespace nekbone_k {
namespace {

/// Begun NCCL group; it ends with the object at the latest.
class NcclGroup {
 public:
  NcclGroup() = default;
  ~NcclGroup() {
    if (!m_has_ended) ncclGroupEnd();
  }
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  ncclResult_t end() {
    m_has_ended = true;
    return ncclGroupEnd();
  }

 private:
  bool m_has_ended = false;
};

class Nccl final : public Exchange {
 public:
  Nccl(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_plan(plan), m_buffers(buffers), m_nccl(nccl_communicator(comm, NcclUse::exchange)) {}

  void post() override {
    if (m_plan.neighbours.empty()) return;
    const auto stream = native_stream(m_buffers.stream);
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    NcclGroup group;  // also ends if a call throws; otherwise later calls would only queue
    for (const Neighbour& n : m_plan.neighbours) {
      const std::size_t bytes = n.count * m_buffers.item_bytes;
      check_nccl(ncclRecv(m_buffers.message(m_buffers.receive, n), bytes, ncclInt8, n.rank, m_nccl,
                          stream),
                 "ncclRecv");
      check_nccl(
          ncclSend(m_buffers.message(m_buffers.send, n), bytes, ncclInt8, n.rank, m_nccl, stream),
          "ncclSend");
    }
    check_nccl(group.end(), "ncclGroupEnd");
  }

  Arrival wait() override { return {}; }  // the stream orders the unpack kernel behind the messages

 private:
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  ncclComm_t m_nccl;
};

}  // namespace

std::unique_ptr<Exchange> make_nccl(const Communicator& comm, const HaloPlan& plan,
                                    const MessageBuffers& buffers) {
  return std::make_unique<Nccl>(comm, plan, buffers);
}

}  // namespace nekbone_k

#else

namespace nekbone_k {

std::unique_ptr<Exchange> make_nccl(const Communicator&, const HaloPlan&, const MessageBuffers&) {
  throw UnavailableError(nccl_missing);
}

}  // namespace nekbone_k

#endif
