// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Messages by NVSHMEM.
#pragma once

#include "core/config.hpp"
#include "gs/exchange.hpp"

namespace nekbone_k {

/// What this build lacks for this strategy; empty if nothing.
#ifdef NEKBONE_K_HAVE_NVSHMEM
inline constexpr const char* nvshmem_missing = "";
#else
inline constexpr const char* nvshmem_missing = "this program was built without NVSHMEM";
#endif

/// Puts each message into symmetric memory of its receiver, with a signal behind it, and waits for
/// the signal. Both happen in the stream of the buffers; the host does not wait. Each message
/// alternates between two landing buffers, so that it does not overwrite the previous one.
///
/// Made and destroyed collectively. Throws UnavailableError if:
///
/// - the build has no NVSHMEM, or NVSHMEM cannot begin;
/// - `comm` has one rank, or not all ranks of MPI_COMM_WORLD;
/// - ranks share a GPU;
/// - NVSHMEM cannot allocate the buffers or register the send buffer.
std::unique_ptr<Exchange> make_nvshmem(const Communicator& comm, const HaloPlan& plan,
                                       const MessageBuffers& buffers);

}  // namespace nekbone_k
