/// @file
/// The parts of CUDA and of HIP that have no counterpart in Kokkos, by one name.
#pragma once

#include "core/types.hpp"

// The two interfaces differ in the prefix of their names: NEKBONE_K_GPU(Malloc) is cudaMalloc or
// hipMalloc. Not defined where kernels run on the host.
#if defined(KOKKOS_ENABLE_CUDA)
#define NEKBONE_K_GPU(name) cuda##name
#elif defined(KOKKOS_ENABLE_HIP)
#define NEKBONE_K_GPU(name) hip##name
#endif

#if defined(NEKBONE_K_GPU)
namespace nekbone_k {

/// The stream of an instance's kernels.
inline NEKBONE_K_GPU(Stream_t) native_stream(const ExecutionSpace& space) {
#if defined(KOKKOS_ENABLE_CUDA)
  return space.cuda_stream();
#else
  return space.hip_stream();
#endif
}

}  // namespace nekbone_k
#endif
