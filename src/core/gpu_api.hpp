// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// One name for the parts of CUDA and HIP that Kokkos does not offer.
#pragma once

#include <string>

#include "core/errors.hpp"
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

/// Throws InternalError unless a call of CUDA or HIP succeeded. `what` says what it did.
inline void check_gpu(NEKBONE_K_GPU(Error_t) code, const char* what) {
  if (code == NEKBONE_K_GPU(Success)) return;
  static_cast<void>(NEKBONE_K_GPU(GetLastError)());  // so that later calls do not return it again
  throw InternalError(std::string(what) + ": " + NEKBONE_K_GPU(GetErrorString)(code));
}

}  // namespace nekbone_k
#endif
