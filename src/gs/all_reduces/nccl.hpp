/// @file
/// ncclAllReduce (RCCL alike), in the order of the device's kernels.
#pragma once

#include "gs/all_reduce.hpp"

namespace nekbone_k {

/// Wants NCCL or RCCL in the build and a GPU for each rank.
std::unique_ptr<AllReduce> make_nccl_sum(const Communicator& comm, int n_values, double patience);

}  // namespace nekbone_k
