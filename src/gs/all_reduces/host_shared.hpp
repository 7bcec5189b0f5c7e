/// @file
/// Values to the host, and from rank to rank through memory that the ranks of a node share.
#pragma once

#include "gs/all_reduce.hpp"

namespace nekbone_k {

/// Every rank has a slot in memory of its node, writes its values there and reads the others', in
/// ascending rank. Between nodes the first rank of each calls MPI_Allreduce.
std::unique_ptr<AllReduce> make_host_shared_sum(const Communicator& comm, int n_values,
                                                double patience);

}  // namespace nekbone_k
