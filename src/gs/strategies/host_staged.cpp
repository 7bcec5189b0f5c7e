// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/host_staged.hpp"

#include "core/message_memory.hpp"

namespace nekbone_k {
namespace {

using HostBytes = Kokkos::View<std::byte*, StagingMemory>;
using DeviceBytes = Kokkos::View<std::byte*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

class HostStaged final : public Exchange {
 public:
  HostStaged(ExchangeFactory inner, const Communicator& comm, const HaloPlan& plan,
             const MessageBuffers& buffers)
      : m_stream(buffers.stream),
        m_device_send(static_cast<std::byte*>(buffers.send), buffers.bytes(plan)),
        m_device_receive(static_cast<std::byte*>(buffers.receive), buffers.bytes(plan)),
        m_send_memory(buffers.bytes(plan)),
        m_receive_memory(buffers.bytes(plan)),
        m_send(m_send_memory.as_vector<std::byte>(buffers.bytes(plan))),
        m_receive(m_receive_memory.as_vector<std::byte>(buffers.bytes(plan))),
        m_inner(inner(comm, plan,
                      {m_send.data(), m_receive.data(), buffers.item_bytes, buffers.stream,
                       buffers.patience})) {}

  void post() override {
    if (m_send.extent(0) > 0) {
      Kokkos::deep_copy(m_stream, m_send, m_device_send);
      m_stream.fence("nekbone_k: staged before MPI reads the buffer");
    }
    m_inner->post();
  }

  Arrival wait() override {
    m_inner->wait();
    m_inner->collect();
    // In the stream, so that the unpack kernel behind it needs no fence.
    if (m_receive.extent(0) > 0) Kokkos::deep_copy(m_stream, m_device_receive, m_receive);
    return {};
  }

  void poison() override {
    Kokkos::deep_copy(m_receive, m_device_receive);
    m_inner->poison();
  }

 private:
  ExecutionSpace m_stream;
  DeviceBytes m_device_send, m_device_receive;
  HostMessageMemory m_send_memory, m_receive_memory;
  HostBytes m_send, m_receive;
  std::unique_ptr<Exchange> m_inner;
};

}  // namespace

std::unique_ptr<Exchange> make_host_staged(ExchangeFactory inner, const Communicator& comm,
                                           const HaloPlan& plan, const MessageBuffers& buffers) {
  return std::make_unique<HostStaged>(inner, comm, plan, buffers);
}

}  // namespace nekbone_k
