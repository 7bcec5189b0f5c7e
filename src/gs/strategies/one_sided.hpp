// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Messages by one-sided MPI into the buffers of the neighbours.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// MPI_Put into a window on the receive buffer of each neighbour, in host or device memory. It uses
/// active-target synchronisation among the neighbours: post, start, complete, wait. On a CPU it
/// puts messages of consecutive DOFs from the field (OutgoingMessages). Made and destroyed
/// collectively. Throws UnavailableError if MPI cannot make the window.
std::unique_ptr<Exchange> make_one_sided(const Communicator&, const HaloPlan&,
                                         const MessageBuffers&);

}  // namespace nekbone_k
