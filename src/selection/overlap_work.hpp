// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The element operator as the work around an exchange.
#pragma once

#include "operators/elliptic_operator.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// au = A u in portions, for timing exchanges amid it. `a` and the vectors must outlive the result.
/// The vectors are in device memory. Not collective.
template <class T>
OverlapWork overlap_work(const EllipticOperatorOf<T>& a, const DeviceVector<T>& u,
                         const DeviceVector<T>& au) {
  OverlapWork work;
  work.name = "Ax, boundary elements before and interior ones meanwhile";
  work.before = [=, &a](double portion, const ExecutionSpace& stream) {
    a.apply_some_boundary(u, au, portion, stream);
  };
  work.meanwhile = [=, &a](double portion) { a.apply_some_interior(u, au, portion); };
  work.all = [=, &a](double portion) { a.apply_some(u, au, portion); };
  return work;
}

}  // namespace nekbone_k
