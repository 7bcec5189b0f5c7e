// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Vectors of many megabytes.
#pragma once

#include <string>

#include "core/types.hpp"

namespace nekbone_k {

/// A device vector of `n` zeros, for data that kernels stream through. In host memory it uses large
/// pages if the system grants them (Linux: transparent huge pages, `madvise`), because translating
/// addresses of 4 KB pages takes time. All threads write the zeros, so that each NUMA node gets its
/// share. Returns after they are written. `T` is double or float.
template <class T = double>
DeviceVector<T> large_vector(const std::string& label, std::size_t n);

}  // namespace nekbone_k
