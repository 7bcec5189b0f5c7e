// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Messages by NCCL or RCCL, the communication libraries of NVIDIA and AMD.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// One group of ncclSend and ncclRecv with each neighbour, in the stream of the kernels that pack
/// and unpack. The host does not wait.
///
/// Each group of ranks gets one NCCL communicator, which lives until the end of the run, because
/// making one takes most of a second. Made collectively. Throws UnavailableError if the build has
/// no NCCL (or RCCL), if ranks share a GPU, or if NCCL cannot begin.
std::unique_ptr<Exchange> make_nccl(const Communicator&, const HaloPlan&, const MessageBuffers&);

}  // namespace nekbone_k
