/// @file
/// NCCL or RCCL, for those who exchange or sum by it: but for what is missing only where
/// NEKBONE_K_HAVE_NCCL is defined.
#pragma once

#include "core/config.hpp"

namespace nekbone_k {

/// What this build lacks for it; empty if nothing.
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

/// What a communicator is used for. Each use has one of its own, as calls on one communicator wait
/// for each other, also on different streams.
enum class NcclUse { exchange, all_reduce };

/// NCCL's communicator of the ranks of `comm`, made when first asked for and kept to the end of the
/// run. Collective; throws UnavailableError on every rank if it cannot be made on one.
ncclComm_t nccl_communicator(const Communicator& comm, NcclUse use);

}  // namespace nekbone_k

#endif
