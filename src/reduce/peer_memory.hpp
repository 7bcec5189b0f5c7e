// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All-reduce by a kernel that writes into the memory of all ranks.
#pragma once

#include "core/types.hpp"
#include "reduce/all_reduce.hpp"

namespace nekbone_k {

/// What this build lacks for this all-reduce; empty if nothing.
inline constexpr const char* peer_memory_sum_missing =
    is_host_device ? "kernels run on the host, where host-shared does the same" : "";

/// The kernel writes the values of its rank to all ranks, waits for their values, and adds them in
/// ascending rank. Made collectively. Throws UnavailableError if ranks are on several nodes or
/// share a GPU (see PeerMemory), or if kernels run on the host. Ignores `patience`: a wait for
/// values ends after about a minute.
std::unique_ptr<AllReduce> make_peer_memory_sum(const Communicator& comm, int n_values,
                                                double patience);

}  // namespace nekbone_k
