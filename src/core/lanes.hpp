// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The SIMD type of kernels: one value for each of several elements or entries.
#pragma once

#include <Kokkos_SIMD.hpp>

#include "core/types.hpp"

namespace nekbone_k {

/// Doubles side by side: a SIMD register on a CPU, a plain double on a GPU. Kernels are written
/// once, with this type.
using Lanes = Kokkos::Experimental::native_simd<double>;

KOKKOS_FORCEINLINE_FUNCTION Lanes read_lanes(const double* from) {
  Lanes value;
  value.copy_from(from, Kokkos::Experimental::simd_flag_default);
  return value;
}

/// Like read_lanes(), for memory that is not read again soon. A GPU evicts it first from its
/// caches.
KOKKOS_FORCEINLINE_FUNCTION Lanes read_lanes_once(const double* from) {
#if defined(__CUDA_ARCH__)
  return Lanes(__ldcs(from));
#elif defined(__HIP_DEVICE_COMPILE__)
  return Lanes(__builtin_nontemporal_load(from));
#else
  return read_lanes(from);
#endif
}

KOKKOS_FORCEINLINE_FUNCTION void write_lanes(double* to, const Lanes& value) {
  value.copy_to(to, Kokkos::Experimental::simd_flag_default);
}

/// from[index[0]], from[index[1]] and so on. `index` needs no alignment; indices may be negative.
/// Below eight lanes it loads one by one, because the gather instruction of AVX2 gains nothing.
KOKKOS_FORCEINLINE_FUNCTION Lanes gather_lanes(const double* from, const LocalIndex* index) {
  if constexpr (Lanes::size() == 1) {
    return Lanes(from[index[0]]);
  } else if constexpr (Lanes::size() < 8) {
    return Lanes([&](std::size_t lane) { return from[index[lane]]; });
  } else {
    Kokkos::Experimental::simd<LocalIndex, Lanes::abi_type> indices;
    indices.copy_from(index, Kokkos::Experimental::simd_flag_default);
    Lanes value(0.0);
    Kokkos::Experimental::where(Lanes::mask_type(true), value).gather_from(from, indices);
    return value;
  }
}

/// x y + z, rounded once. A compiler may fuse one use of an expression and not another, so the
/// choice is explicit.
KOKKOS_FORCEINLINE_FUNCTION double fused_multiply_add(double x, double y, double z) {
  return Kokkos::fma(x, y, z);
}
KOKKOS_FORCEINLINE_FUNCTION Lanes fused_multiply_add(const Lanes& x, const Lanes& y,
                                                     const Lanes& z) {
  if constexpr (Lanes::size() == 1) {  // Kokkos::fma rounds twice here
    return Lanes(Kokkos::fma(x[0], y[0], z[0]));
  } else {
    return Kokkos::fma(x, y, z);
  }
}

/// The larger of two values, lane by lane. GCC 12 warns about Kokkos::max() with AVX-512.
KOKKOS_FORCEINLINE_FUNCTION double larger(double a, double b) { return a < b ? b : a; }
KOKKOS_FORCEINLINE_FUNCTION Lanes larger(const Lanes& a, const Lanes& b) {
  Lanes value = a;
  Kokkos::Experimental::where(a < b, value) = b;
  return value;
}

}  // namespace nekbone_k
