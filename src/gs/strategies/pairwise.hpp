// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Non-blocking point-to-point messages, one to and one from each neighbour.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// MPI_Irecv and MPI_Isend on the buffers, in host or device memory. On a CPU it sends messages of
/// consecutive DOFs from the field (OutgoingMessages).
std::unique_ptr<Exchange> make_pairwise(const Communicator&, const HaloPlan&,
                                        const MessageBuffers&);

}  // namespace nekbone_k
