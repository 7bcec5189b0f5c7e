// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The SIMD type of kernels: one value for each of several elements or entries.
#pragma once

#include <Kokkos_SIMD.hpp>
#include <bit>
#include <type_traits>

#include "core/types.hpp"

// GPU builds have one lane, whatever the CPU.
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
#if defined(KOKKOS_ARCH_AVX512XEON)
#define NEKBONE_K_AVX512
#elif defined(KOKKOS_ARCH_AVX2)
#define NEKBONE_K_AVX2
#endif
#endif

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
///
/// Elements side by side mostly have neighbouring entries. With AVX-512, a run of them around the
/// middle lane is loaded at once, and only the rest lane by lane, because gather instructions are
/// slow.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION LanesOf<T> gather_lanes(const T* from, const LocalIndex* index) {
  if constexpr (Lanes::size() == 1) {
    return LanesOf<T>(from[index[0]]);
  } else {
#if defined(NEKBONE_K_AVX512)
    static_assert(Lanes::size() == 8);
    constexpr int middle = 4;
    const __m256i run = _mm256_add_epi32(_mm256_set1_epi32(index[middle]),
                                         _mm256_setr_epi32(-4, -3, -2, -1, 0, 1, 2, 3));
    unsigned rest =
        _mm256_cmpneq_epi32_mask(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(index)), run);
    const T* const first = from + index[middle] - middle;
    if (rest == 0) return read_lanes(first);
    const auto in_run = static_cast<__mmask8>(~rest);
    if constexpr (std::is_same_v<T, float>) {
      __m256 value = _mm256_maskz_loadu_ps(in_run, first);
      for (; rest != 0; rest &= rest - 1)
        value = _mm256_mask_broadcastss_ps(value, static_cast<__mmask8>(rest & -rest),
                                           _mm_load_ss(from + index[std::countr_zero(rest)]));
      return LanesOf<T>(value);
    } else {
      __m512d value = _mm512_maskz_loadu_pd(in_run, first);
      for (; rest != 0; rest &= rest - 1)
        value = _mm512_mask_broadcastsd_pd(value, static_cast<__mmask8>(rest & -rest),
                                           _mm_load_sd(from + index[std::countr_zero(rest)]));
      return LanesOf<T>(value);
    }
#else
    return LanesOf<T>([&](std::size_t lane) { return from[index[lane]]; });
#endif
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
