// SPDX-License-Identifier: BSD-3-Clause
// Kokkos before 4.7 calls three CUDA runtime functions with the signatures they had before CUDA 13.
// This header is force-included into every CUDA source of such a pair and adds those signatures
// back as overloads. It does nothing with an older CUDA.
#pragma once
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000
inline cudaMemLocation nekbone_k_location(int device) {
  return device == cudaCpuDeviceId ? cudaMemLocation{cudaMemLocationTypeHost, 0}
                                   : cudaMemLocation{cudaMemLocationTypeDevice, device};
}

inline cudaError_t cudaMemPrefetchAsync(const void* data, size_t bytes, int device,
                                        cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(data, bytes, nekbone_k_location(device), 0u, stream);
}

inline cudaError_t cudaMemAdvise(const void* data, size_t bytes, cudaMemoryAdvise advice,
                                 int device) {
  return cudaMemAdvise(data, bytes, advice, nekbone_k_location(device));
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
#endif
