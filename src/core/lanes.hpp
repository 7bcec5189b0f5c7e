/// @file
/// One value of each of several elements or entries: what kernels compute with.
#pragma once

#include <Kokkos_SIMD.hpp>

#include "core/types.hpp"

namespace nekbone_k {

/// Doubles side by side: a SIMD register on a CPU, a plain double on a GPU. Kernels are written
/// once in terms of it.
using Lanes = Kokkos::Experimental::native_simd<double>;

KOKKOS_FORCEINLINE_FUNCTION Lanes read_lanes(const double* from) {
  Lanes value;
  value.copy_from(from, Kokkos::Experimental::simd_flag_default);
  return value;
}

KOKKOS_FORCEINLINE_FUNCTION void write_lanes(double* to, const Lanes& value) {
  value.copy_to(to, Kokkos::Experimental::simd_flag_default);
}

}  // namespace nekbone_k
