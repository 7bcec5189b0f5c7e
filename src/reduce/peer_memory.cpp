// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/peer_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/errors.hpp"
#include "core/host_inbox.hpp"
#include "core/launch_shape.hpp"
#include "core/peer_memory.hpp"
#include "core/system.hpp"

namespace nekbone_k {
namespace {

constexpr int team_size = LaunchShape<ExecutionSpace>::sum_team_size;
using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 0>>;
using Team = Policy::member_type;

/// Memory of a rank that all ranks can access. It has a flag per rank, then two sets of values per
/// rank, for even and odd calls. No rank overwrites values that another still reads. A rank writes
/// at call c + 2 after it has seen all flags of call c + 1. Every rank raises that flag after it
/// has read the values of call c.
struct Memory {
  std::byte* begin;
  int n_ranks, n_values;

  KOKKOS_FUNCTION Flag* flag(int rank) const { return reinterpret_cast<Flag*>(begin) + rank; }
  KOKKOS_FUNCTION double* values(int rank, std::uint64_t call) const {
    return reinterpret_cast<double*>(flag(n_ranks)) + (call % 2 * n_ranks + rank) * n_values;
  }
  static std::size_t bytes(int n_ranks, int n_values) {
    return n_ranks * (sizeof(Flag) + 2 * n_values * sizeof(double));
  }
};

/// A kernel of one team, with one thread per rank: the thread writes to that rank and waits for its
/// values.
struct SumKernel {
  DeviceVector<Memory> memories;  ///< (ranks)
  DeviceVector<double> own;       ///< (values)
  int rank;
  std::uint64_t call;
  double* sums;
  Late* late;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int n_ranks = static_cast<int>(memories.extent(0));
    const int n_values = static_cast<int>(own.extent(0));
    for (int r = team.team_rank(); r < n_ranks; r += team_size) {
      for (int v = 0; v < n_values; ++v) memories(r).values(rank, call)[v] = own(v);
      raise_flag(memories(r).flag(rank), call);
    }
    const Memory here = memories(rank);
    for (int r = team.team_rank(); r < n_ranks; r += team_size) await(here.flag(r), call, late);
    team.team_barrier();
    // The host reads `late` after it has the sums.
    desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
    for (int v = team.team_rank(); v < n_values; v += team_size) {
      double sum = 0;
      for (int r = 0; r < n_ranks; ++r) sum += here.values(r, call)[v];
      sums[v] = sum;
    }
  }
};

class PeerMemorySum final : public AllReduce {
 public:
  PeerMemorySum(const Communicator& comm, int n_values)
      : m_comm(comm), m_own("nekbone_k: values to sum", n_values), m_inbox(n_values) {
    if (is_host_device) throw UnavailableError(peer_memory_sum_missing);
    const std::vector<int> nodes = nodes_of_ranks(comm);
    if (std::any_of(nodes.begin(), nodes.end(), [&](int node) { return node != nodes.front(); }))
      throw UnavailableError("some ranks are on other nodes");
    std::vector<int> others;
    for (int r = 0; r < comm.size(); ++r)
      if (r != comm.rank()) others.push_back(r);
    m_memory = std::make_unique<PeerMemory>(comm, Memory::bytes(comm.size(), n_values), others,
                                            comm.size());
    std::vector<Memory> memories;
    for (int r = 0; r < comm.size(); ++r)
      memories.push_back(
          {r == comm.rank() ? m_memory->here() : m_memory->of_peer(r < comm.rank() ? r : r - 1),
           comm.size(), n_values});
    m_memories = to_device("nekbone_k: memories of all ranks", memories);
  }

  double* next() override { return m_own.data(); }

  void start() override {
    ++m_call;
    Kokkos::parallel_for(
        "nekbone_k: sum over ranks", Policy(1, team_size),
        SumKernel{m_memories, m_own, m_comm.rank(), m_call, m_inbox.open(), m_late.data()});
  }

  void wait(std::span<double> sums) override {
    m_inbox.wait(sums);
    if (m_late.is_late())
      throw InternalError(fmt::format(
          "rank {}: another rank gave no value to sum within about a minute", m_comm.rank()));
  }

 private:
  const Communicator& m_comm;
  DeviceVector<double> m_own;
  HostInbox m_inbox;
  Lateness m_late;
  std::unique_ptr<PeerMemory> m_memory;
  DeviceVector<Memory> m_memories;
  std::uint64_t m_call = 0;
};

}  // namespace

std::unique_ptr<AllReduce> make_peer_memory_sum(const Communicator& comm, int n_values, double) {
  return std::make_unique<PeerMemorySum>(comm, n_values);
}

}  // namespace nekbone_k
