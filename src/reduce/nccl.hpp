// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All-reduce by ncclAllReduce of NCCL or RCCL.
#pragma once

#include "reduce/all_reduce.hpp"

namespace nekbone_k {

/// Runs ncclAllReduce in the default stream, on device memory. Ignores `patience`. Made
/// collectively. Throws UnavailableError if the build has no NCCL or RCCL, or if ranks share a GPU.
std::unique_ptr<AllReduce> make_nccl_sum(const Communicator& comm, int n_values, double patience);

}  // namespace nekbone_k
