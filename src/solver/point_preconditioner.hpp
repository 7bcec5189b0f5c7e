// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Preconditioners that kernels apply entry by entry.
#pragma once

#include "core/entry_reduction.hpp"

namespace nekbone_k {

/// z = M r at entry a (and the lanes after it), for both choices of M. They are types, so that no
/// kernel branches on the choice.
struct Identity {
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value operator()(LocalIndex, const Value& r) const {
    return r;
  }
};
struct Diagonal {
  const double* entries;
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value operator()(LocalIndex a, const Value& r) const {
    return load_entry<Value>(entries + a) * r;
  }
};

/// Calls action(M) with the type of M.
template <class Action>
auto with_preconditioner(const ConstDeviceVector<double>& inverse_diagonal, const Action& action) {
  if (inverse_diagonal.extent(0) > 0) return action(Diagonal{inverse_diagonal.data()});
  return action(Identity{});
}

}  // namespace nekbone_k
