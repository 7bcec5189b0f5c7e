// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Copies between precisions.
#pragma once

#include "core/types.hpp"

namespace nekbone_k {

/// to = factor from, computed in double precision, in the default stream. Device memory. For double
/// and float. Not collective.
template <class From, class To>
void scaled_copy(const ConstDeviceVector<From>& from, double factor, const DeviceVector<To>& to);
template <class From, class To>
void scaled_copy(const DeviceVector<From>& from, double factor, const DeviceVector<To>& to) {
  scaled_copy(ConstDeviceVector<From>(from), factor, to);
}

}  // namespace nekbone_k
