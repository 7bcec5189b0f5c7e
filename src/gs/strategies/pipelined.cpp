#include "gs/strategies/pipelined.hpp"

#include <utility>
#include <vector>

#include "core/streams.hpp"
#include "core/types.hpp"
#include "gs/index_runs.hpp"
#include "gs/message_layout.hpp"
#include "gs/message_memory.hpp"
#include "gs/strategies/mpi_item.hpp"
#include "gs/strategies/words.hpp"

namespace nekbone_k {
namespace {

class Pipelined final : public Exchange {
 public:
  /// With `staged` messages pass through host memory.
  Pipelined(bool staged, const Communicator& comm, const HaloPlan& plan,
            const MessageBuffers& buffers)
      : m_staged(staged),
        m_comm(comm),
        m_plan(plan),
        m_buffers(buffers),
        m_item(buffers.item_bytes),
        m_dofs(to_device("nekbone_k: message DOFs", plan.message_dofs)),
        m_runs(plan.neighbours.size()),
        m_ready(plan.neighbours.size()),
        m_host_send(staged ? buffers.bytes(plan) : 0),
        m_host_receive(staged ? buffers.bytes(plan) : 0) {
    m_requests.reserve(2 * plan.neighbours.size());
    for (std::size_t p = 0; p < plan.neighbours.size(); ++p) {
      const Neighbour& n = plan.neighbours[p];
      m_runs[p] = to_device("nekbone_k: runs of a message",
                            find_runs(plan.message_dofs, n.offset, n.offset + n.count));
      m_may_stay.push_back((is_host_device || staged) &&
                           layout_of(plan, n) == MessageLayout::contiguous);
    }
  }

  bool pack(const OutgoingField& field) override {
    m_field = field;
    m_packs = true;
    // The host would only pack the last message before it sends the first.
    if constexpr (!is_host_device) prepare_all();
    return true;
  }

  void start() override {
    m_requests.clear();
    const std::size_t n_neighbours = m_plan.neighbours.size();
    if (!m_packs && !is_host_device) prepare_all();
    for (std::size_t p = 0; p < n_neighbours; ++p) {
      if constexpr (is_host_device) prepare(p);
      m_ready[p].wait();
      // What is ready comes after the last unpack, which read what now receives.
      if (p == 0)
        post_receives(m_comm, m_plan, m_buffers,
                      m_staged ? m_host_receive.data() : m_buffers.receive, m_item, tag,
                      m_requests);
      const Neighbour& n = m_plan.neighbours[p];
      check_mpi(MPI_Isend(m_staged ? m_buffers.message(m_host_send.data(), n) : packed(p), n.count,
                          m_item.get(), n.rank, tag, m_comm.get(), &m_requests.emplace_back()),
                "MPI_Isend");
    }
    m_packs = false;
  }

  void finish() override {
    if (!m_staged) return wait_all(m_requests, m_buffers.patience);
    wait_each(m_requests, m_buffers.patience, [&](int request) {
      if (static_cast<std::size_t>(request) >= m_plan.neighbours.size()) return;  // was sent
      const Neighbour& n = m_plan.neighbours[request];
      Kokkos::deep_copy(m_buffers.stream,
                        part<DeviceMemory>(m_buffers.message(m_buffers.receive, n), n),
                        part<StagingMemory>(m_buffers.message(m_host_receive.data(), n), n));
    });
  }

  void poison() override {
    if (!m_staged) return;
    for (const Neighbour& n : m_plan.neighbours)
      Kokkos::deep_copy(part<StagingMemory>(m_buffers.message(m_host_receive.data(), n), n),
                        part<DeviceMemory>(m_buffers.message(m_buffers.receive, n), n));
  }

 private:
  static constexpr int tag = 24;
  template <class Memory>
  using Part = Kokkos::View<std::byte*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  template <class Memory>
  Part<Memory> part(void* begin, const Neighbour& n) const {
    return Part<Memory>(static_cast<std::byte*>(begin), n.count * m_buffers.item_bytes);
  }

  /// Whether message p is a piece of the field already.
  bool is_packed(std::size_t p) const {
    return m_packs && m_may_stay[p] && m_field.components == 1;
  }
  /// Where message p is once it is packed.
  void* packed(std::size_t p) const {
    const Neighbour& n = m_plan.neighbours[p];
    if (!is_packed(p)) return m_buffers.message(m_buffers.send, n);
    // Only read: MPI and Kokkos see no const here.
    return static_cast<std::byte*>(const_cast<void*>(m_field.data)) +
           m_plan.message_dofs[n.offset] * m_field.value_bytes;
  }

  void prepare_all() {
    for (std::size_t p = 0; p < m_plan.neighbours.size(); ++p) prepare(p);
  }

  /// Launches what makes message p ready to be sent.
  void prepare(std::size_t p) {
    if (m_packs && !is_packed(p))
      with_word(m_field.value_bytes, [&](auto word) {
        using Word = decltype(word);
        for_index_runs(
            "nekbone_k: pack a message", m_buffers.stream, m_runs[p],
            PackRun<Word>{static_cast<const Word*>(m_field.data), m_field.component_stride,
                          m_field.components, m_dofs.data(), static_cast<Word*>(m_buffers.send)});
      });
    if (m_staged) {
      const Neighbour& n = m_plan.neighbours[p];
      Kokkos::deep_copy(m_buffers.stream,
                        part<StagingMemory>(m_buffers.message(m_host_send.data(), n), n),
                        part<DeviceMemory>(packed(p), n));
    }
    m_ready[p].record(m_buffers.stream);
  }

  bool m_staged;
  const Communicator& m_comm;
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  MpiItem m_item;
  DeviceVector<LocalIndex> m_dofs;
  std::vector<DeviceRuns> m_runs;    // by neighbour, of slots and their DOFs
  std::vector<StreamEvent> m_ready;  // by neighbour
  std::vector<bool> m_may_stay;      // by neighbour: in the field, as far as its DOFs matter
  HostMessageMemory m_host_send, m_host_receive;
  OutgoingField m_field;
  bool m_packs = false;                 // of the call that is under way; else `send` is packed
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
