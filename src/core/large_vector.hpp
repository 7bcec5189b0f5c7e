/// @file
/// Vectors of many megabytes.
#pragma once

#include <string>

#include "core/types.hpp"

namespace nekbone_k {

/// A device vector of `n` zeros, for what kernels stream through. In host memory in large pages,
/// where the system grants them on request (Linux: transparent huge pages, `madvise`): looking up
/// addresses by pages of 4 KB takes time, most of all in virtual machines. The threads that will
/// work on an entry touch it first.
DeviceVector<double> large_vector(const std::string& label, std::size_t n);

}  // namespace nekbone_k
