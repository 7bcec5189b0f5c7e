// SPDX-License-Identifier: BSD-3-Clause
#include "core/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/gpu_api.hpp"
#include "core/system.hpp"
#include "core/types.hpp"

namespace nekbone_k {
namespace {

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
/// cudaDeviceProp or hipDeviceProp_t, whose members used here have the same names.
auto properties() {
#ifdef KOKKOS_ENABLE_CUDA
  return ExecutionSpace().cuda_device_prop();
#else
  return ExecutionSpace().hip_device_prop();
#endif
}
#endif

}  // namespace

std::string device_name() {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  // The number alone is not unique: a launcher that shows each rank one device numbers it 0.
  return fmt::format("{} {}, {} at {}", ExecutionSpace::name(), Kokkos::device_id(),
                     properties().name, device_place());
#else
  return "host";
#endif
}

std::string first_device_model() {
#if defined(NEKBONE_K_GPU)
#ifdef KOKKOS_ENABLE_CUDA
  cudaDeviceProp first;
#else
  hipDeviceProp_t first;
#endif
  int devices = 0;
  if (NEKBONE_K_GPU(GetDeviceCount)(&devices) == NEKBONE_K_GPU(Success) && devices > 0 &&
      NEKBONE_K_GPU(GetDeviceProperties)(&first, 0) == NEKBONE_K_GPU(Success))
    return first.name;
  static_cast<void>(NEKBONE_K_GPU(GetLastError)());  // so that no later call sees this error
  return "none";
#else
  return "host";
#endif
}

std::string device_place() {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  const auto device = properties();
  return fmt::format("{:04x}:{:02x}:{:02x}", device.pciDomainID, device.pciBusID,
                     device.pciDeviceID);
#else
  return {};
#endif
}

int ranks_on_device(const Communicator& comm) {
  if constexpr (is_host_device) return 1;
  const std::string here = host_name() + ' ' + device_name();
  const std::vector<std::string> all = comm.gather(here);
  return static_cast<int>(std::count(all.begin(), all.end(), here));
}

double available_device_memory() {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  std::size_t available = 0, total = 0;
#ifdef KOKKOS_ENABLE_CUDA
  const bool known = cudaMemGetInfo(&available, &total) == cudaSuccess;
#else
  const bool known = hipMemGetInfo(&available, &total) == hipSuccess;
#endif
  if (known) return static_cast<double>(available);
#endif
  return std::numeric_limits<double>::infinity();
}

bool is_device_memory([[maybe_unused]] const void* address) {
#if defined(NEKBONE_K_GPU)
#ifdef KOKKOS_ENABLE_CUDA
  cudaPointerAttributes attributes;
  const bool known = cudaPointerGetAttributes(&attributes, address) == cudaSuccess;
#else
  hipPointerAttribute_t attributes;
  const bool known = hipPointerGetAttributes(&attributes, address) == hipSuccess;
#endif
  if (!known) {
    static_cast<void>(NEKBONE_K_GPU(GetLastError)());  // so that no later call sees this error
    return false;
  }
#ifdef KOKKOS_ENABLE_CUDA
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
#elif HIP_VERSION_MAJOR < 6
  return attributes.memoryType == hipMemoryTypeDevice || attributes.isManaged != 0;
#else
  return attributes.type == hipMemoryTypeDevice || attributes.isManaged != 0;
#endif
#else
  return true;
#endif
}

}  // namespace nekbone_k
