// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Point-to-point messages that are packed, sent and received one by one.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// Like make_pairwise(), but it sends each message as soon as it is packed, while the next one is
/// being packed. This takes one kernel and one event per neighbour; the other strategies use one
/// kernel and one fence for all neighbours. On a CPU it packs a message just before it sends it. A
/// message of consecutive DOFs needs no packing: it is sent from the field on a CPU, or copied from
/// the field to the host (OutgoingMessages).
///
/// Messages may arrive in any order, each in its own slots, and each is processed on arrival. The
/// sum waits: one kernel combines all shares after the last message, in ascending rank, so that
/// copies of a DOF are bitwise equal. Only DOFs shared with one other rank could be combined
/// earlier, for one more kernel per neighbour.
///
/// This one works on the buffers, in host or device memory.
std::unique_ptr<Exchange> make_pipelined(const Communicator&, const HaloPlan&,
                                         const MessageBuffers&);
/// On copies in host memory. It copies each message to the host behind the kernel that packs it,
/// and to the device as soon as it has arrived. Other messages travel meanwhile.
std::unique_ptr<Exchange> make_host_pipelined(const Communicator&, const HaloPlan&,
                                              const MessageBuffers&);

}  // namespace nekbone_k
