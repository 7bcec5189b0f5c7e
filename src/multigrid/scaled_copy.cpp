// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/scaled_copy.hpp"

#include "core/entry_loop.hpp"

namespace nekbone_k {

template <class From, class To>
void scaled_copy(const ConstDeviceVector<From>& from, double factor, const DeviceVector<To>& to) {
  for_entries(
      "nekbone_k: convert", 0, static_cast<LocalIndex>(to.extent(0)),
      KOKKOS_LAMBDA(const LocalIndex a) {
        return Kokkos::Array<To, 1>{static_cast<To>(factor * from(a))};
      },
      KOKKOS_LAMBDA(const LocalIndex a, const Kokkos::Array<To, 1>& in) { to(a) = in[0]; });
}

template void scaled_copy(const ConstDeviceVector<double>&, double, const DeviceVector<double>&);
template void scaled_copy(const ConstDeviceVector<double>&, double, const DeviceVector<float>&);
template void scaled_copy(const ConstDeviceVector<float>&, double, const DeviceVector<double>&);
template void scaled_copy(const ConstDeviceVector<float>&, double, const DeviceVector<float>&);

}  // namespace nekbone_k
