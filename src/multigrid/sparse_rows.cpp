// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/sparse_rows.hpp"

namespace nekbone_k {

// Not in the header, because nvcc mixes up lambdas of a header in several files.
template <class T>
void SparseRows<T>::multiply(const std::string& label, const ConstDeviceVector<T>& x,
                             const DeviceVector<T>& y) const {
  const ConstDeviceVector<LocalIndex> ends = m_ends, columns = m_columns;
  const ConstDeviceVector<T> values = m_values;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<ExecutionSpace>(0, m_ends.extent(0)),
      KOKKOS_LAMBDA(const LocalIndex row) {
        // Several sums, so that none waits for the last addition.
        constexpr int n_sums = 4;
        T sums[n_sums] = {};
        const LocalIndex end = ends(row);
        LocalIndex at = row == 0 ? 0 : ends(row - 1);
        for (; at + n_sums <= end; at += n_sums) {
          NEKBONE_K_UNROLL
          for (int s = 0; s < n_sums; ++s) sums[s] += values(at + s) * x(columns(at + s));
        }
        for (; at < end; ++at) sums[0] += values(at) * x(columns(at));
        y(row) = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      });
}

template class SparseRows<double>;
template class SparseRows<float>;

}  // namespace nekbone_k
