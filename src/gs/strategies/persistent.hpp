// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Point-to-point messages with persistent requests.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// MPI_Recv_init and MPI_Send_init per neighbour, and MPI_Startall at each call, on the buffers, in
/// host or device memory. So the library can prepare once the work that it repeats at every call
/// with make_pairwise(). On a CPU it sends messages of consecutive DOFs from the field
/// (OutgoingMessages); their requests are made again if the address of the field changes between
/// calls.
std::unique_ptr<Exchange> make_persistent(const Communicator&, const HaloPlan&,
                                          const MessageBuffers&);

}  // namespace nekbone_k
