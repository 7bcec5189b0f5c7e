/// @file
/// Values to the host, and MPI_Allreduce there.
#pragma once

#include "gs/all_reduce.hpp"

namespace nekbone_k {

std::unique_ptr<AllReduce> make_host_mpi_sum(const Communicator& comm, int n_values,
                                             double patience);

}  // namespace nekbone_k
