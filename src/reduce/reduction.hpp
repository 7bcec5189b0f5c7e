// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The operations of a gather–scatter.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>

namespace nekbone_k {

/// Combines the values of one DOF.
enum class Reduction { add, multiply, min, max };

inline constexpr std::array all_reductions{Reduction::add, Reduction::multiply, Reduction::min,
                                           Reduction::max};

inline const char* name(Reduction op) {
  switch (op) {
    case Reduction::add:
      return "add";
    case Reduction::multiply:
      return "multiply";
    case Reduction::min:
      return "min";
    default:
      return "max";
  }
}

/// Combines `a` and `b`. If one of them is NaN, so is the result.
template <Reduction op, class T>
KOKKOS_FORCEINLINE_FUNCTION T combine(T a, T b) {
  if constexpr (op == Reduction::add) return a + b;
  if constexpr (op == Reduction::multiply) return a * b;
  if constexpr (op == Reduction::min) return (a < b || a != a) ? a : b;
  if constexpr (op == Reduction::max) return (a > b || a != a) ? a : b;
}

/// Whether combine(a, b) and combine(b, a) have the same bits. For min and max they differ if both
/// are zeros of different signs.
constexpr bool commutes(Reduction op) { return op == Reduction::add || op == Reduction::multiply; }

/// Calls `action` with `op` as a compile-time constant, so that kernels do not branch on it.
template <class Action>
void with_reduction(Reduction op, Action&& action) {
  switch (op) {
    case Reduction::add:
      return action(std::integral_constant<Reduction, Reduction::add>{});
    case Reduction::multiply:
      return action(std::integral_constant<Reduction, Reduction::multiply>{});
    case Reduction::min:
      return action(std::integral_constant<Reduction, Reduction::min>{});
    case Reduction::max:
      return action(std::integral_constant<Reduction, Reduction::max>{});
  }
}

}  // namespace nekbone_k
