// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Pieces of the flow's element kernels: nodes, lines of points, and loops over them.
#pragma once

#include "core/launch_shape.hpp"
#include "flow/line_matrix.hpp"
#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// The team that works on a block of elements, one per lane. On a CPU it is one thread. On a GPU, a
/// block is one element, and the team has a thread per line.
using FlowTeam = Kokkos::TeamPolicy<ExecutionSpace>::member_type;

/// Bytes of scratch of `n_lanes` Lanes, with room to align them.
KOKKOS_FUNCTION constexpr std::size_t scratch_bytes(int n_lanes) {
  return sizeof(Lanes) * n_lanes + alignof(Lanes);
}
/// Whether a team has fast scratch for `n_lanes` Lanes. That of a GPU has 48 KB, of which
/// reductions take a little.
KOKKOS_FUNCTION constexpr bool fits_fast_scratch(int n_lanes, int team_size) {
  return scratch_bytes(n_lanes) + sizeof(double) * (team_size + 2) <=
         (is_host_device ? 32768 : 49152);
}

/// Calls f(0) … f(n - 1), and then waits for the team.
template <class F>
KOKKOS_FORCEINLINE_FUNCTION void for_team(const FlowTeam& team, int n, const F& f) {
  if constexpr (is_host_device) {
    for (int item = 0; item < n; ++item) f(item);
  } else {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), f);
    team.team_barrier();
  }
}

/// Calls f(first point, stride) for every line along direction `a` of a tensor of n0 × n1 × n2
/// points, the first direction fastest.
template <int a, int n0, int n1, int n2, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_lines(const FlowTeam& team, const F& f) {
  if constexpr (a == 0)
    for_team(team, n1 * n2, [&](int item) NEKBONE_K_INLINED { f(item * n0, 1); });
  if constexpr (a == 1)
    for_team(team, n0 * n2,
             [&](int item) NEKBONE_K_INLINED { f(item / n0 * (n0 * n1) + item % n0, n0); });
  if constexpr (a == 2)
    for_team(team, n0 * n1, [&](int item) NEKBONE_K_INLINED { f(item, n0 * n1); });
}

/// Calls use(point, derivative along direction `a`) at all n³ points of an element.
template <int a, int n, class Use>
KOKKOS_FORCEINLINE_FUNCTION void differentiate(const FlowTeam& team,
                                               const LineMatrix<n, n, Mirror::opposite>& d,
                                               const Lanes* u, const Use& use) {
  for_lines<a, n, n, n>(team, [&](int first, int stride) NEKBONE_K_INLINED {
    Lanes x[n];
    NEKBONE_K_UNROLL
    for (int m = 0; m < n; ++m) x[m] = u[first + m * stride];
    d(x, [&](int i, const Lanes& value) NEKBONE_K_INLINED { use(first + i * stride, value); });
  });
}

/// Calls use(std::integral_constant<int, a>) for the three directions or components.
template <class Use>
KOKKOS_FORCEINLINE_FUNCTION void for_directions(const Use& use) {
  use(std::integral_constant<int, 0>());
  use(std::integral_constant<int, 1>());
  use(std::integral_constant<int, 2>());
}

/// Values of assembled vectors at the nodes of a block of elements.
template <int nq>
struct BlockNodes {
  explicit BlockNodes(const AssembledSpace& space)
      : interior_begin(space.interior_begin()), surface_entries(space.surface_entries().reader()) {}

  /// Reads the nodes of a vector into `u`, shape (k, j, i).
  KOKKOS_FORCEINLINE_FUNCTION void load(const FlowTeam& team, LocalIndex block,
                                        const double* vector, Lanes* u) const {
    const IndexList entries = surface_entries(block);
    const double* const interior = vector + interior_offset(block);
    for_team(team, nq * nq, [&](int item) NEKBONE_K_INLINED {
      for_column(
          item,
          [&](int at, int point) NEKBONE_K_INLINED {
            u[at] = gather_lanes(vector + entries.base, entries.differences() + point * lanes);
          },
          [&](int at, int point)
              NEKBONE_K_INLINED { u[at] = read_lanes(interior + point * lanes); });
    });
  }
  /// Reads the nodes (i, j, k) with j Nq + i = item into `x`. For one thread.
  KOKKOS_FORCEINLINE_FUNCTION void load_column(LocalIndex block, const double* vector, int item,
                                               Lanes (&x)[nq]) const {
    const IndexList entries = surface_entries(block);
    const double* const interior = vector + interior_offset(block);
    for_column(
        item,
        [&](int at, int point) NEKBONE_K_INLINED {
          x[at / (nq * nq)] =
              gather_lanes(vector + entries.base, entries.differences() + point * lanes);
        },
        [&](int at, int point)
            NEKBONE_K_INLINED { x[at / (nq * nq)] = read_lanes(interior + point * lanes); });
  }
  /// Writes value(point) at all nodes: those on surfaces to `surface`, an array of shape (block,
  /// surface point, lane), and the others to an assembled vector.
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void store(const FlowTeam& team, LocalIndex block, double* vector,
                                         double* surface, const Value& value) const {
    double* const interior = vector + interior_offset(block);
    double* const on_surface = surface + ElementLayout::offset(block, 0, n_surface);
    for_team(team, nq * nq, [&](int item) NEKBONE_K_INLINED {
      for_column(
          item,
          [&](int at, int point)
              NEKBONE_K_INLINED { write_lanes(on_surface + point * lanes, value(at)); },
          [&](int at, int point)
              NEKBONE_K_INLINED { write_lanes(interior + point * lanes, value(at)); });
    });
  }

  LocalIndex interior_begin;
  IndexLists::Reader surface_entries;

 private:
  static constexpr int lanes = ElementLayout::lanes;
  static constexpr int n_surface = ElementLayout::n_surface(nq);

  KOKKOS_FORCEINLINE_FUNCTION std::size_t interior_offset(LocalIndex block) const {
    return interior_begin + ElementLayout::offset(block, 0, ElementLayout::n_interior(nq));
  }
  /// Calls on_surface(point, surface point) or inside(point, interior point) for the points (i, j,
  /// k) with j Nq + i = item.
  template <class OnSurface, class Inside>
  KOKKOS_FORCEINLINE_FUNCTION static void for_column(int item, const OnSurface& on_surface,
                                                     const Inside& inside) {
    const ElementLayout::Column column = ElementLayout::column(nq, item % nq, item / nq);
    on_surface(item, column.first);
    on_surface((nq - 1) * nq * nq + item, column.first + ElementLayout::last_layer(nq));
    for (int k = 1; k < nq - 1; ++k) {
      if (column.on_rim)
        on_surface(k * nq * nq + item, column.inner + (k - 1) * ElementLayout::surface_stride(nq));
      else
        inside(k * nq * nq + item, column.inner + (k - 1) * ElementLayout::interior_stride(nq));
    }
  }
};

}  // namespace nekbone_k
