// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A sum over the threads of a team.
#pragma once

#include "core/lanes.hpp"

namespace nekbone_k {

/// Sum of one value per thread of a team. It reuses barriers that the kernel has anyway, because
/// the extra barriers of Kokkos' own reduction slow down small elements. Call put(), barrier,
/// fold(), barrier, total().
template <int team_size, class T = double>
struct TeamSum {
  using Lanes = LanesOf<T>;

  Lanes* values;  ///< (team_size), in team scratch

  KOKKOS_FORCEINLINE_FUNCTION void put(int thread, const Lanes& value) const {
    values[thread] = value;
  }
  KOKKOS_FORCEINLINE_FUNCTION void fold(int thread) const {
    if (thread >= parts) return;
    Lanes part = values[thread];
    NEKBONE_K_UNROLL
    for (int t = parts; t < team_size; t += parts)
      if (t + thread < team_size) part += values[t + thread];
    values[thread] = part;
  }
  KOKKOS_FORCEINLINE_FUNCTION double total() const {
    double sum = 0;
    for (int part = 0; part < parts; ++part)
      for (int lane = 0; lane < static_cast<int>(Lanes::size()); ++lane) sum += values[part][lane];
    return sum;
  }

 private:
  static constexpr int parts = team_size < 8 ? team_size : 8;
};

/// In place of a TeamSum: no sum.
struct NoTeamSum {
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void put(int, const Value&) const {}
  KOKKOS_FORCEINLINE_FUNCTION void fold(int) const {}
};

}  // namespace nekbone_k
