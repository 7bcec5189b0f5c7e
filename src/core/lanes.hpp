// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The SIMD type of kernels: one value for each of several elements or entries.
#pragma once

#include <Kokkos_SIMD.hpp>
#include <type_traits>

#include "core/types.hpp"

namespace nekbone_k {

/// Values of type T side by side: a SIMD register on a CPU, a plain number on a GPU. Kernels are
/// written once, with this type. Floats have as many lanes as doubles, because ElementLayout gives
/// each lane an element.
template <class T>
using LanesOf = Kokkos::Experimental::simd<T, Kokkos::Experimental::native_simd<double>::abi_type>;
using Lanes = LanesOf<double>;
static_assert(std::is_same_v<Lanes, Kokkos::Experimental::native_simd<double>>);
static_assert(LanesOf<float>::size() == Lanes::size());

template <class T>
KOKKOS_FORCEINLINE_FUNCTION LanesOf<T> read_lanes(const T* from) {
  LanesOf<T> value;
  value.copy_from(from, Kokkos::Experimental::simd_flag_default);
  return value;
}

/// Like read_lanes(), for memory that is not read again soon. A GPU evicts it first from its
/// caches.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION LanesOf<T> read_lanes_once(const T* from) {
#if defined(__CUDA_ARCH__)
  return LanesOf<T>(__ldcs(from));
#elif defined(__HIP_DEVICE_COMPILE__)
  return LanesOf<T>(__builtin_nontemporal_load(from));
#else
  return read_lanes(from);
#endif
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION void write_lanes(T* to, const LanesOf<T>& value) {
  value.copy_to(to, Kokkos::Experimental::simd_flag_default);
}

/// from[index[0]], from[index[1]] and so on. `index` needs no alignment; indices may be negative.
/// Below eight lanes it loads one by one, because the gather instruction of AVX2 gains nothing.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION LanesOf<T> gather_lanes(const T* from, const LocalIndex* index) {
  if constexpr (Lanes::size() == 1) {
    return LanesOf<T>(from[index[0]]);
  } else if constexpr (Lanes::size() < 8) {
    return LanesOf<T>([&](std::size_t lane) { return from[index[lane]]; });
  } else {
    Kokkos::Experimental::simd<LocalIndex, Lanes::abi_type> indices;
    indices.copy_from(index, Kokkos::Experimental::simd_flag_default);
    LanesOf<T> value(T(0));
    Kokkos::Experimental::where(typename LanesOf<T>::mask_type(true), value)
        .gather_from(from, indices);
    return value;
  }
}

/// x y + z, rounded once. A compiler may fuse one use of an expression and not another, so the
/// choice is explicit.
KOKKOS_FORCEINLINE_FUNCTION double fused_multiply_add(double x, double y, double z) {
  return Kokkos::fma(x, y, z);
}
KOKKOS_FORCEINLINE_FUNCTION float fused_multiply_add(float x, float y, float z) {
  return Kokkos::fma(x, y, z);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION LanesOf<T> fused_multiply_add(const LanesOf<T>& x, const LanesOf<T>& y,
                                                          const LanesOf<T>& z) {
  if constexpr (Lanes::size() == 1) {  // Kokkos::fma rounds twice here
    return LanesOf<T>(Kokkos::fma(x[0], y[0], z[0]));
  } else {
    return Kokkos::fma(x, y, z);
  }
}

/// The larger of two values, lane by lane. GCC 12 warns about Kokkos::max() with AVX-512.
KOKKOS_FORCEINLINE_FUNCTION double larger(double a, double b) { return a < b ? b : a; }
KOKKOS_FORCEINLINE_FUNCTION float larger(float a, float b) { return a < b ? b : a; }
template <class T>
KOKKOS_FORCEINLINE_FUNCTION LanesOf<T> larger(const LanesOf<T>& a, const LanesOf<T>& b) {
  LanesOf<T> value = a;
  Kokkos::Experimental::where(a < b, value) = b;
  return value;
}

}  // namespace nekbone_k
