// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The body of the element operator on a GPU.
#pragma once

#include <type_traits>
#include <utility>

#include "core/team_sum.hpp"
#include "operators/axhelm/axhelm_pieces.hpp"
#include "operators/axhelm/axhelm_scratch.hpp"
#include "operators/axhelm/axhelm_tiles.hpp"

namespace nekbone_k {

/// A team applies the operator to some elements, each by Nq^2 threads with a column each, or at
/// Nq = 2 by one thread.
///
/// A thread keeps the values of its columns to itself, first u, then Au, so it differentiates along
/// t alone. Lines along r and s pass through two tiles of some layers in team scratch
/// (AxhelmShape):
/// 1. Both tiles get u.
/// 2. One is differentiated in place along r, the other along s.
/// 3. The threads of the columns turn these derivatives into fluxes.
/// 4. The tiles are differentiated again, and the results subtracted from Au.
///
/// It also runs on a CPU, where a thread has a block of elements (tests/mpi/test_axhelm.cpp).
template <int order, Geometry geometry, SurfaceResults surface_results, class Shape,
          class T = double>
class AxhelmGpu : protected AxhelmPieces<order, geometry, surface_results, Shape, T> {
  using Lanes = LanesOf<T>;
  using PolicyTeam = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Pieces = AxhelmPieces<order, geometry, surface_results, Shape, T>;
  using Pieces::read_entries, Pieces::load_column, Pieces::make_fluxes, Pieces::store_column;
  using Pieces::threads, Pieces::columns, Pieces::m_node, Pieces::differentiate;

 protected:
  using Pieces::nq, Pieces::m_elements;
  /// A thread's share of the work.
  struct Share {
    LocalIndex block;
    int block_of_team, thread;  ///< its columns begin with number `thread`
    bool works;                 ///< otherwise it only takes part in the barriers
  };

 private:
  static_assert(!Shape::tiles_in_registers || threads == 1);
  static_assert(!Shape::u_t_in_scratch || columns == 1);
  static_assert(Shape::factors_ahead == 0 || (columns == 1 && ElementLayout::lanes == 1));
  static constexpr int blocks_per_team = Shape::blocks_per_team;
  static constexpr bool is_stored = geometry == Geometry::stored;
  static constexpr bool reads_ahead = is_stored && Shape::factors_ahead > 0;
  using Factor = StoredFactor<Lanes>;
  // Shape counts banks as wide as a double, of which a bank of floats is half.
  static constexpr int banks =
      Shape::scratch_banks == 1 ? 1 : Shape::scratch_banks * int(sizeof(double) / sizeof(T));
  using Tiles = AxhelmTiles<nq, Shape::layers, banks, Shape::padded_rows>;
  static constexpr int tiles_size = Tiles::size_r + Tiles::size_s;
  // Distance of layers of ∂u/∂t, and of the fluxes along t that replace it.
  static constexpr int u_t_stride = Shape::u_t_in_scratch ? threads : columns;

 protected:
  /// Lanes of scratch that apply() needs for a block.
  static constexpr int scratch_of_block =
      Shape::tiles_in_registers ? 0 : tiles_size + (Shape::u_t_in_scratch ? nq * u_t_stride : 0);

 private:
  /// The values of a thread's columns, and the tiles.
  struct Values {
    Lanes* u;    ///< value k of column c is at k * columns + c; becomes Au
    Lanes* u_t;  ///< ∂u/∂t at k * u_t_stride + c; becomes the flux along t
    Lanes *tile_r, *tile_s;
  };

 public:
  static constexpr int team_size = threads * blocks_per_team;
  using Scratch = AxhelmScratch<team_size, team_size + blocks_per_team * scratch_of_block, Lanes>;

  explicit AxhelmGpu(const AxhelmArgumentsOf<T>& arguments) : Pieces(arguments) {}

  /// Applies the operator to the team's blocks.
  KOKKOS_FUNCTION void operator()(const PolicyTeam& team) const {
    const AxhelmArgumentsOf<T>& args = m_elements.args;
    const LocalIndex first_team = (args.first_block + blocks_per_team - 1) / blocks_per_team;
    // Written out, because behind a function it makes nvcc spill more registers at some orders.
    auto* const scratch =
        static_cast<Lanes*>(team.team_scratch(Scratch::level())
                                .get_shmem_aligned(Scratch::used_bytes(), alignof(Lanes)));
    const TeamSum<team_size, T> sum{scratch};
    apply(team, share_of(team), scratch + team_size, sum);
    // Kokkos::single() would add a barrier and divisions.
    if (team.team_rank() == 0) args.partial_dots(first_team + team.league_rank()) = sum.total();
  }

 protected:
  /// Applies the operator to each thread's share. `scratch` has scratch_of_block values for each
  /// block of the team. `sum`, a TeamSum or NoTeamSum, gets the parts of u·Au.
  template <class Team, class Sum>
  KOKKOS_FORCEINLINE_FUNCTION void apply(const Team& team, const Share& share, Lanes* scratch,
                                         const Sum& sum) const {
    const int thread = share.thread;
    Lanes u[nq * columns], own_u_t[Shape::u_t_in_scratch ? 1 : nq * columns];
    Lanes own_tiles[Shape::tiles_in_registers ? tiles_size : 1];
    Lanes* const tiles =
        Shape::tiles_in_registers ? own_tiles : scratch + share.block_of_team * scratch_of_block;
    Lanes* const u_t = Shape::u_t_in_scratch ? tiles + tiles_size + thread : own_u_t;
    const Values values{u, u_t, tiles, tiles + Tiles::size_r};

    // Indices, first factors, û: everything that needs no result is in flight together.
    const T* const stored = m_elements.factors(share.block, thread);
    const BlockFactors<geometry, T> computed(m_elements, share.block);
    Factor ahead[reads_ahead ? Shape::factors_ahead : 1];
    LocalIndex entries[nq * columns];
    NEKBONE_K_UNROLL
    for (int c = 0; c < columns; ++c) read_entries(share.block, thread + c, entries + c * nq);
    read_first_factors(stored, ahead);
    for (int c = 0; c < columns; ++c)
      load_column(share.block, thread + c, entries + c * nq, u + c, columns);

    Lanes dot(0.0);  // u·Au of this thread's columns
    const auto factor_at = [&](int i, int j, int k, int c) {
      if constexpr (is_stored)
        return stored_factor(stored, k, c, ahead);
      else
        return computed(m_node[i], m_node[j], m_node[k]);
    };
    // Everything but the second derivatives along t, some layers at a time.
    for_each_step([&](auto first_layer, auto n_layers) {
      apply_step(team, share, first_layer, n_layers, values, factor_at, sum, dot);
    });
    // The derivatives of the fluxes along t complete Au.
    for (int c = 0; c < columns; ++c) {
      differentiate(u_t + c, u_t_stride,
                    [&](int k, const Lanes& value) { u[k * columns + c] -= value; });
      if (share.works) store_column(share.block, thread + c, entries + c * nq, u + c, columns);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Share share_of(const PolicyTeam& team) const {
    const AxhelmArgumentsOf<T>& args = m_elements.args;
    const int block_of_team = team.team_rank() / threads, thread = team.team_rank() % threads;
    const LocalIndex block =
        args.first_block + team.league_rank() * blocks_per_team + block_of_team;
    const bool works = block < args.last_block;
    return {works ? block : args.last_block - 1, block_of_team, thread, works};
  }

  /// Reads the stored factors of the thread's first layers.
  KOKKOS_FORCEINLINE_FUNCTION void read_first_factors(const T* stored, Factor* ahead) const {
    NEKBONE_K_UNROLL
    for (int k = 0; reads_ahead && k < Shape::factors_ahead; ++k)
      ahead[k] = read_factor(stored, k, 0);
  }
  /// The stored factor at layer k of the thread's c-th column. Reads the one some layers ahead.
  KOKKOS_FORCEINLINE_FUNCTION Factor stored_factor(const T* stored, int k, int c,
                                                   Factor* ahead) const {
    if constexpr (reads_ahead) {
      Factor& next = ahead[k % Shape::factors_ahead];
      const Factor now = next;
      if (k + Shape::factors_ahead < nq) next = read_factor(stored, k + Shape::factors_ahead, c);
      return now;
    } else {
      return read_factor(stored, k, c);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION Factor read_factor(const T* stored, int k, int c) const {
    return m_elements.template read_factor<Shape::reads_factors_once>(stored, k * nq * nq + c);
  }

  /// Turns some layers of u into Au without the part along t, and ∂u/∂t into the flux along t.
  /// Before the first layers, it differentiates u along t. factor_at(i, j, k, c) is the factor at a
  /// point of the c-th column.
  template <class Team, class First, class Number, class FactorAt, class Sum>
  KOKKOS_FORCEINLINE_FUNCTION void apply_step(const Team& team, const Share& share, First first,
                                              Number n_layers, const Values& values,
                                              const FactorAt& factor_at, const Sum& sum,
                                              Lanes& dot) const {
    const T lambda = m_elements.args.lambda;
    Lanes *const u = values.u, *const u_t = values.u_t;
    Lanes *const tile_r = values.tile_r, *const tile_s = values.tile_s;
    for_each_point(first, n_layers, share.thread, [&](int k, int c, int layer, int i, int j) {
      tile_r[Tiles::at_r(layer, i, j)] = tile_s[Tiles::at_s(layer, i, j)] = u[k * columns + c];
    });
    if (first == 0) {
      for (int c = 0; c < columns; ++c)
        differentiate(u + c, columns,
                      [&](int k, const Lanes& value) { u_t[k * u_t_stride + c] = value; });
    }
    team.team_barrier();
    differentiate_lines(tile_r, tile_s, n_layers, share.thread);
    team.team_barrier();
    const auto add_to_dot = [&](const Lanes& mass, const Lanes& r, const Lanes& s, const Lanes& t) {
      if constexpr (Shape::tiles_in_registers)
        dot += mass + r + s + t;
      else  // two sums have less latency, but take one more register
        dot += (mass + r) + (s + t);
    };
    for_each_point(first, n_layers, share.thread, [&](int k, int c, int layer, int i, int j) {
      Lanes &value = u[k * columns + c], &along_t = u_t[k * u_t_stride + c];
      value = make_fluxes(factor_at(i, j, k, c), lambda, i, j, k, value,
                          tile_r[Tiles::at_r(layer, i, j)], tile_s[Tiles::at_s(layer, i, j)],
                          along_t, add_to_dot);
    });
    // Every step sums, because it has the barriers anyway; the sum of the last step covers whole
    // columns.
    sum.put(team.team_rank(), share.works ? dot : Lanes(0.0));
    team.team_barrier();
    differentiate_lines(tile_r, tile_s, n_layers, share.thread);
    sum.fold(team.team_rank());
    team.team_barrier();
    for_each_point(first, n_layers, share.thread, [&](int k, int c, int layer, int i, int j) {
      u[k * columns + c] -= tile_r[Tiles::at_r(layer, i, j)] + tile_s[Tiles::at_s(layer, i, j)];
    });
  }

  /// Calls step(first layer, number of layers) for the layers that are in the tiles together.
  /// Unrolled, so that columns stay in registers.
  template <class Step>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_step(const Step& step) {
    constexpr int layers = Shape::layers;
    [&]<int... s>(std::integer_sequence<int, s...>) {
      (step(std::integral_constant<int, s * layers>{},
            std::integral_constant<int, layers_of_step(s)>{}),
       ...);
    }
    (std::make_integer_sequence<int, (nq + layers - 1) / layers>{});
  }
  static constexpr int layers_of_step(int step) {
    const int left = nq - step * Shape::layers;
    return left < Shape::layers ? left : Shape::layers;
  }

  /// Calls work(k, c, layer, i, j) at the points of the thread's columns in some layers: point (i,
  /// j) of layer k, which is `layer` of the tiles, in the thread's c-th column.
  template <class First, int n_layers, class Work>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_point(First first_layer,
                                                         std::integral_constant<int, n_layers>,
                                                         int thread, const Work& work) {
    NEKBONE_K_UNROLL
    for (int layer = 0; layer < n_layers; ++layer) {
      for (int c = 0; c < columns; ++c) {
        work(first_layer + layer, c, layer, (thread + c) % nq, (thread + c) / nq);
      }
    }
  }

  /// Differentiates the thread's share of the lines along r in one tile and along s in the other,
  /// in place.
  template <int n_layers>
  KOKKOS_FORCEINLINE_FUNCTION void differentiate_lines(Lanes* tile_r, Lanes* tile_s,
                                                       std::integral_constant<int, n_layers>,
                                                       int thread) const {
    for_each_line<n_layers * nq>(thread, [&](int line) {
      Lanes* const along_r = tile_r + Tiles::template line_r<n_layers>(line);
      differentiate(along_r, 1, [&](int m, const Lanes& value) { along_r[m] = value; });
    });
    // Threads without a row in the last round take the first lines.
    constexpr int with_row = n_layers * nq % threads;
    const int turned = with_row == 0 ? thread : (thread + threads - with_row) % threads;
    for_each_line<n_layers * nq>(turned, [&](int line) {
      Lanes* const along_s = tile_s + Tiles::line_s(line);
      differentiate(along_s, nq, [&](int m, const Lanes& value) { along_s[m * nq] = value; });
    });
  }

  /// Calls work(line) for the thread's share of `lines`. Whole rounds have no condition: where
  /// threads may diverge, a GPU reads no operands from its uniform registers.
  template <int lines, class Work>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_line(int thread, const Work& work) {
    constexpr int rounds = lines / threads;
    for (int round = 0; round < rounds; ++round) work(round * threads + thread);
    if constexpr (lines % threads != 0) {
      if (thread < lines % threads) work(rounds * threads + thread);
    }
  }
};

}  // namespace nekbone_k
