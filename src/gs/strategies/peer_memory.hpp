/// @file
/// Messages that kernels store straight into the neighbours' memory.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// Between ranks of one node a kernel writes each message where the neighbour's kernel reads it
/// (core/peer_memory.hpp) and raises a flag there; the neighbour's kernel waits for the flag. The
/// host waits for nothing. Where all neighbours of all ranks are on their nodes, one kernel can do
/// it all (ExchangeByKernel), with half the launches and without flags. Messages to other nodes go
/// as in make_pairwise().
///
/// Each rank has two places for a message of either way, used in turn. That is enough without a
/// word that one has been read: a neighbour begins the call after next only when the next one's
/// message from here has come, and that is sent after this one's has been read.
///
/// Made collectively; throws UnavailableError where ranks of a node cannot share memory. A message
/// that does not come for a minute ends in an InternalError at the next call.
std::unique_ptr<Exchange> make_peer_memory(const Communicator&, const HaloPlan&,
                                           const MessageBuffers&);

}  // namespace nekbone_k
