/// @file
/// Messages combined on their way through a hypercube of ranks.
#pragma once

#include <vector>

#include "gs/exchange.hpp"

namespace nekbone_k {

/// The crystal router (Fox et al., Solving Problems on Concurrent Processors, 1988, chapter 22; the
/// one of gslib): in each of about log2(P) steps the ranks are cut into halves, and what must get
/// to the other half goes to one rank there in one message. Few messages, but items travel several
/// times. As the same ranks exchange the same items at every call, the way of each is found once:
/// a step is one kernel that picks items, and a message.
///
/// For buffers in device memory, with MPI reading and writing device memory.
std::unique_ptr<Exchange> make_crystal_router(const Communicator&, const HaloPlan&,
                                              const MessageBuffers&);
/// For buffers in host memory, as host_staged() gives: items are picked by the host.
std::unique_ptr<Exchange> make_host_crystal_router(const Communicator&, const HaloPlan&,
                                                   const MessageBuffers&);

/// Where an item on its way from one rank to another is after each step; where it does not move it
/// is where it was. Empty for one rank.
std::vector<int> crystal_route(int from, int to, int ranks);

}  // namespace nekbone_k
