/// @file
/// One non-blocking collective that carries all messages.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// MPI_Ialltoallv straight on the buffers, whatever memory they are in. The MPI library chooses the
/// algorithm; ranks that share nothing exchange zero items.
std::unique_ptr<Exchange> make_all_to_all(const Communicator&, const HaloPlan&,
                                          const MessageBuffers&);

}  // namespace nekbone_k
