// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/host_mpi.hpp"

#include "core/host_inbox.hpp"

namespace nekbone_k {
namespace {

class HostMpiSum final : public AllReduce {
 public:
  HostMpiSum(const Communicator& comm, int n_values) : m_comm(comm), m_inbox(n_values) {}

  double* next() override { return m_inbox.open(); }
  void wait(std::span<double> sums) override {
    m_inbox.wait(sums);
    m_comm.sum(sums);
  }

 private:
  const Communicator& m_comm;
  HostInbox m_inbox;
};

}  // namespace

std::unique_ptr<AllReduce> make_host_mpi_sum(const Communicator& comm, int n_values, double) {
  return std::make_unique<HostMpiSum>(comm, n_values);
}

}  // namespace nekbone_k
