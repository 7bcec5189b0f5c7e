/// @file
/// A kernel that writes its rank's values into the memory of all others and adds up theirs.
#pragma once

#include "core/types.hpp"
#include "gs/all_reduce.hpp"

namespace nekbone_k {

/// What this build lacks for it; empty if nothing.
inline constexpr const char* peer_memory_sum_missing =
    is_host_device ? "kernels run on the host, where host-shared does the same" : "";

/// All ranks on one node, each with a GPU of its own (see PeerMemory). The values are added in
/// ascending rank.
std::unique_ptr<AllReduce> make_peer_memory_sum(const Communicator& comm, int n_values,
                                                double patience);

}  // namespace nekbone_k
