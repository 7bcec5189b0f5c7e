/// @file
/// Point-to-point messages that are packed, sent and received one by one.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// As make_pairwise(), but each message is sent as soon as it is packed, while the next one is
/// being packed: a kernel and an event a neighbour, where the others have one kernel and one fence
/// for all. On a host a message is packed right before it is sent. One of consecutive DOFs need
/// not be packed: it is sent, on a CPU, or copied to the host from the field (OutgoingMessages).
///
/// Messages arrive in slots of their own in any order, and what has to be done for one is done when
/// it is there. Their sum is not: the shares of a DOF are combined in ascending rank, so that its
/// copies stay bitwise equal, and one kernel does that for all of them when the last message is in.
/// Only DOFs with one other rank could be combined earlier, at the price of a kernel a neighbour.
///
/// On the buffers themselves, whatever memory they are in.
std::unique_ptr<Exchange> make_pipelined(const Communicator&, const HaloPlan&,
                                         const MessageBuffers&);
/// On copies in host memory: each message is copied there behind the kernel that packs it, and to
/// the device when it has come, while others travel.
std::unique_ptr<Exchange> make_host_pipelined(const Communicator&, const HaloPlan&,
                                              const MessageBuffers&);

}  // namespace nekbone_k
