// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The lanes of one or two blocks of elements in a SIMD register, and sums from lanes into rows.
#pragma once

#include <bit>
#include <type_traits>

#include "operators/element_layout.hpp"

namespace nekbone_k {

/// Two blocks that are processed together; `second` is `first` if there is no other.
struct BlockPair {
  LocalIndex first, second;
};

/// The values of `n` blocks of elements side by side.
template <class T, int n>
struct AxhelmLanes;
template <class T>
struct AxhelmLanes<T, 1> {
  using Type = LanesOf<T>;

  /// The lanes of the only block.
  template <int block>
  KOKKOS_FORCEINLINE_FUNCTION static Type of(const Type& value) {
    static_assert(block == 0);
    return value;
  }
};

/// The n blocks from `first` on in a range that ends before `end`: a block, or a BlockPair.
template <int n>
KOKKOS_FORCEINLINE_FUNCTION auto blocks_from(LocalIndex first, LocalIndex end) {
  static_assert(n == 1 || n == 2);
  if constexpr (n == 1)
    return first;
  else
    return BlockPair{first, first + 1 < end ? first + 1 : first};
}
KOKKOS_FORCEINLINE_FUNCTION LocalIndex last_of(LocalIndex block) { return block; }
KOKKOS_FORCEINLINE_FUNCTION LocalIndex last_of(const BlockPair& blocks) { return blocks.second; }

/// Blocks that fill a register of a CPU. One block of floats fills half of it, because it has as
/// many lanes as a block of doubles.
template <class T>
inline constexpr int blocks_of_register = 1;

#if defined(NEKBONE_K_AVX512) || defined(NEKBONE_K_AVX2)
template <>
inline constexpr int blocks_of_register<float> = 2;
template <>
struct AxhelmLanes<float, 2> {
#if defined(NEKBONE_K_AVX512)
  using Type =
      Kokkos::Experimental::simd<float, Kokkos::Experimental::simd_abi::avx512_fixed_size<16>>;
#else
  using Type =
      Kokkos::Experimental::simd<float, Kokkos::Experimental::simd_abi::avx2_fixed_size<8>>;
#endif

  /// The lanes of `first`, then those of `second`.
  KOKKOS_FORCEINLINE_FUNCTION static Type joined(const LanesOf<float>& first,
                                                 const LanesOf<float>& second) {
#if defined(NEKBONE_K_AVX512)
    // The masks here and in of() select all lanes: GCC 12 warns about the forms without one.
    const __m512d low = _mm512_castps_pd(_mm512_castps256_ps512(static_cast<__m256>(first)));
    const __m256d high = _mm256_castps_pd(static_cast<__m256>(second));
    return Type(_mm512_castpd_ps(_mm512_maskz_insertf64x4(0xff, low, high, 1)));
#else
    return Type(_mm256_insertf128_ps(_mm256_castps128_ps256(static_cast<__m128>(first)),
                                     static_cast<__m128>(second), 1));
#endif
  }
  /// The lanes of the first or second block.
  template <int block>
  KOKKOS_FORCEINLINE_FUNCTION static LanesOf<float> of(const Type& both) {
    static_assert(block == 0 || block == 1);
#if defined(NEKBONE_K_AVX512)
    const __m512d value = _mm512_castps_pd(static_cast<__m512>(both));
    return LanesOf<float>(_mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(0xf, value, block)));
#else
    return LanesOf<float>(_mm256_extractf128_ps(static_cast<__m256>(both), block));
#endif
  }
};

/// x y + z, rounded once.
KOKKOS_FORCEINLINE_FUNCTION AxhelmLanes<float, 2>::Type fused_multiply_add(
    const AxhelmLanes<float, 2>::Type& x, const AxhelmLanes<float, 2>::Type& y,
    const AxhelmLanes<float, 2>::Type& z) {
  return Kokkos::fma(x, y, z);
}
#endif

/// Adds the lanes of a value to to[index[0]], to[index[1]] and so on, or puts them there. Skips an
/// index that is `end` or more. The others are distinct.
///
/// Elements side by side mostly have neighbouring entries. With AVX-512, a run of them around the
/// middle lane is written at once, and only the rest lane by lane.
template <bool adds, class T>
KOKKOS_FORCEINLINE_FUNCTION void lanes_to_rows(T* to, const LocalIndex* index, LocalIndex end,
                                               const LanesOf<T>& value) {
  constexpr int lanes = ElementLayout::lanes;
  alignas(LanesOf<T>) T of_lane[lanes];
  const auto one = [&](int lane) {
    T& row = to[index[lane]];
    row = adds ? row + of_lane[lane] : of_lane[lane];
  };
#if defined(NEKBONE_K_AVX512)
  constexpr int middle = lanes / 2;
  const __m256i entries = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index));
  const __m256i run = _mm256_add_epi32(_mm256_set1_epi32(index[middle]),
                                       _mm256_setr_epi32(-4, -3, -2, -1, 0, 1, 2, 3));
  constexpr unsigned all = (1u << lanes) - 1;
  // Masks stay masks: GCC 12 spills one as a byte, and may then read it as an unsigned of four.
  const __mmask8 valid = _mm256_cmplt_epi32_mask(entries, _mm256_set1_epi32(end));
  const __mmask8 in_run = _mm256_mask_cmpeq_epi32_mask(valid, entries, run);
  T* const first = to + index[middle] - middle;
  if (in_run == all) {
    write_lanes(first, adds ? LanesOf<T>(read_lanes<T>(first) + value) : value);
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    __m256 result = static_cast<__m256>(value);
    if (adds) result = _mm256_add_ps(_mm256_maskz_loadu_ps(in_run, first), result);
    _mm256_mask_storeu_ps(first, in_run, result);
  } else {
    __m512d result = static_cast<__m512d>(value);
    if (adds) result = _mm512_add_pd(_mm512_maskz_loadu_pd(in_run, first), result);
    _mm512_mask_storeu_pd(first, in_run, result);
  }
  write_lanes(of_lane, value);
  unsigned rest = _mm256_mask_cmpneq_epi32_mask(valid, entries, run);
  for (; rest != 0; rest &= rest - 1) one(std::countr_zero(rest));
#else
  write_lanes(of_lane, value);
  for (int lane = 0; lane < lanes; ++lane)
    if (index[lane] < end) one(lane);
#endif
}

}  // namespace nekbone_k
