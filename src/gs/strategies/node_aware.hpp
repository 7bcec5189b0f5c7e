// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// One message per pair of nodes, gathered from and scattered to their ranks.
#pragma once

#include <span>
#include <string>

#include "gs/exchange.hpp"

namespace nekbone_k {

/// Why node-aware communication makes no sense if ranks are on `nodes`, by nodes_of_ranks(): all
/// ranks are on one node, or each rank has a node of its own. Empty if it does.
std::string why_nothing_to_gather(std::span<const int> nodes);

/// Node-aware communication in three steps (Bienz, Gropp and Olson, Node aware sparse matrix-vector
/// multiplication, 2019):
///
/// 1. The ranks of a node send their items for another node to one rank of their node, the carrier.
/// 2. The carrier sends them in one message to the carrier of the other node.
/// 3. That carrier sends them to their destination ranks.
///
/// So there are fewer and longer messages between nodes, but items travel up to three times.
/// Different pairs of nodes have different carriers while there are enough ranks
/// (gs/node_routes.hpp). Messages within a node go directly. post() waits until the ranks of the
/// node have sent their items to the carriers, so messages between nodes are under way when it
/// returns.
///
/// Made collectively. Throws UnavailableError with the text of why_nothing_to_gather().
///
/// For buffers in device memory; MPI reads and writes device memory.
std::unique_ptr<Exchange> make_node_aware(const Communicator&, const HaloPlan&,
                                          const MessageBuffers&);
/// For buffers in host memory, as from host_staged(): the host orders the passing items.
std::unique_ptr<Exchange> make_host_node_aware(const Communicator&, const HaloPlan&,
                                               const MessageBuffers&);

}  // namespace nekbone_k
