/// @file
/// One non-blocking collective among neighbours only.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// MPI_Ineighbor_alltoallv on a graph communicator of the neighbours, straight on the buffers,
/// whatever memory they are in. Unlike in make_all_to_all() the library need not look at ranks that
/// share nothing. Made and destroyed collectively.
std::unique_ptr<Exchange> make_neighbour_collective(const Communicator&, const HaloPlan&,
                                                    const MessageBuffers&);

}  // namespace nekbone_k
