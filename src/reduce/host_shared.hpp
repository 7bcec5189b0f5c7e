// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All-reduce through host memory that the ranks of a node share.
#pragma once

#include "reduce/all_reduce.hpp"

namespace nekbone_k {

/// Each rank has a slot in memory of its node. It writes its values there and adds the values of
/// all ranks of the node, in ascending rank. Between nodes, the first rank of each node calls
/// MPI_Allreduce. Made and destroyed collectively. Throws UnavailableError if ranks of a node are
/// in different PID namespaces, or if MPI gives them no shared memory.
std::unique_ptr<AllReduce> make_host_shared_sum(const Communicator& comm, int n_values,
                                                double patience);

}  // namespace nekbone_k
