/// @file
/// A kernel that writes its rank's values into the memory of all others and adds up theirs.
#pragma once

#include "gs/all_reduce.hpp"

namespace nekbone_k {

/// All ranks on one node, each with a GPU of its own (see PeerMemory). The values are added in
/// ascending rank.
std::unique_ptr<AllReduce> make_peer_memory_sum(const Communicator& comm, int n_values,
                                                double patience);

}  // namespace nekbone_k
