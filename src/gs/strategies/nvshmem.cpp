// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/nvshmem.hpp"

#include "core/config.hpp"
#include "core/errors.hpp"

#ifdef NEKBONE_K_HAVE_NVSHMEM

#include <fmt/format.h>
#include <nvshmem_host.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/gpu_api.hpp"

namespace nekbone_k {
namespace {

/// Throws UnavailableError on every rank if `failure` is not empty on some rank.
void require_on_all(const Communicator& comm, const std::string& failure) {
  const std::string reason = comm.first_text(failure);
  if (!reason.empty()) throw UnavailableError(reason);
}

/// Initialises NVSHMEM with the ranks of `comm` as its PEs, once, until the end of the run.
/// Collective; throws UnavailableError on every rank if it fails on one.
void begin_nvshmem(const Communicator& comm) {
  static std::string failure = "not begun";
  if (failure == "not begun") {
    // Within a node the proxy thread of NVSHMEM only polls, on the core of its rank. Kernels then
    // launch milliseconds late. Users who want it set the variable to 0.
    setenv("NVSHMEM_DISABLE_LOCAL_ONLY_PROXY", "1", 0);
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    int code = comm.is_root() ? nvshmemx_get_uniqueid(&id) : 0;
    std::string text(reinterpret_cast<const char*>(&id), sizeof id);
    text = comm.broadcast(text);
    std::memcpy(&id, text.data(), sizeof id);
    if (comm.all(code == 0)) {
      nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
      code = nvshmemx_set_attr_uniqueid_args(comm.rank(), comm.size(), &id, &attributes);
      if (comm.all(code == 0))
        code = nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
    }
    failure = comm.first_text(
        code == 0 ? ""
                  : fmt::format("NVSHMEM cannot begin: error {} (rank {})", code, comm.rank()));
    if (failure.empty()) Kokkos::push_finalize_hook([] { nvshmemx_hostlib_finalize(); });
  }
  if (!failure.empty()) throw UnavailableError(failure);
}

/// Symmetric memory of all PEs. Made and freed collectively; leaked when an exception unwinds.
class SymmetricMemory {
 public:
  explicit SymmetricMemory(const Communicator& comm, std::size_t bytes)
      : m_begin(static_cast<std::byte*>(nvshmem_malloc(bytes))) {
    require_on_all(comm, m_begin != nullptr ? ""
                                            : fmt::format("NVSHMEM has no {} bytes on rank {}",
                                                          bytes, comm.rank()));
  }
  ~SymmetricMemory() {
    if (m_begin != nullptr && !m_unwinding.now()) nvshmem_free(m_begin);
  }
  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;

  std::byte* begin() const { return m_begin; }

 private:
  std::byte* m_begin;
  Unwinding m_unwinding;
};

class Nvshmem final : public Exchange {
 public:
  Nvshmem(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm), m_plan(plan), m_buffers(buffers) {
    // Signals, then two landing buffers. All ranks use the size of the rank that needs most.
    const auto n_signals = comm.max(static_cast<std::int64_t>(plan.neighbours.size()));
    m_signal_bytes = align(n_signals * sizeof(std::uint64_t));
    m_landing_bytes = align(comm.max(static_cast<std::int64_t>(buffers.bytes(plan))));
    m_memory = std::make_unique<SymmetricMemory>(comm, m_signal_bytes + 2 * m_landing_bytes);
    Kokkos::deep_copy(Bytes(m_memory->begin(), m_signal_bytes), std::byte{0});
    Kokkos::fence("nekbone_k: no signal given");
    register_send();
    // Per neighbour: the number of its signal for this rank, and the offset of the message from
    // this rank in its landing buffers.
    std::vector<std::vector<std::int64_t>> to_rank(comm.size());
    for (std::size_t p = 0; p < plan.neighbours.size(); ++p)
      to_rank[plan.neighbours[p].rank] = {
          static_cast<std::int64_t>(p),
          static_cast<std::int64_t>(plan.neighbours[p].offset * buffers.item_bytes)};
    const auto from_rank = comm.exchange(to_rank);  // after this, the signals of every rank are 0
    for (const Neighbour& n : plan.neighbours)
      m_there.push_back({from_rank[n.rank][0], from_rank[n.rank][1]});
  }
  ~Nvshmem() override {
    if (!m_is_registered) return;
    m_buffers.stream.fence("nekbone_k: sent before it is forgotten");
    nvshmemx_buffer_unregister(m_buffers.send);
  }
  Nvshmem(const Nvshmem&) = delete;
  Nvshmem& operator=(const Nvshmem&) = delete;

  void post() override {
    ++m_call;
    for (std::size_t p = 0; p < m_plan.neighbours.size(); ++p) {
      const Neighbour& n = m_plan.neighbours[p];
      nvshmemx_putmem_signal_on_stream(
          landing() + m_there[p].offset, m_buffers.message(m_buffers.send, n),
          n.count * m_buffers.item_bytes, signal(m_there[p].signal), m_call, NVSHMEM_SIGNAL_SET,
          n.rank, native_stream(m_buffers.stream));
    }
  }

  Arrival wait() override {
    for (std::size_t p = 0; p < m_plan.neighbours.size(); ++p)
      nvshmemx_signal_wait_until_on_stream(signal(static_cast<std::int64_t>(p)), NVSHMEM_CMP_GE,
                                           m_call, native_stream(m_buffers.stream));
    return {landing()};
  }

  void collect() override {
    const std::size_t bytes = m_buffers.bytes(m_plan);
    Kokkos::deep_copy(m_buffers.stream, Bytes(static_cast<std::byte*>(m_buffers.receive), bytes),
                      Bytes(landing(), bytes));
  }

  void poison() override {
    const std::size_t bytes = m_buffers.bytes(m_plan);
    const Bytes receive(static_cast<std::byte*>(m_buffers.receive), bytes);
    for (const std::uint64_t call : {0, 1})
      Kokkos::deep_copy(Bytes(landing_at(call), bytes), receive);
    Kokkos::fence("nekbone_k: poisoned");
    m_comm.barrier();  // before a neighbour puts a message there
  }

 private:
  using Bytes = Kokkos::View<std::byte*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  struct There {
    std::int64_t signal, offset;
  };

  static std::size_t align(std::int64_t bytes) {
    constexpr std::size_t line = 128;
    return (static_cast<std::size_t>(bytes) / line + 1) * line;
  }

  std::uint64_t* signal(std::int64_t number) const {
    return reinterpret_cast<std::uint64_t*>(m_memory->begin()) + number;
  }
  std::byte* landing_at(std::uint64_t call) const {
    return m_memory->begin() + m_signal_bytes + call % 2 * m_landing_bytes;
  }
  std::byte* landing() const { return landing_at(m_call); }

  /// Networks read registered memory only; GPUs that can access each other read any memory.
  void register_send() {
    const bool wanted = std::any_of(
        m_plan.neighbours.begin(), m_plan.neighbours.end(),
        [&](const Neighbour& n) { return nvshmem_ptr(m_memory->begin(), n.rank) == nullptr; });
    if (wanted)
      m_is_registered = nvshmemx_buffer_register(m_buffers.send, m_buffers.bytes(m_plan)) == 0;
    const bool failed = wanted && !m_is_registered;
    if (!m_comm.all(!failed) && m_is_registered) {  // the constructor throws below
      nvshmemx_buffer_unregister(m_buffers.send);
      m_is_registered = false;
    }
    require_on_all(
        m_comm,
        failed ? fmt::format("NVSHMEM cannot register what rank {} sends", m_comm.rank()) : "");
  }

  const Communicator& m_comm;
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  std::size_t m_signal_bytes = 0, m_landing_bytes = 0;
  std::unique_ptr<SymmetricMemory> m_memory;
  std::vector<There> m_there;  // by neighbour
  bool m_is_registered = false;
  std::uint64_t m_call = 0;
};

}  // namespace

std::unique_ptr<Exchange> make_nvshmem(const Communicator& comm, const HaloPlan& plan,
                                       const MessageBuffers& buffers) {
  int relation = MPI_UNEQUAL;
  check_mpi(MPI_Comm_compare(comm.get(), MPI_COMM_WORLD, &relation), "MPI_Comm_compare");
  if (relation != MPI_IDENT && relation != MPI_CONGRUENT)
    throw UnavailableError("NVSHMEM is of all ranks of the job, and here some exchange alone");
  if (comm.size() == 1) throw UnavailableError("NVSHMEM is not begun for one rank alone");
  if (comm.max(std::int64_t{ranks_on_device(comm)}) > 1)
    throw UnavailableError("NVSHMEM wants a GPU for each rank, and here ranks share one");
  begin_nvshmem(comm);
  return std::make_unique<Nvshmem>(comm, plan, buffers);
}

}  // namespace nekbone_k

#else

namespace nekbone_k {

std::unique_ptr<Exchange> make_nvshmem(const Communicator&, const HaloPlan&,
                                       const MessageBuffers&) {
  throw UnavailableError(nvshmem_missing);
}

}  // namespace nekbone_k

#endif
