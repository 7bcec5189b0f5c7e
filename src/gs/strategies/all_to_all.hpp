// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All messages in one non-blocking collective.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// Exchanges by MPI_Ialltoallv on the buffers, in host or device memory. The MPI library chooses
/// the algorithm; ranks that share nothing exchange zero items. Made collectively.
std::unique_ptr<Exchange> make_all_to_all(const Communicator&, const HaloPlan&,
                                          const MessageBuffers&);

}  // namespace nekbone_k
