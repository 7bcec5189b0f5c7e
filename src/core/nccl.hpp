// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// NCCL or RCCL for halo exchange and all-reduce. Without NEKBONE_K_HAVE_NCCL, this header declares
/// only nccl_missing.
#pragma once

#include "core/config.hpp"

namespace nekbone_k {

/// The reason why this build has no NCCL; empty if it has.
#ifdef NEKBONE_K_HAVE_NCCL
inline constexpr const char* nccl_missing = "";
#else
inline constexpr const char* nccl_missing = "this program was built without NCCL or RCCL";
#endif

}  // namespace nekbone_k

#ifdef NEKBONE_K_HAVE_NCCL

#ifdef KOKKOS_ENABLE_HIP
#include <rccl/rccl.h>
#else
#include <nccl.h>
#endif

#include "core/communicator.hpp"
#include "core/gpu_api.hpp"
#include "core/types.hpp"

namespace nekbone_k {

/// Throws InternalError naming `call` unless `code` is ncclSuccess.
void check_nccl(ncclResult_t code, const char* call);

/// The purpose of a communicator. Each purpose has its own communicator, because calls on one
/// communicator wait for each other, even on different streams.
enum class NcclUse { exchange, all_reduce };

/// NCCL's communicator for the ranks of `comm`. The first call makes it; it lives until the end of
/// the run. Collective. Throws UnavailableError on every rank if any rank cannot make it.
ncclComm_t nccl_communicator(const Communicator& comm, NcclUse use);

}  // namespace nekbone_k

#endif
