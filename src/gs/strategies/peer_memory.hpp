// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Messages that kernels store into the memory of the neighbours.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// Between ranks of one node, a kernel writes each message into memory of the neighbour
/// (core/peer_memory.hpp) and raises a flag there. The unpack kernel of the neighbour waits for the
/// flag. On a GPU the host does not wait; on a CPU the host waits for the flags. Messages to other
/// nodes go as in make_pairwise().
///
/// On GPUs, one kernel can do the whole exchange if every rank has neighbours on its own node only
/// (ExchangeByKernel). This takes half the launches and no flags.
///
/// Each rank has two landing buffers for messages with flags and two for messages without, used in
/// turn. So a receiver need not confirm that it has read a message. A neighbour begins the call
/// after next only after it has the next message from this rank. This rank sends that one after it
/// has read the current message.
///
/// Made collectively. Throws UnavailableError if ranks of a node cannot share memory. On a GPU, a
/// message that does not come within a minute causes an InternalError at the next call.
std::unique_ptr<Exchange> make_peer_memory(const Communicator&, const HaloPlan&,
                                           const MessageBuffers&);

}  // namespace nekbone_k
