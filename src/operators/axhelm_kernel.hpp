/// @file
/// The body of the element operator at a compiled order, for every backend.
#pragma once

#include <type_traits>
#include <utility>

#include "core/team_sum.hpp"
#include "operators/axhelm_elements.hpp"
#include "operators/axhelm_prefetch.hpp"
#include "operators/axhelm_shape.hpp"
#include "operators/line_derivative.hpp"

namespace nekbone_k {

/// Nq known when compiling, so that loops unroll.
template <int value>
struct StaticNq {
  KOKKOS_FUNCTION constexpr operator int() const { return value; }
};

/// Where values lie in the two tiles of some layers that lines along r and s pass through.
///
/// Threads go through the points of a layer in their order, and through the lines of all layers. In
/// either, threads beside each other, as many as there are `banks`, should use different ones:
/// - Points do where rows follow each other without a gap.
/// - Lines along s then want layers so far apart that the lines of one follow those of the layer
///   before.
/// - Lines along r want rows of odd length: either there are gaps between them all the same
///   (`padded_rows`), or lines whose places in a layer differ by `period`, and so begin in the same
///   bank, are gone through one after the other: a stretch of lines of that length of all layers,
///   which are an odd number of banks apart, and then the next stretch. That conflicts less at
///   orders 3 and 9, but where lines begin takes longer to compute.
template <int nq, int layers, int banks, bool padded_rows>
struct AxhelmTiles {
  static constexpr bool is_even = banks > 1 && nq % 2 == 0;
  static constexpr int pitch = is_even && padded_rows ? nq + 1 : nq;
  static constexpr int layer_r = nq * pitch + (is_even && !padded_rows ? 1 : 0);
  static constexpr int layer_s = nq * nq + ((nq - nq * nq) % banks + banks) % banks;
  static constexpr int size_r = (layers - 1) * layer_r + nq * pitch;
  static constexpr int size_s = (layers - 1) * layer_s + nq * nq;
  static constexpr int period = [] {
    int shortest = banks;
    while (shortest > 1 && nq * shortest / 2 % banks == 0) shortest /= 2;
    return shortest;
  }();

  /// Of the value over (i, j) of a layer.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int at_r(int layer, int i, int j) {
    return layer * layer_r + j * pitch + i;
  }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int at_s(int layer, int i, int j) {
    return layer * layer_s + j * nq + i;
  }
  /// Where the n-th line along r begins, and that along s, of those of some layers.
  template <int n_layers>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int line_r(int n) {
    if (layer_r == nq * pitch) return n * pitch;
    if (period >= nq) return at_r(n / nq, 0, n % nq);
    constexpr int in_stretches = nq / period * period * n_layers;
    if (nq % period == 0 || n < in_stretches)
      return at_r(n / period % n_layers, 0, n / (period * n_layers) * period + n % period);
    constexpr int rest = nq % period == 0 ? 1 : nq % period;
    return at_r((n - in_stretches) / rest, 0, nq - rest + (n - in_stretches) % rest);
  }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int line_s(int n) { return at_s(n / nq, n % nq, 0); }
};

/// A team applies the operator to some blocks of elements, a lane an element, line by line.
///
/// A thread keeps the values of its columns, first u, then Au, to itself, and so differentiates
/// along t. Lines along r and s pass through two tiles of some layers in team scratch
/// (AxhelmShape): both get u, in one all rows are differentiated in place, in the other all lines
/// along s; the threads of the columns turn these derivatives into fluxes; and the tiles are
/// differentiated again. As D̂ᵀ = -D̂ but for the ends of the diagonal, that is Dᵀ but for its sign
/// and a term at the faces. A CPU thread, which has all columns, finds the lines of u among them
/// and takes a layer row by row: a row's derivatives, its fluxes and their derivatives stay in
/// registers, and only what is along s passes through a tile.
template <int order, Geometry geometry = Geometry::stored,
          SurfaceResults surface_results = SurfaceResults::stored,
          class Shape = AxhelmShape<ExecutionSpace, order + 1>>
class AxhelmKernel {
  static constexpr int nq = order + 1;
  static constexpr int threads = Shape::threads_per_element_block;
  static constexpr int team_size = threads * Shape::blocks_per_team;
  static constexpr int columns = nq * nq / threads;  // of a thread
  static_assert(threads == 1 || columns == 1);       // its c-th is column thread + c
  static_assert(!Shape::tiles_in_registers || threads == 1);
  static_assert(surface_results == SurfaceResults::stored || is_host_device ||
                Shape::keeps_entries);
  static_assert(!Shape::prefetches || (threads == 1 && Shape::layers == 1));
  // The operator divides blocks into ranges of any length there, whose parts of u·Au must not meet.
  static_assert(!is_host_device || Shape::blocks_per_team == 1);
  using Tiles = AxhelmTiles<nq, Shape::layers, Shape::scratch_banks, Shape::padded_rows>;
  // Lanes from one layer of a thread's columns to the next. On a CPU one more than there are
  // columns: layers of 4096 bytes, as at Nq = 8 with 8 lanes, evict each other from the cache.
  static constexpr int stride = columns == 1 ? 1 : columns + 1;
  static constexpr int u_t_stride = Shape::u_t_in_scratch && threads > 1 ? threads : stride;
  static constexpr int u_t_size = Shape::u_t_in_scratch ? nq * u_t_stride : 0;
  // Whether a thread has whole layers, which lie as those of a tile do; one tile is then enough.
  static constexpr bool by_rows = threads == 1 && Shape::layers == 1;
  static_assert(!by_rows || Shape::u_t_in_scratch);
  static constexpr int tiles_size = by_rows ? Tiles::size_s : Tiles::size_r + Tiles::size_s;
  static constexpr int scratch_of_block = Shape::tiles_in_registers ? 0 : tiles_size + u_t_size;
  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() {
    return sizeof(Lanes) * (scratch_of_block * Shape::blocks_per_team + team_size);
  }
  /// Fast scratch on a GPU, whose team has 48 KB without asking, of which Kokkos takes a double a
  /// thread and two more; on a CPU the two levels differ little.
  KOKKOS_FUNCTION static constexpr int scratch_level() {
    return scratch_bytes() + alignof(Lanes) + sizeof(double) * (team_size + 2) <= 49152 ? 0 : 1;
  }
  static_assert(is_host_device || scratch_level() == 0, "tiles are too large for a GPU's scratch");

 public:
  using Policy =
      Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, Shape::least_teams>>;
  using Team = typename Policy::member_type;

  /// Threads of a team and the bytes of team scratch that it asks for: of what a multiprocessor
  /// has, they say how many teams it holds (bench/kernel_resources.py).
  static constexpr int threads_of_team() { return team_size; }
  static constexpr std::size_t scratch_of_team() { return scratch_bytes() + alignof(Lanes); }

  explicit AxhelmKernel(const AxhelmArguments& arguments)
      : m_elements{arguments, {}}, m_derivative(*arguments.scaled_basis) {
    for (int i = 0; i < nq; ++i) {
      m_root_weight[i] = arguments.scaled_basis->root_weights[i];
      m_node[i] = arguments.scaled_basis->nodes[i];
      m_end[i] = 0;
    }
    m_end[0] = -1 / (m_root_weight[0] * m_root_weight[0]);
    m_end[nq - 1] = -m_end[0];
  }

  void run(const ExecutionSpace& stream) const {
    const AxhelmArguments& args = m_elements.args;
    const LocalIndex blocks = args.last_block - args.first_block;
    if (blocks <= 0) return;
    Policy policy(stream, (blocks + Shape::blocks_per_team - 1) / Shape::blocks_per_team,
                  team_size);
    // Room to align it, which Kokkos does not add.
    policy.set_scratch_size(scratch_level(), Kokkos::PerTeam(scratch_of_team()));
    // Without the hint a functor of this size is copied to the GPU apart from the launch.
    Kokkos::parallel_for("nekbone_k: axhelm",
                         Kokkos::Experimental::require(
                             policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                         *this);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const AxhelmArguments& args = m_elements.args;
    const LocalIndex first_team =
        (args.first_block + Shape::blocks_per_team - 1) / Shape::blocks_per_team;
    const int block_of_team = team.team_rank() / threads, thread = team.team_rank() % threads;
    const LocalIndex wanted =
        args.first_block + team.league_rank() * Shape::blocks_per_team + block_of_team;
    const bool works = wanted < args.last_block;  // else it only keeps the barriers
    const LocalIndex block = works ? wanted : args.last_block - 1;
    const TeamSum<team_size> sum{static_cast<Lanes*>(
        team.team_scratch(scratch_level()).get_shmem_aligned(scratch_bytes(), alignof(Lanes)))};
    Lanes own_tiles[Shape::tiles_in_registers ? tiles_size : 1];
    Lanes* const tile_r = Shape::tiles_in_registers
                              ? own_tiles
                              : sum.values + team_size + block_of_team * scratch_of_block;
    Lanes* const tile_s = tile_r + (by_rows ? 0 : Tiles::size_r);
    const double* const stored = m_elements.factors(block, thread);
    const BlockFactors<geometry> computed(m_elements, block);
    Prefetch prefetch(m_elements, block);

    Lanes u[nq * stride];  // value k of column c at k * stride + c; becomes Au
    Lanes own_u_t[Shape::u_t_in_scratch ? 1 : nq * stride];
    Lanes* const u_t = Shape::u_t_in_scratch ? tile_r + tiles_size + thread : own_u_t;
    // A GPU has all indices of a thread, and the first factors, under way together.
    LocalIndex entries[Shape::keeps_entries ? columns * nq : 1];
    if constexpr (Shape::keeps_entries) {
      NEKBONE_K_UNROLL
      for (int c = 0; c < columns; ++c)
        m_elements.template entries<nq>(block, column_of(thread + c).nodes, entries + c * nq);
    }
    constexpr bool reads_ahead = Shape::factors_ahead > 0;
    static_assert(!reads_ahead || (columns == 1 && ElementLayout::lanes == 1));
    constexpr bool is_stored = geometry == Geometry::stored;
    Factor ahead[reads_ahead && is_stored ? Shape::factors_ahead : 1];
    NEKBONE_K_UNROLL
    for (int k = 0; is_stored && k < Shape::factors_ahead; ++k)
      ahead[k] = read_factor(stored, k * nq * nq);
    for (int c = 0; c < columns; ++c) {
      const Column column = column_of(thread + c);
      const auto set = [&](int k, const Lanes& value) {
        u[k * stride + c] = column.root_weight * (m_root_weight[k] * value);
      };
      if constexpr (Shape::keeps_entries) {
        NEKBONE_K_UNROLL
        for (int k = 0; k < nq; ++k) set(k, args.u(entries[c * nq + k]));
      } else {
        m_elements.load(block, column.nodes, set);
      }
    }

    const double lambda = args.lambda;
    Lanes dot(0.0);  // u·Au of the thread's columns
    const auto differentiate_along_t = [&] {
      for (int c = 0; c < columns; ++c) {
        prefetch.step();
        differentiate(u + c, stride,
                      [&](int k, const Lanes& value) { u_t[k * u_t_stride + c] = value; });
      }
    };
    const auto factor_at = [&](int k, int c, int i, int j) NEKBONE_K_INLINED {
      if constexpr (!is_stored) {
        return computed(m_node[i], m_node[j], m_node[k]);
      } else if constexpr (reads_ahead) {
        Factor& next = ahead[k % Shape::factors_ahead];
        const Factor now = next;
        if (k + Shape::factors_ahead < nq)
          next = read_factor(stored, (k + Shape::factors_ahead) * nq * nq);
        return now;
      } else {
        return read_factor(stored, k * nq * nq + c);
      }
    };
    if constexpr (by_rows) {
      differentiate_along_t();
      for (int k = 0; k < nq; ++k)
        apply_layer(lambda, k, factor_at, u + k * stride, u_t + k * u_t_stride, tile_s, prefetch,
                    dot);
      sum.put(team.team_rank(), dot);
    } else {
      for_each_step([&](auto first_layer, auto n_layers) {
        for_each_point(first_layer, n_layers, thread, [&](int k, int c, int layer, int i, int j) {
          tile_r[Tiles::at_r(layer, i, j)] = tile_s[Tiles::at_s(layer, i, j)] = u[k * stride + c];
        });
        if (first_layer == 0) differentiate_along_t();
        team.team_barrier();
        differentiate_lines(tile_r, tile_s, n_layers, thread);
        team.team_barrier();
        const auto make_flux = [&](int k, int c, int layer, int i, int j) NEKBONE_K_INLINED {
          Lanes &value = u[k * stride + c], &along_t = u_t[k * u_t_stride + c];
          value = make_fluxes(factor_at(k, c, i, j), lambda, k, i, j, value,
                              tile_r[Tiles::at_r(layer, i, j)], tile_s[Tiles::at_s(layer, i, j)],
                              along_t, dot);
        };
        for_each_point(first_layer, n_layers, thread, make_flux);
        // Of every step, as that has the barriers: the last one's sum is of the whole columns.
        sum.put(team.team_rank(), works ? dot : Lanes(0.0));
        team.team_barrier();
        differentiate_lines(tile_r, tile_s, n_layers, thread);
        sum.fold(team.team_rank());
        team.team_barrier();
        for_each_point(first_layer, n_layers, thread, [&](int k, int c, int layer, int i, int j) {
          u[k * stride + c] -= tile_r[Tiles::at_r(layer, i, j)] + tile_s[Tiles::at_s(layer, i, j)];
        });
      });
    }

    for (int c = 0; c < columns; ++c) {
      prefetch.step();
      differentiate(u_t + c, u_t_stride,
                    [&](int k, const Lanes& value) { u[k * stride + c] -= value; });
      const Column column = column_of(thread + c);
      const auto result = [&](int k) {
        return column.root_weight * (m_root_weight[k] * u[k * stride + c]);
      };
      if (works) {
        if constexpr (surface_results == SurfaceResults::stored)
          m_elements.store(block, column.nodes, result);
        else if constexpr (is_host_device)
          m_elements.add_alone(block, column.nodes, result);
        else
          m_elements.template add_atomically<nq>(entries + c * nq, column.nodes, result);
      }
    }
    // Kokkos::single() would come with a barrier and divisions of its own.
    if (team.team_rank() == 0) args.partial_dots(first_team + team.league_rank()) = sum.total();
  }

 private:
  using Factor = StoredFactor<Lanes>;
  using Prefetch = AxhelmPrefetch<Shape, nq, geometry, surface_results>;
  KOKKOS_FORCEINLINE_FUNCTION Factor read_factor(const double* from, int points) const {
    return m_elements.template read_factor<Shape::reads_factors_once>(from, points);
  }
  /// A column of an element.
  struct Column {
    ElementLayout::Column nodes;
    double root_weight;  // √(w_i w_j)
  };
  KOKKOS_FORCEINLINE_FUNCTION Column column_of(int number) const {
    const int i = number % nq, j = number / nq;
    return {ElementLayout::column(nq, i, j), m_root_weight[i] * m_root_weight[j]};
  }

  /// step(first layer, number of layers) for the layers that are in the tiles at a time. Unrolled
  /// on a GPU, so that columns live in registers.
  template <class Step>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_step(const Step& step) {
    constexpr int layers = Shape::layers;
    if constexpr (Shape::unrolls_steps) {
      [&]<int... s>(std::integer_sequence<int, s...>) {
        (step(std::integral_constant<int, s * layers>{},
              std::integral_constant<int, layers_of_step(s)>{}),
         ...);
      }
      (std::make_integer_sequence<int, (nq + layers - 1) / layers>{});
    } else {
      static_assert(nq % layers == 0);
      for (int k = 0; k < nq; k += layers) step(k, std::integral_constant<int, layers>{});
    }
  }
  static constexpr int layers_of_step(int step) {
    const int left = nq - step * Shape::layers;
    return left < Shape::layers ? left : Shape::layers;
  }

  /// work(k, c, layer, i, j) at the points of the thread's columns in some layers: in layer k,
  /// which is `layer` of the tiles, that of its c-th column, over (i, j).
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

  /// Whether the face term at node i or j of a line is added. Elsewhere than at the ends it is
  /// zero, but the threads of a GPU, each with an i and a j of its own, add it rather than diverge.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bool adds_face_term(int node) {
    return threads > 1 || node == 0 || node == nq - 1;
  }

  /// The derivative of a line of values, `step` apart.
  template <class Set>
  KOKKOS_FORCEINLINE_FUNCTION void differentiate(const Lanes* line, int step,
                                                 const Set& set) const {
    Lanes x[nq];
    NEKBONE_K_UNROLL
    for (int m = 0; m < nq; ++m) x[m] = line[m * step];
    m_derivative(x, set);
  }

  /// Derivatives along r and s, and that along t in `along_t`, become fluxes at a point; `dot` gets
  /// their products, and the mass'. What Au is there but for derivatives of fluxes is returned.
  template <class FactorAtPoint>
  KOKKOS_FORCEINLINE_FUNCTION Lanes make_fluxes(const FactorAtPoint& factor, double lambda, int k,
                                                int i, int j, const Lanes& value, Lanes& along_r,
                                                Lanes& along_s, Lanes& along_t, Lanes& dot) const {
    const Lanes d_r = along_r, d_s = along_s, d_t = along_t;
    Lanes flux_r = d_r, flux_s = d_s, flux_t = d_t;
    factor.apply(flux_r, flux_s, flux_t);
    along_r = flux_r;
    along_s = flux_s;
    along_t = flux_t;
    Lanes mass(0.0);
    if (lambda != 0) mass = lambda * factor.determinant() * value;
    if constexpr (by_rows) {  // sums of their own, so that none waits for the mass
      dot += mass * value;
      dot += flux_r * d_r + (flux_s * d_s + flux_t * d_t);
    } else if constexpr (Shape::tiles_in_registers) {
      dot += mass * value + flux_r * d_r + flux_s * d_s + flux_t * d_t;
    } else {  // two sums are shorter to wait for, but take a register more
      dot += (mass * value + flux_r * d_r) + (flux_s * d_s + flux_t * d_t);
    }
    Lanes at_point = mass;
    if (adds_face_term(i)) at_point += m_end[i] * flux_r;
    if (adds_face_term(j)) at_point += m_end[j] * flux_s;
    if (k == 0 || k == nq - 1) at_point += m_end[k] * flux_t;
    return at_point;
  }

  /// Layer k of u becomes Au but for what comes along t, and ∂u/∂t the flux along t, by the thread
  /// that has whole layers. factor_at(k, c, i, j) is the factor of the point over (i, j), its c-th.
  template <class FactorAt>
  KOKKOS_FORCEINLINE_FUNCTION void apply_layer(double lambda, int k, const FactorAt& factor_at,
                                               Lanes* layer, Lanes* u_t, Lanes* tile,
                                               Prefetch& prefetch, Lanes& dot) const {
    differentiate_along_s(
        layer, [&] NEKBONE_K_INLINED { prefetch.step(); },
        [&](int at, const Lanes& value) { tile[at] = value; });
    for (int j = 0; j < nq; ++j) {
      prefetch.step();
      Lanes* const row = layer + j * nq;
      Lanes along_r[nq];
      differentiate(row, 1, [&](int i, const Lanes& value) { along_r[i] = value; });
      const auto make_flux = [&](int i) NEKBONE_K_INLINED {
        const int c = j * nq + i;
        if (i == 0 || i == nq / 2) prefetch.step();
        prefetch.at_point(k * nq * nq + c);
        row[i] = make_fluxes(factor_at(k, c, i, j), lambda, k, i, j, row[i], along_r[i], tile[c],
                             u_t[c], dot);
      };
      NEKBONE_K_UNROLL
      for (int i = 0; i < nq; ++i) make_flux(i);
      prefetch.step();
      m_derivative(along_r, [&](int i, const Lanes& value) { row[i] -= value; });
    }
    differentiate_along_s(
        tile, [&] NEKBONE_K_INLINED { prefetch.step(); },
        [&](int at, const Lanes& value) { layer[at] -= value; });
  }

  /// before(), and put(entry of the layer, derivative) for its values, for every line along s.
  template <class Before, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void differentiate_along_s(const Lanes* layer, const Before& before,
                                                         const Put& put) const {
    int i = 0;
    if constexpr (Shape::two_lines_abreast) {
      for (; i + 1 < nq; i += 2) {
        before();
        before();
        Lanes x[nq], also[nq];
        NEKBONE_K_UNROLL
        for (int m = 0; m < nq; ++m) {
          x[m] = layer[m * nq + i];
          also[m] = layer[m * nq + i + 1];
        }
        m_derivative(x, also, [&](int m, const Lanes& value, const Lanes& value_also) {
          put(m * nq + i, value);
          put(m * nq + i + 1, value_also);
        });
      }
    }
    for (; i < nq; ++i) {
      before();
      differentiate(layer + i, nq, [&](int m, const Lanes& value) { put(m * nq + i, value); });
    }
  }

  /// The thread's share of the lines along r of one tile, along s of the other, in place.
  template <int n_layers>
  KOKKOS_FORCEINLINE_FUNCTION void differentiate_lines(Lanes* tile_r, Lanes* tile_s,
                                                       std::integral_constant<int, n_layers>,
                                                       int thread) const {
    for_each_line<n_layers * nq>(thread, [&](int line) {
      Lanes* const along_r = tile_r + Tiles::template line_r<n_layers>(line);
      differentiate(along_r, 1, [&](int m, const Lanes& value) { along_r[m] = value; });
    });
    // Threads that had no row in the last round begin.
    constexpr int with_row = n_layers * nq % threads;
    const int turned = with_row == 0 ? thread : (thread + threads - with_row) % threads;
    for_each_line<n_layers * nq>(turned, [&](int line) {
      Lanes* const along_s = tile_s + Tiles::line_s(line);
      differentiate(along_s, nq, [&](int m, const Lanes& value) { along_s[m * nq] = value; });
    });
  }

  /// work(line) for the thread's lines of some. Whole rounds are without a condition: where threads
  /// may diverge, a GPU reads no operands from its uniform registers.
  template <int lines, class Work>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_line(int thread, const Work& work) {
    constexpr int rounds = lines / threads;
    for (int round = 0; round < rounds; ++round) work(round * threads + thread);
    if constexpr (lines % threads != 0) {
      if (thread < lines % threads) work(rounds * threads + thread);
    }
  }

  AxhelmElements<StaticNq<nq>> m_elements;
  LineDerivative<nq> m_derivative;
  double m_root_weight[nq];  // √w_i
  double m_node[nq];         // x_i
  double m_end[nq];          // the diagonal of D̂ + D̂ᵀ: the face terms of integration by parts
};

template <int order, Geometry geometry>
void axhelm_compiled(const AxhelmArguments& arguments, const ExecutionSpace& stream) {
  if constexpr (AxhelmShape<ExecutionSpace, order + 1>::adds_surface_results) {
    if (arguments.surface_results == SurfaceResults::added)
      return AxhelmKernel<order, geometry, SurfaceResults::added>(arguments).run(stream);
  }
  AxhelmKernel<order, geometry>(arguments).run(stream);
}

}  // namespace nekbone_k
