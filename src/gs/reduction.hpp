/// @file
/// The operations of a gather-scatter.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>

namespace nekbone_k {

/// How values at the same DOF are combined.
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

/// `a` and `b` combined; a NaN on either side stays one.
template <Reduction op, class T>
KOKKOS_FORCEINLINE_FUNCTION T combine(T a, T b) {
  if constexpr (op == Reduction::add) return a + b;
  if constexpr (op == Reduction::multiply) return a * b;
  if constexpr (op == Reduction::min) return (a < b || a != a) ? a : b;
  if constexpr (op == Reduction::max) return (a > b || a != a) ? a : b;
}

/// Whether the bits of combine(a, b) are those of combine(b, a): of min and max not where both are
/// zeros of different signs.
constexpr bool commutes(Reduction op) { return op == Reduction::add || op == Reduction::multiply; }

/// Calls `action` with `op` as a compile-time constant, so that no kernel branches on it.
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
