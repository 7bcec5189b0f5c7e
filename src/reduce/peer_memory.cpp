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
#include "reduce/device_sum.hpp"

namespace nekbone_k {
namespace {

constexpr int team_size = LaunchShape<ExecutionSpace>::sum_team_size;
using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 0>>;
using Team = Policy::member_type;

struct SumKernel {
  DeviceSum all;
  DeviceVector<double> values;  ///< (values) of this rank
  double* sums;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int n_values = static_cast<int>(values.extent(0));
    const auto own = [&](int v) { return values(v); };
    const std::uint64_t call = all.exchange(team, n_values, own);
    for (int v = team.team_rank(); v < n_values; v += team_size) sums[v] = all.sum(v, call, own);
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
    m_memory = std::make_unique<PeerMemory>(comm, SumMemory::bytes(comm.size(), n_values), others,
                                            comm.size());
    std::vector<SumMemory> memories;
    for (int r = 0; r < comm.size(); ++r)
      memories.push_back(
          {r == comm.rank() ? m_memory->here() : m_memory->of_peer(r < comm.rank() ? r : r - 1),
           comm.size(), n_values});
    m_all = {to_device("nekbone_k: memories of all ranks", memories),
             DeviceVector<std::uint64_t>("nekbone_k: sums", 1), comm.rank(), m_late.data()};
  }

  double* next() override { return m_own.data(); }

  void start() override {
    Kokkos::parallel_for("nekbone_k: sum over ranks", Policy(1, team_size),
                         SumKernel{m_all, m_own, m_inbox.open()});
  }

  void wait(std::span<double> sums) override {
    m_inbox.wait(sums);
    check();
  }

  const DeviceSum* in_kernel() const override { return &m_all; }
  void check() const override {
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
  DeviceSum m_all;
};

}  // namespace

std::unique_ptr<AllReduce> make_peer_memory_sum(const Communicator& comm, int n_values, double) {
  return std::make_unique<PeerMemorySum>(comm, n_values);
}

}  // namespace nekbone_k
