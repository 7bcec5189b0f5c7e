// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Reductions of products of vector entries, e.g. dot products.
#pragma once

#include <cstddef>
#include <type_traits>

#include "core/lanes.hpp"
#include "core/launch_shape.hpp"

namespace nekbone_k {

/// The entries [0, size) of assembled vectors that vector kernels work on. Dot products count only
/// entries from first_owned on, so that each shared DOF counts once. With several components, which
/// follow each other, that holds in each.
struct VectorRange {
  LocalIndex size = 0, first_owned = 0;
  LocalIndex component = size;  ///< entries of one component

  /// The place of an entry in its component.
  KOKKOS_FUNCTION LocalIndex in_component(LocalIndex a) const {
    return component < size ? a % component : a;
  }
  /// Whether all of [first, first + length) are owned entries of one component.
  KOKKOS_FUNCTION bool owns(LocalIndex first, LocalIndex length) const {
    const LocalIndex begin = in_component(first);
    return begin >= first_owned && length <= component - begin;
  }
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
template <class Value, class T>
KOKKOS_FORCEINLINE_FUNCTION Value load_entry(const T* from) {
  if constexpr (std::is_same_v<Value, T>) {
    return *from;
  } else {
    return read_lanes(from);
  }
}
/// Stores an entry of a vector, or the lanes that begin there.
template <class Value, class T>
KOKKOS_FORCEINLINE_FUNCTION void store_entry(T* to, const Value& value) {
  if constexpr (std::is_same_v<Value, T>) {
    *to = value;
  } else {
    write_lanes(to, value);
  }
}

/// u·v for EntryReduction.
struct DotTerms {
  static constexpr int n_products = 1;
  const double *u, *v;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&x)[1], Value (&y)[1]) const {
    x[0] = load_entry<Value>(u + a);
    y[0] = load_entry<Value>(v + a);
  }
};

/// Plain sums of products: rounding depends on the order.
template <int n>
struct PlainSums {
  static constexpr int n_values = n;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add(Value (&sums)[n], const Value (&x)[n],
                                       const Value (&y)[n]) const {
    for (int i = 0; i < n; ++i) sums[i] += x[i] * y[i];
  }
  KOKKOS_FORCEINLINE_FUNCTION static void join(double& sum, double other) { sum += other; }
};

/// A reducer of Kokkos that joins several values at once.
template <class Scheme, int n>
class JoinReducer {
 public:
  using reducer = JoinReducer;
  using value_type = EntryValues<n>;
  using result_view_type =
      Kokkos::View<value_type, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  KOKKOS_FUNCTION explicit JoinReducer(value_type& value) : m_value(&value) {}
  KOKKOS_FUNCTION void join(value_type& to, const value_type& from) const {
    for (int i = 0; i < n; ++i) Scheme::join(to.values[i], from.values[i]);
  }
  KOKKOS_FUNCTION void init(value_type& value) const { value = {}; }
  KOKKOS_FUNCTION value_type& reference() const { return *m_value; }
  KOKKOS_FUNCTION result_view_type view() const { return result_view_type(m_value); }
  KOKKOS_FUNCTION bool references_scalar() const { return true; }

 private:
  value_type* m_value;
};

/// Combines the values of the threads of a team with Scheme::join(), in one reduction. All threads
/// get the result. The identity of the schemes is 0.
template <class Scheme, class Team, int n>
KOKKOS_FORCEINLINE_FUNCTION void reduce_over_team(const Team& team, double (&values)[n]) {
  EntryValues<n> all;
  for (int i = 0; i < n; ++i) all.values[i] = values[i];
  team.team_reduce(JoinReducer<Scheme, n>{all});
  for (int i = 0; i < n; ++i) values[i] = all.values[i];
}

/// Visits every entry of a range once and combines the products of the owned entries with `Scheme`,
/// e.g. PlainSums. Each team works on one chunk of entries and writes its values to `parts`
/// (n_teams entries, device memory).
///
/// `Terms` has operator()(a, x, y), which sets the n factors x and y of entry a, or of the lanes
/// that begin at a. It may also change vectors. If it has load(a), which returns a Loaded with all
/// that it reads of an entry, operator()(a, loaded, x, y) does the rest.
template <class Terms, class Scheme>
struct EntryReduction {
  static constexpr int n = Terms::n_products, n_values = Scheme::n_values;
  static constexpr int lanes = static_cast<int>(Lanes::size());
  /// Whether Terms can also load what it reads of an entry, and go on from there.
  static constexpr bool loads_first = requires { typename Terms::template Loaded<Lanes>; };
  using Shape = LaunchShape<ExecutionSpace>;
  static constexpr int team_size = Shape::team_size;
  /// Entries of a thread, in Lanes.
  template <int steps>
  struct Steps {};
  template <int steps>
  static constexpr LocalIndex chunk = team_size* steps* lanes;
  template <int steps>
  using Policy =
      Kokkos::TeamPolicy<ExecutionSpace, Steps<steps>, Kokkos::LaunchBounds<team_size, 0>>;
  using Team = typename Policy<1>::member_type;

  VectorRange range;
  Terms terms;
  Scheme scheme;
  DeviceVector<EntryValues<n_values>> parts;

  static LocalIndex n_teams(const VectorRange& range) {
    LocalIndex teams = 0;
    with_steps(range, [&](auto steps) { teams = n_chunks<steps>(range); });
    return teams;
  }

  void run(const char* label) const {
    with_steps(range, [&](auto steps) {
      Kokkos::parallel_for(label, light(Policy<steps>(n_chunks<steps>(range), team_size)), *this);
    });
  }

  template <int steps>
  KOKKOS_FUNCTION void operator()(Steps<steps>, const Team& team) const {
    constexpr LocalIndex length = chunk<steps>;
    const LocalIndex first = team.league_rank() * length;
    double total[n_values] = {};
    if (range.owns(first, length)) {
      Lanes values[n_values];
      for (int i = 0; i < n_values; ++i) values[i] = Lanes(0.0);
      const auto entry = [&](int step) {
        return first + (step * team_size + team.team_rank()) * lanes;
      };
      if constexpr (loads_first && !is_host_device) {
        // All reads of several entries are in flight before the first write, behind which the
        // compiler could not move them.
        constexpr int group = steps < 4 ? steps : 4;
        NEKBONE_K_UNROLL
        for (int step = 0; step < steps; step += group) {
          typename Terms::template Loaded<Lanes> loaded[group];
          NEKBONE_K_UNROLL
          for (int g = 0; g < group; ++g) loaded[g] = terms.template load<Lanes>(entry(step + g));
          NEKBONE_K_UNROLL
          for (int g = 0; g < group; ++g) {
            Lanes x[n], y[n];
            terms(entry(step + g), loaded[g], x, y);
            scheme.add(values, x, y);
          }
        }
      } else {
        NEKBONE_K_UNROLL
        for (int step = 0; step < steps; ++step) {
          Lanes x[n], y[n];
          terms(entry(step), x, y);
          scheme.add(values, x, y);
        }
      }
      for (int i = 0; i < n_values; ++i)
        for (int lane = 0; lane < lanes; ++lane) Scheme::join(total[i], values[i][lane]);
    } else {  // at the first owned entry and at the end of a component
      const LocalIndex size = range.size - first < length ? range.size - first : length;
      for (LocalIndex at = team.team_rank(); at < size; at += team_size) {
        double x[n], y[n];
        terms(first + at, x, y);
        if (range.in_component(first + at) >= range.first_owned) scheme.add(total, x, y);
      }
    }
    reduce_over_team<Scheme>(team, total);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      for (int i = 0; i < n_values; ++i) parts(team.league_rank()).values[i] = total[i];
    });
  }

 private:
  template <int steps>
  static LocalIndex n_chunks(const VectorRange& range) {
    return range.size <= chunk<steps> ? 1 : (range.size - 1) / chunk<steps> + 1;
  }
  /// Calls action(steps) with the most steps that leave enough teams, as a compile-time constant.
  template <std::size_t at = 0, class Action>
  static void with_steps(const VectorRange& range, const Action& action) {
    constexpr int steps = Shape::entries_a_thread[at];
    if constexpr (at + 1 < Shape::entries_a_thread.size())
      if (n_chunks<steps>(range) < Shape::enough_teams) return with_steps<at + 1>(range, action);
    action(std::integral_constant<int, steps>{});
  }
};

}  // namespace nekbone_k
