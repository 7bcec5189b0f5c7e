// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/host_shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/host_inbox.hpp"
#include "core/peer_memory.hpp"
#include "core/system.hpp"
#include "core/waiting.hpp"

namespace nekbone_k {
namespace {

/// A communicator of some ranks of another one, or none.
class Part {
 public:
  /// Joins the ranks with the same `colour`; MPI_UNDEFINED joins none. Collective over `comm`.
  Part(const Communicator& comm, int colour) {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(comm.get(), colour, comm.rank(), &part), "MPI_Comm_split");
    if (part == MPI_COMM_NULL) return;
    m_comm.emplace(part);
    MPI_Comm_free(&part);
  }
  const std::optional<Communicator>& comm() const { return m_comm; }

 private:
  std::optional<Communicator> m_comm;
};

/// The PID namespace of this process; empty if the system has none or hides it.
std::string own_pid_namespace() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
}

class HostSharedSum final : public AllReduce {
 public:
  HostSharedSum(const Communicator& comm, int n_values, double patience)
      : m_comm(comm),
        m_n_values(n_values),
        m_patience(patience),
        m_inbox(n_values),
        m_node(comm, nodes_of_ranks(comm)[comm.rank()]),
        m_leaders(comm, m_node.comm()->rank() == 0 ? 0 : MPI_UNDEFINED),
        m_values(n_values) {
    m_n_nodes = static_cast<int>(comm.sum(std::int64_t{m_node.comm()->is_root() ? 1 : 0}));
    share_memory();
  }
  ~HostSharedSum() override {
    if (!m_unwinding.now()) MPI_Win_free(&m_window);
  }
  HostSharedSum(const HostSharedSum&) = delete;
  HostSharedSum& operator=(const HostSharedSum&) = delete;

  double* next() override { return m_inbox.open(); }

  void wait(std::span<double> sums) override {
    m_inbox.wait(m_values);
    ++m_call;
    const int here = m_node.comm()->rank();
    put(here, m_values);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int r = 0; r < m_node.comm()->size(); ++r) {
      await(r);
      for (int v = 0; v < m_n_values; ++v) sums[v] += values(r)[v];
    }
    if (m_n_nodes == 1) return;
    const int total = m_node.comm()->size();  // an additional slot behind those of the ranks
    if (m_leaders.comm()) {
      m_leaders.comm()->sum(sums);
      put(total, sums);
    } else {
      await(total);
      std::copy_n(values(total), m_n_values, sums.begin());
    }
  }

 private:
  // A slot has a flag and two sets of values, for even and odd calls. No rank overwrites values
  // that another still reads. A rank writes at call c + 2 after it has seen all flags of call c +
  // 1. Every rank raises that flag after it has read the values of call c.
  std::size_t slot_bytes() const {
    const std::size_t bytes = sizeof(Flag) + 2 * m_n_values * sizeof(double);
    return (bytes + alignof(Flag) - 1) / alignof(Flag) * alignof(Flag);
  }
  Flag* flag(int slot) const {
    return reinterpret_cast<Flag*>(m_memory + static_cast<std::size_t>(slot) * slot_bytes());
  }
  double* values(int slot) const {
    return reinterpret_cast<double*>(flag(slot) + 1) + m_call % 2 * m_n_values;
  }

  void put(int slot, std::span<const double> from) {
    std::copy(from.begin(), from.end(), values(slot));
    raise_flag(flag(slot), m_call);
  }

  void await(int slot) const {
    const auto move_messages = [&] {  // MPI makes progress on messages of other ranks
      int ready = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, m_comm.get(), &ready, MPI_STATUS_IGNORE);
    };
    if (!wait_until([&] { return is_raised(flag(slot), m_call); }, m_patience, move_messages))
      throw InternalError(
          fmt::format("another rank of the node of rank {} gave no value within {:g} s",
                      m_comm.rank(), m_patience));
  }

  void share_memory() {
    const Communicator& node = *m_node.comm();
    // Across PID namespaces, Open MPI maps the memory of a wrong process and crashes.
    const std::string here = own_pid_namespace();
    if (!m_comm.all(here == node.broadcast(here)))
      throw UnavailableError("ranks of a node are in different PID namespaces (containers)");
    const std::size_t bytes = node.is_root() ? (node.size() + 1) * slot_bytes() + alignof(Flag) : 0;
    void* base = nullptr;
    const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL,
                                             node.get(), &base, &m_window);
    const bool whole_node = node.all(code == MPI_SUCCESS);
    if (!m_comm.all(whole_node)) {
      if (whole_node) MPI_Win_free(&m_window);  // collective over the node
      throw UnavailableError("this MPI gives ranks of a node no shared memory");
    }
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(m_window, 0, &size, &unit, &base);
    // Ranks map the memory at different addresses. Pages are aligned to flags, so all compute the
    // same offset.
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    m_memory =
        static_cast<std::byte*>(base) + (alignof(Flag) - address % alignof(Flag)) % alignof(Flag);
    if (node.is_root())
      for (int slot = 0; slot <= node.size(); ++slot) raise_flag(flag(slot), 0);
    m_comm.barrier();
  }

  const Communicator& m_comm;
  int m_n_values;
  double m_patience;
  HostInbox m_inbox;
  Part m_node, m_leaders;
  int m_n_nodes = 1;
  std::vector<double> m_values;
  MPI_Win m_window = MPI_WIN_NULL;
  std::byte* m_memory = nullptr;
  std::uint64_t m_call = 0;
  Unwinding m_unwinding;
};

}  // namespace

std::unique_ptr<AllReduce> make_host_shared_sum(const Communicator& comm, int n_values,
                                                double patience) {
  return std::make_unique<HostSharedSum>(comm, n_values, patience);
}

}  // namespace nekbone_k
