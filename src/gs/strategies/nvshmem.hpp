/// @file
/// Exchange by NVSHMEM.
#pragma once

#include "core/config.hpp"
#include "gs/exchange.hpp"

namespace nekbone_k {

/// What this build lacks for it; empty if nothing.
#ifdef NEKBONE_K_HAVE_NVSHMEM
inline constexpr const char* nvshmem_missing = "";
#else
inline constexpr const char* nvshmem_missing = "this program was built without NVSHMEM";
#endif

/// A message is put into the symmetric memory of its receiver with a signal behind it, and waited
/// for by that signal, both in the order of the stream; the host waits for nothing. There are two
/// places for every message, so that none overruns the one before. Unavailable where ranks share a
/// GPU and where `comm` is not all of MPI_COMM_WORLD.
std::unique_ptr<Exchange> make_nvshmem(const Communicator& comm, const HaloPlan& plan,
                                       const MessageBuffers& buffers);

}  // namespace nekbone_k
