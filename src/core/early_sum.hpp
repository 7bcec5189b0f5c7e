/// @file
/// A sum that the host has before the device is idle.
#pragma once

#include "core/types.hpp"

namespace nekbone_k {

/// Sums a vector in device memory for the host, which waits for that sum alone: kernels launched
/// after start() go on running, so that what the host does with the sum (an all-reduce, the next
/// launches) costs the device no time. The ordinary reduction of Kokkos into a variable of the host
/// waits for everything launched before, and the device then waits for the host.
class EarlySum {
 public:
  EarlySum();

  /// Launches the sum, in the order of the default instance's kernels.
  void start(const ConstDeviceVector<double>& values);
  /// The sum of the last start(), to be called once for each. Throws what Kokkos throws where the
  /// device has failed.
  double wait();

 private:
  // In host memory that the device writes to.
  Kokkos::View<double, Kokkos::SharedHostPinnedSpace> m_sum;
};

}  // namespace nekbone_k
