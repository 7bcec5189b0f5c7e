// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Reductions of products of vector entries, e.g. dot products.
#pragma once

#include <type_traits>

#include "core/lanes.hpp"
#include "core/launch_shape.hpp"

namespace nekbone_k {

/// The entries [0, size) of assembled vectors that vector kernels work on. Dot products count only
/// [first_owned, size), so that each shared DOF counts once.
struct VectorRange {
  LocalIndex size = 0, first_owned = 0;
};

/// `n` values that are summed separately.
template <int n>
struct EntryValues {
  double values[n] = {};

  KOKKOS_FUNCTION EntryValues& operator+=(const EntryValues& other) {
    for (int i = 0; i < n; ++i) values[i] += other.values[i];
    return *this;
  }
};

/// Loads an entry of a vector, or the lanes that begin there.
template <class Value>
KOKKOS_FORCEINLINE_FUNCTION Value load_entry(const double* from) {
  if constexpr (std::is_same_v<Value, double>) {
    return *from;
  } else {
    return read_lanes(from);
  }
}
/// Stores an entry of a vector, or the lanes that begin there.
template <class Value>
KOKKOS_FORCEINLINE_FUNCTION void store_entry(double* to, const Value& value) {
  if constexpr (std::is_same_v<Value, double>) {
    *to = value;
  } else {
    write_lanes(to, value);
  }
}

/// Plain sums of products: rounding depends on the order.
template <int n>
struct PlainSums {
  static constexpr int n_values = n;
  using Reducer = Kokkos::Sum<double>;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add(Value (&sums)[n], const Value (&x)[n],
                                       const Value (&y)[n]) const {
    for (int i = 0; i < n; ++i) sums[i] += x[i] * y[i];
  }
  KOKKOS_FORCEINLINE_FUNCTION static void join(double& sum, double other) { sum += other; }
};

/// Visits every entry of a range once and combines the products of the owned entries with `Scheme`,
/// e.g. PlainSums. Each team works on one chunk of entries and writes its values to `parts`
/// (n_teams entries, device memory).
///
/// `Terms` has operator()(a, x, y), which sets the n factors x and y of entry a, or of the lanes
/// that begin at a. It may also change vectors.
template <class Terms, class Scheme>
struct EntryReduction {
  static constexpr int n = Terms::n_products, n_values = Scheme::n_values;
  static constexpr int lanes = static_cast<int>(Lanes::size());
  static constexpr int team_size = LaunchShape<ExecutionSpace>::team_size;
  static constexpr int steps = LaunchShape<ExecutionSpace>::entries_a_thread;
  static constexpr LocalIndex chunk = team_size * steps * lanes;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 0>>;
  using Team = typename Policy::member_type;

  VectorRange range;
  Terms terms;
  Scheme scheme;
  DeviceVector<EntryValues<n_values>> parts;

  static LocalIndex n_teams(const VectorRange& range) {
    return range.size <= chunk ? 1 : (range.size - 1) / chunk + 1;
  }

  void run(const char* label) const {
    // Without the hint, Kokkos copies a large functor to the GPU separately, and waits.
    Kokkos::parallel_for(
        label,
        Kokkos::Experimental::require(Policy(n_teams(range), team_size),
                                      Kokkos::Experimental::WorkItemProperty::HintLightWeight),
        *this);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const LocalIndex first = team.league_rank() * chunk;
    double total[n_values] = {};
    if (first >= range.first_owned && chunk <= range.size - first) {
      Lanes values[n_values];
      for (int i = 0; i < n_values; ++i) values[i] = Lanes(0.0);
      NEKBONE_K_UNROLL
      for (int step = 0; step < steps; ++step) {
        Lanes x[n], y[n];
        terms(first + (step * team_size + team.team_rank()) * lanes, x, y);
        scheme.add(values, x, y);
      }
      for (int i = 0; i < n_values; ++i)
        for (int lane = 0; lane < lanes; ++lane) Scheme::join(total[i], values[i][lane]);
    } else {  // at the first owned entry and at the end of the range
      const LocalIndex size = range.size - first < chunk ? range.size - first : chunk;
      for (LocalIndex at = team.team_rank(); at < size; at += team_size) {
        double x[n], y[n];
        terms(first + at, x, y);
        if (first + at >= range.first_owned) scheme.add(total, x, y);
      }
    }
    for (int i = 0; i < n_values; ++i) team.team_reduce(typename Scheme::Reducer(total[i]));
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      for (int i = 0; i < n_values; ++i) parts(team.league_rank()).values[i] = total[i];
    });
  }
};

}  // namespace nekbone_k
