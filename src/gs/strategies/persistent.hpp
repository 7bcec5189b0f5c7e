/// @file
/// Point-to-point messages whose requests are made once.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// MPI_Recv_init and MPI_Send_init for each neighbour, MPI_Startall at each call, straight on the
/// buffers, whatever memory they are in. The library can prepare once what make_pairwise() makes it
/// do at every call. On a CPU messages of consecutive DOFs are sent from the field
/// (OutgoingMessages), by requests that are made anew when its address is not that of the call
/// before.
std::unique_ptr<Exchange> make_persistent(const Communicator&, const HaloPlan&,
                                          const MessageBuffers&);

}  // namespace nekbone_k
