/// @file
/// Messages put into the neighbours' buffers by one-sided MPI.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// MPI_Put into a window on each neighbour's receive buffer, between post and start and complete
/// and wait among the neighbours (active target), straight on the buffers, whatever memory they are
/// in. On a CPU messages of consecutive DOFs are put from the field (OutgoingMessages). Made and
/// destroyed collectively; throws UnavailableError where MPI makes no such window.
std::unique_ptr<Exchange> make_one_sided(const Communicator&, const HaloPlan&,
                                         const MessageBuffers&);

}  // namespace nekbone_k
