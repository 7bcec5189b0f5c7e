// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Messages combined on their way through a hypercube of ranks.
#pragma once

#include <vector>

#include "gs/exchange.hpp"

namespace nekbone_k {

/// The crystal router (Fox et al., Solving Problems on Concurrent Processors, 1988, chapter 22;
/// also in gslib). It takes about log2(P) steps. Each step cuts the ranks into halves; a rank sends
/// one message to one rank of the other half, with all items for that half. So there are few
/// messages, but items travel several times. The routes are the same at every call, so they are
/// found once. A step is then one message and one kernel that picks items. Made collectively.
///
/// For buffers in device memory; MPI reads and writes device memory.
std::unique_ptr<Exchange> make_crystal_router(const Communicator&, const HaloPlan&,
                                              const MessageBuffers&);
/// For buffers in host memory, as from host_staged(): the host picks items.
std::unique_ptr<Exchange> make_host_crystal_router(const Communicator&, const HaloPlan&,
                                                   const MessageBuffers&);

/// The rank that holds an item after each step on its way from `from` to `to`. It stays the same if
/// the item does not move in a step. Empty for one rank.
std::vector<int> crystal_route(int from, int to, int ranks);

}  // namespace nekbone_k
