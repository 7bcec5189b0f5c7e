/// @file
/// Non-blocking point-to-point messages, one to and one from each neighbour.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// MPI_Irecv and MPI_Isend straight on the buffers, whatever memory they are in. On a CPU messages
/// of consecutive DOFs are sent from the field (OutgoingMessages).
std::unique_ptr<Exchange> make_pairwise(const Communicator&, const HaloPlan&,
                                        const MessageBuffers&);

}  // namespace nekbone_k
