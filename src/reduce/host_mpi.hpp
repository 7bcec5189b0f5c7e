// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All-reduce of host memory by MPI_Allreduce.
#pragma once

#include "reduce/all_reduce.hpp"

namespace nekbone_k {

/// Copies the values to the host and calls MPI_Allreduce. Ignores `patience`. Made collectively.
std::unique_ptr<AllReduce> make_host_mpi_sum(const Communicator& comm, int n_values,
                                             double patience);

}  // namespace nekbone_k
