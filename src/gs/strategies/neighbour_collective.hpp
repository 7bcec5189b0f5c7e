// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// One non-blocking collective among neighbours.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// MPI_Ineighbor_alltoallv on a graph communicator of the neighbours, on the buffers, in host or
/// device memory. Unlike with make_all_to_all(), the library need not consider ranks that share
/// nothing. Made and destroyed collectively.
std::unique_ptr<Exchange> make_neighbour_collective(const Communicator&, const HaloPlan&,
                                                    const MessageBuffers&);

}  // namespace nekbone_k
