/// @file
/// Vectors of many megabytes.
#pragma once

#include <string>

#include "core/types.hpp"

namespace nekbone_k {

/// A device vector of `n` zeros, for what kernels stream through. In host memory in large pages,
/// where the system grants them on request (Linux: transparent huge pages, `madvise`), as looking
/// up addresses by pages of 4 KB takes time. All threads write its zeros, so that on a host with
/// several memories each gets a share. Returns when they are written.
DeviceVector<double> large_vector(const std::string& label, std::size_t n);

}  // namespace nekbone_k
