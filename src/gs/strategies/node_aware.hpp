/// @file
/// One message between two nodes, gathered from and scattered to their ranks.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// Node-aware communication in three steps (Bienz, Gropp and Olson, Node aware sparse matrix-vector
/// multiplication, 2019): what the ranks of a node send to another goes to a carrier on the node,
/// from there in one message to a carrier on the other, and from that to the ranks it is for.
/// Fewer, longer messages where they are dear; items travel up to three times. Different pairs of
/// nodes have different carriers while there are enough (gs/node_routes.hpp). Messages within a
/// node go straight. start() waits until the node's ranks have handed over, so that what travels
/// between nodes is under way when it returns.
///
/// Made collectively; throws UnavailableError where all ranks are on one node, or each on a node of
/// its own, as there is nothing to gather.
///
/// For buffers in device memory, with MPI reading and writing device memory.
std::unique_ptr<Exchange> make_node_aware(const Communicator&, const HaloPlan&,
                                          const MessageBuffers&);
/// For buffers in host memory, as host_staged() gives: the host orders what passes.
std::unique_ptr<Exchange> make_host_node_aware(const Communicator&, const HaloPlan&,
                                               const MessageBuffers&);

}  // namespace nekbone_k
