// SPDX-License-Identifier: BSD-3-Clause
#include "solver/persistent_cg.hpp"

#include <utility>

#include "core/config.hpp"
#include "core/errors.hpp"
#include "core/region.hpp"

namespace nekbone_k {
namespace {

template <int... orders>
std::function<void(int)> compiled_launch(const AxhelmArguments& elements,
                                         const PersistentCgData& data,
                                         std::integer_sequence<int, orders...>) {
  std::function<void(int)> launch;
  if constexpr (!is_host_device) {
    const int order = elements.layout.nq - 1;
    static_cast<void>(
        ((order == orders && (launch = persistent_launch<orders>(elements, data), true)) || ...));
  }
  return launch;
}

}  // namespace

PersistentCg::PersistentCg(const EllipticOperator& a, const PersistentCgData& data) {
  if (is_host_device) throw UnavailableError("kernels run on the host");
  const AssembledSpace& space = a.space();
  if (space.gs().communicator().size() > 1)
    throw UnavailableError("its kernel works on one rank only");
  require(!space.is_deterministic(), "a persistent kernel adds in an order that varies");
  const DeviceVector<double>& m =
      data.inverse_diagonal.extent(0) > 0 ? data.extra.z : data.vectors.ap;
  m_run = compiled_launch(a.element_arguments(m, data.extra.n, 0, space.layout().n_blocks()), data,
                          CompiledOrders{});
  if (!m_run) throw UnavailableError("the order is not compiled");
}

void PersistentCg::run(int iterations) const {
  // Tools of Kokkos see no kernel that Kokkos does not launch, so they see this.
  const Region region("persistent CG");
  m_run(iterations);
}

}  // namespace nekbone_k
