// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Index, memory and view types that every part of nekbone-k shares.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

// Unrolls a short loop, so that the small arrays of a thread become registers.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define NEKBONE_K_UNROLL _Pragma("unroll")
#else
#define NEKBONE_K_UNROLL _Pragma("GCC unroll 16")
#endif

// Goes before the body of a lambda that must be inlined. GCC may call a large lambda that is used
// twice; compilers for GPUs inline everything.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define NEKBONE_K_INLINED
#else
#define NEKBONE_K_INLINED __attribute__((always_inline))
#endif

namespace nekbone_k {

/// Position in a vector or element list of one rank. A rank holds fewer than 2^31 local points.
using LocalIndex = std::int32_t;

/// Identity of a DOF in the whole mesh: equal on every rank and element that touches it.
using GlobalId = std::int64_t;

/// The execution space of kernels, and the memory that they read and write.
using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using DeviceMemory = ExecutionSpace::memory_space;
using HostMemory = Kokkos::HostSpace;

/// Whether the "device" is the host itself.
inline constexpr bool is_host_device =
    Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, DeviceMemory>::accessible;

/// Contiguous vector in device memory.
template <class T>
using DeviceVector = Kokkos::View<T*, DeviceMemory>;
template <class T>
using ConstDeviceVector = Kokkos::View<const T*, DeviceMemory>;

/// Components of a field in device memory, shape (entry, component). Each component is contiguous,
/// as SEM codes store their velocity components.
template <class T>
using DeviceField = Kokkos::View<T**, Kokkos::LayoutLeft, DeviceMemory>;

/// A device vector of `n` uninitialised entries, for memory that a kernel is about to fill.
template <class T>
DeviceVector<T> uninitialized(const std::string& label, std::size_t n) {
  return DeviceVector<T>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), n);
}

/// A copy in device memory of a host range (anything with data() and size()).
template <class Range>
auto to_device(const std::string& label, const Range& host) {
  using T = std::remove_cv_t<std::remove_pointer_t<decltype(host.data())>>;
  auto device = uninitialized<T>(label, host.size());
  Kokkos::View<const T*, HostMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> view(host.data(),
                                                                                   host.size());
  Kokkos::deep_copy(device, view);
  return device;
}

}  // namespace nekbone_k
