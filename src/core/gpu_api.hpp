// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// One name for the parts of CUDA and HIP that Kokkos does not offer.
#pragma once

#include "core/types.hpp"

// The names of the two interfaces differ only in their prefix: NEKBONE_K_GPU(Malloc) is cudaMalloc
// or hipMalloc. Not defined if kernels run on the host.
#if defined(KOKKOS_ENABLE_CUDA)
#define NEKBONE_K_GPU(name) cuda##name
#elif defined(KOKKOS_ENABLE_HIP)
#define NEKBONE_K_GPU(name) hip##name
#endif

#if defined(NEKBONE_K_GPU)
namespace nekbone_k {

/// The stream on which an instance runs its kernels.
inline NEKBONE_K_GPU(Stream_t) native_stream(const ExecutionSpace& space) {
#if defined(KOKKOS_ENABLE_CUDA)
  return space.cuda_stream();
#else
  return space.hip_stream();
#endif
}

}  // namespace nekbone_k
#endif
