/// @file
/// Messages by NVIDIA's or AMD's communication library.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// ncclSend and ncclRecv with each neighbour in one group, on the stream of the kernels that pack
/// and unpack: the host waits for nothing.
///
/// One NCCL communicator is made for each group of ranks that asks and kept to the end, as making
/// one takes most of a second. Made collectively; throws UnavailableError where the build has no
/// NCCL (or RCCL), where ranks share a GPU, and where NCCL cannot begin.
std::unique_ptr<Exchange> make_nccl(const Communicator&, const HaloPlan&, const MessageBuffers&);

}  // namespace nekbone_k
