// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Cooperative kernels: all teams run at the same time, so that a barrier of all teams is possible.
/// Kokkos has no such launch. Only for sources that a GPU compiler compiles.
#pragma once

#include <fmt/format.h>

#include <cstddef>

#include "core/errors.hpp"
#include "core/gpu_api.hpp"

#if defined(NEKBONE_K_GPU)
namespace nekbone_k {

/// A team of a cooperative kernel, and a barrier of all teams.
class CooperativeTeam {
 public:
  __device__ explicit CooperativeTeam(unsigned* arrived) : m_arrived(arrived) {}

  __device__ int team_rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int league_rank() const { return static_cast<int>(blockIdx.x); }
  __device__ int league_size() const { return static_cast<int>(gridDim.x); }
  __device__ void team_barrier() const { __syncthreads(); }

  /// The barrier of all threads of all teams in two steps, between which a team may do other work.
  /// What threads wrote to device memory before arrive(), all threads read after wait(). Thread 0
  /// calls `last` when all threads of its team have arrived.
  template <class Last>
  __device__ void arrive(const Last& last) {
    __syncthreads();
    if (threadIdx.x != 0) return;
    last();
    m_awaited += gridDim.x;
    __threadfence();
    atomicAdd(m_arrived, 1U);
  }
  __device__ void wait() const {
    if (threadIdx.x == 0) {
      while (*static_cast<volatile unsigned*>(m_arrived) < m_awaited) {
      }
      __threadfence();
    }
    __syncthreads();
  }

 private:
  unsigned* m_arrived;
  unsigned m_awaited = 0;  // of thread 0
};

/// A group of `size` consecutive threads of a team, from a multiple of `size` on. On CUDA it has a
/// barrier of its own if it is whole warps. Otherwise all threads of the team must call
/// team_barrier(). CUDA has 16 barriers, of which the team uses one: groups have numbers up to 14.
template <int size>
class PartOfTeam {
 public:
#if defined(KOKKOS_ENABLE_CUDA)
  static constexpr bool has_barrier = size % 32 == 0;  // whole warps
#else
  static constexpr bool has_barrier = false;
#endif
  __device__ explicit PartOfTeam(int number) : m_number(number) {}

  __device__ int team_rank() const { return static_cast<int>(threadIdx.x); }
  __device__ void team_barrier() const {
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (has_barrier) {
      asm volatile("bar.sync %0, %1;" ::"r"(m_number + 1), "r"(size) : "memory");
      return;
    }
#endif
    __syncthreads();
  }

 private:
  int m_number;
};

/// Adds values[v] over the threads of each warp, for each v. Lane 0 of warp w stores the sums in
/// shared[w * n + v]. For all threads of a team of whole warps.
template <int n>
__device__ void sum_over_warps(double (&values)[n], double* shared) {
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  for (int distance = warpSize / 2; distance > 0; distance /= 2)
    for (int v = 0; v < n; ++v) {
#if defined(KOKKOS_ENABLE_CUDA)
      values[v] += __shfl_down_sync(0xffffffffU, values[v], distance);
#else
      values[v] += __shfl_down(values[v], distance);
#endif
    }
  if (lane == 0)
    for (int v = 0; v < n; ++v) shared[warp * n + v] = values[v];
}
/// Adds the results of sum_over_warps() over the warps of the team.
template <int n>
__device__ void sum_of_warps(const double* shared, double (&values)[n]) {
  const int n_warps = static_cast<int>(blockDim.x) / warpSize;
  for (int v = 0; v < n; ++v) values[v] = 0;
  for (int w = 0; w < n_warps; ++w)
    for (int v = 0; v < n; ++v) values[v] += shared[w * n + v];
}

template <class Body>
__global__ void __launch_bounds__(Body::team_size, 1)
    cooperative_kernel(const Body body, unsigned* arrived) {
  extern __shared__ double cooperative_scratch[];
  body(CooperativeTeam(arrived), cooperative_scratch);
}

/// Limits of the device on the teams of a cooperative kernel.
struct CooperativeLimits {
  int multiprocessors = 0;
  int scratch_bytes = 0;  ///< shared memory of a team, static and dynamic together

  /// Throws UnavailableError if the device has no cooperative launch.
  static CooperativeLimits get() {
    int device = 0, can = 0;
    CooperativeLimits limits;
    const auto ask = [&](int& value, auto attribute) {
      check_gpu(NEKBONE_K_GPU(DeviceGetAttribute)(&value, attribute, device), "asking for a limit");
    };
    check_gpu(NEKBONE_K_GPU(GetDevice)(&device), "asking for the device");
#if defined(KOKKOS_ENABLE_CUDA)
    ask(can, cudaDevAttrCooperativeLaunch);
    ask(limits.multiprocessors, cudaDevAttrMultiProcessorCount);
    ask(limits.scratch_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
#else
    ask(can, hipDeviceAttributeCooperativeLaunch);
    ask(limits.multiprocessors, hipDeviceAttributeMultiprocessorCount);
    ask(limits.scratch_bytes, hipDeviceAttributeMaxSharedMemoryPerBlock);
#endif
    if (can == 0) throw UnavailableError("the GPU has no cooperative launch");
    return limits;
  }
};

/// Launches a functor as a cooperative kernel, with one team on each multiprocessor. `Body` has
/// team_size, a number of whole warps, and operator()(CooperativeTeam, double* scratch of the team)
/// const.
template <class Body>
class CooperativeKernel {
 public:
  /// Each team has `scratch_bytes`. Throws UnavailableError if that exceeds the shared memory of a
  /// multiprocessor, together with what the kernel declares, and InternalError if a call of the
  /// device's library fails.
  CooperativeKernel(const CooperativeLimits& limits, std::size_t scratch_bytes)
      : m_teams(limits.multiprocessors),
        m_scratch_bytes(scratch_bytes),
        m_arrived("nekbone_k: arrived teams") {
    NEKBONE_K_GPU(FuncAttributes) own{};
    check_gpu(NEKBONE_K_GPU(FuncGetAttributes)(&own, kernel()), "asking for the size of a kernel");
    if (const std::size_t bytes = scratch_bytes + own.sharedSizeBytes;
        bytes > static_cast<std::size_t>(limits.scratch_bytes))
      throw UnavailableError(
          fmt::format("a team needs {} KB of shared memory, and a multiprocessor has {} KB",
                      (bytes + 1023) / 1024, limits.scratch_bytes / 1024));
    int teams_each = 0;
    check_gpu(NEKBONE_K_GPU(FuncSetAttribute)(
                  kernel(), NEKBONE_K_GPU(FuncAttributeMaxDynamicSharedMemorySize),
                  static_cast<int>(scratch_bytes)),
              "asking for scratch");
    check_gpu(NEKBONE_K_GPU(OccupancyMaxActiveBlocksPerMultiprocessor)(
                  &teams_each, cooperative_kernel<Body>, Body::team_size, scratch_bytes),
              "asking for the number of teams");
    if (teams_each == 0) throw UnavailableError("no team of its kernel fits on a multiprocessor");
  }

  /// Launches the kernel on `stream`. Does not wait. Launches share a counter, so each must come
  /// after the one before, as in one stream. Throws InternalError if the launch fails.
  void launch(const Body& body, const ExecutionSpace& stream) const {
    const auto native = native_stream(stream);
    check_gpu(NEKBONE_K_GPU(MemsetAsync)(m_arrived.data(), 0, sizeof(unsigned), native),
              "clearing a counter");
    unsigned* arrived = m_arrived.data();
    void* arguments[] = {const_cast<Body*>(&body), &arrived};
    check_gpu(NEKBONE_K_GPU(LaunchCooperativeKernel)(kernel(), dim3(m_teams), dim3(Body::team_size),
                                                     arguments, m_scratch_bytes, native),
              "launching a cooperative kernel");
  }

 private:
  static const void* kernel() { return reinterpret_cast<const void*>(cooperative_kernel<Body>); }

  int m_teams;
  std::size_t m_scratch_bytes;
  Kokkos::View<unsigned, DeviceMemory> m_arrived;
};

}  // namespace nekbone_k
#endif
