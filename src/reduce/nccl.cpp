// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/nccl.hpp"

#include "core/errors.hpp"
#include "core/nccl.hpp"

#ifdef NEKBONE_K_HAVE_NCCL

#include "core/host_inbox.hpp"

namespace nekbone_k {
namespace {

class NcclSum final : public AllReduce {
 public:
  NcclSum(const Communicator& comm, int n_values)
      : m_nccl(nccl_communicator(comm, NcclUse::all_reduce)),
        m_values("nekbone_k: values to sum", n_values),
        m_inbox(n_values) {}

  double* next() override { return m_values.data(); }

  void start() override {
    const ExecutionSpace stream;
    check_nccl(ncclAllReduce(m_values.data(), m_values.data(), m_values.extent(0), ncclDouble,
                             ncclSum, m_nccl, native_stream(stream)),
               "ncclAllReduce");
    double* const to = m_inbox.open();
    const auto sums = m_values;
    Kokkos::parallel_for(
        "nekbone_k: sums to the host", Kokkos::RangePolicy<ExecutionSpace>(0, sums.extent(0)),
        KOKKOS_LAMBDA(const LocalIndex v) { to[v] = sums(v); });
  }

  void wait(std::span<double> sums) override { m_inbox.wait(sums); }

 private:
  ncclComm_t m_nccl;
  DeviceVector<double> m_values;
  HostInbox m_inbox;
};

}  // namespace

std::unique_ptr<AllReduce> make_nccl_sum(const Communicator& comm, int n_values, double) {
  return std::make_unique<NcclSum>(comm, n_values);
}

}  // namespace nekbone_k

#else

namespace nekbone_k {

std::unique_ptr<AllReduce> make_nccl_sum(const Communicator&, int, double) {
  throw UnavailableError(nccl_missing);
}

}  // namespace nekbone_k

#endif
