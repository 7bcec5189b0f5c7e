/// @file
/// The body of the element operator at a compiled order, for every backend.
#pragma once

#include <utility>

#include "operators/axhelm_elements.hpp"
#include "operators/axhelm_shape.hpp"

namespace nekbone_k {

/// Nq known when compiling, so that loops unroll.
template <int value>
struct StaticNq {
  KOKKOS_FUNCTION constexpr operator int() const { return value; }
};

/// A team applies the operator to some blocks of elements, a lane an element. A thread keeps strips
/// of columns, u and Au of all layers k, to itself (AxhelmShape); what columns need of each other
/// passes through tiles of one layer in team scratch: first u, for its derivatives along r and s,
/// then the fluxes of those directions, for the transposed ones. Derivatives along t and their
/// transpose stay in the thread.
///
/// As D̂ᵀ = -D̂ but for the ends of the diagonal, a thread keeps two rows of D̂ and no columns.
template <int order>
class AxhelmKernel {
  static constexpr int nq = order + 1;
  using Shape = AxhelmShape<ExecutionSpace, nq>;
  static constexpr int width = Shape::width, strips = Shape::strips;
  static constexpr int n_factors = ElementLayout::n_factors;
  // The rows that half a warp reads begin in different banks.
  static constexpr int pitch = nq % 16 == 0 ? nq + 1 : nq;
  static constexpr int tile_size = pitch * nq;
  static constexpr int threads_per_block = Shape::team_size / Shape::blocks_per_team;
  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() {
    return 3 * sizeof(Lanes) * tile_size * Shape::blocks_per_team;
  }
  /// Fast scratch where it surely fits, else ordinary memory.
  KOKKOS_FUNCTION static constexpr int scratch_level() { return scratch_bytes() <= 40'000 ? 0 : 1; }

 public:
  using Policy = Kokkos::TeamPolicy<ExecutionSpace,
                                    Kokkos::LaunchBounds<Shape::team_size, Shape::least_teams>>;
  using Team = typename Policy::member_type;

  explicit AxhelmKernel(const AxhelmArguments& arguments) : m_elements{arguments, {}} {
    const ScaledBasis& scaled = *arguments.scaled_basis;
    for (int k = 0; k < nq; ++k) {
      m_root_weight[k] = scaled.root_weights[k];
      for (int m = 0; m < nq; ++m) m_derivative[k][m] = scaled.derivative[k * nq + m];
    }
  }

  void run() const {
    const AxhelmArguments& args = m_elements.args;
    const LocalIndex blocks = args.last_block - args.first_block;
    if (blocks <= 0) return;
    Policy policy((blocks + Shape::blocks_per_team - 1) / Shape::blocks_per_team, Shape::team_size);
    // Room to align it, which Kokkos does not add.
    policy.set_scratch_size(scratch_level(), Kokkos::PerTeam(scratch_bytes() + alignof(Lanes)));
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
    const int block_of_team = team.team_rank() / threads_per_block;
    const LocalIndex wanted =
        args.first_block + team.league_rank() * Shape::blocks_per_team + block_of_team;
    const bool works = wanted < args.last_block;  // else it only keeps the barriers
    const LocalIndex block = works ? wanted : args.last_block - 1;
    const int first_column = team.team_rank() % threads_per_block * width * strips;
    const int i0 = first_column % nq, j0 = first_column / nq;
    Lanes* const tile =
        static_cast<Lanes*>(
            team.team_scratch(scratch_level()).get_shmem_aligned(scratch_bytes(), alignof(Lanes))) +
        block_of_team * 3 * tile_size;
    Lanes* const tile_r = tile + tile_size;
    Lanes* const tile_s = tile_r + tile_size;

    double d_r[width][nq], d_s[strips][nq];  // rows i and j of D̂
    double end_r[width], end_s[strips];      // D̂ + D̂ᵀ on the diagonal
    double root_w_r[width], root_w_s[strips];
    NEKBONE_K_UNROLL
    for (int w = 0; w < width; ++w) {
      NEKBONE_K_UNROLL
      for (int m = 0; m < nq; ++m) d_r[w][m] = args.scaled_derivative((i0 + w) * nq + m);
      root_w_r[w] = args.root_weights(i0 + w);
      end_r[w] = end_term(i0 + w, root_w_r[w]);
    }
    NEKBONE_K_UNROLL
    for (int s = 0; s < strips; ++s) {
      NEKBONE_K_UNROLL
      for (int m = 0; m < nq; ++m) d_s[s][m] = args.scaled_derivative((j0 + s) * nq + m);
      root_w_s[s] = args.root_weights(j0 + s);
      end_s[s] = end_term(j0 + s, root_w_s[s]);
    }

    Lanes u[strips][nq][width], au[strips][nq][width];
    for (int s = 0; s < strips; ++s) {
      NEKBONE_K_UNROLL
      for (int w = 0; w < width; ++w) {
        const double root_w = root_w_r[w] * root_w_s[s];
        m_elements.load(block, ElementLayout::column(nq, i0 + w, j0 + s),
                        [&](int k, const Lanes& value) {
                          u[s][k][w] = root_w * (m_root_weight[k] * value);
                          au[s][k][w] = Lanes(0.0);
                        });
      }
    }
    const double* const factors = m_elements.factors(block, first_column);
    Lanes ahead[Shape::reads_ahead ? n_factors : 1];
    if constexpr (Shape::reads_ahead) read_factors(factors, 0, ahead);

    for_each_layer([&](auto k) {
      for (int s = 0; s < strips; ++s) {
        NEKBONE_K_UNROLL
        for (int w = 0; w < width; ++w) tile[(j0 + s) * pitch + i0 + w] = u[s][k][w];
      }
      team.team_barrier();

      for (int s = 0; s < strips; ++s) {
        const int j = j0 + s;
        Lanes u_r[width], u_s[width], u_t[width], flux_t[width];
        NEKBONE_K_UNROLL
        for (int w = 0; w < width; ++w) u_r[w] = u_s[w] = u_t[w] = Lanes(0.0);
        NEKBONE_K_UNROLL
        for (int m = 0; m < nq; ++m) {
          const Lanes along_r = tile[j * pitch + m];
          NEKBONE_K_UNROLL
          for (int w = 0; w < width; ++w) u_r[w] += d_r[w][m] * along_r;
        }
        NEKBONE_K_UNROLL
        for (int m = 0; m < nq; ++m) {
          NEKBONE_K_UNROLL
          for (int w = 0; w < width; ++w) {
            u_s[w] += d_s[s][m] * tile[m * pitch + i0 + w];
            u_t[w] += m_derivative[k][m] * u[s][m][w];
          }
        }
        NEKBONE_K_UNROLL
        for (int w = 0; w < width; ++w) {
          Lanes g[n_factors];
          if constexpr (Shape::reads_ahead) {
            NEKBONE_K_UNROLL
            for (int c = 0; c < n_factors; ++c) g[c] = ahead[c];
          } else {
            read_factors(factors, (k * nq + s) * nq + w, g);
          }
          const auto& [rr, rs, rt, ss, st, tt] = g;
          const int at = j * pitch + i0 + w;
          const Lanes flux_r = rr * u_r[w] + rs * u_s[w] + rt * u_t[w];
          const Lanes flux_s = rs * u_r[w] + ss * u_s[w] + st * u_t[w];
          flux_t[w] = rt * u_r[w] + st * u_s[w] + tt * u_t[w];
          tile_r[at] = flux_r;
          tile_s[at] = flux_s;
          au[s][k][w] += end_r[w] * flux_r + end_s[s] * flux_s;
          if (args.lambda != 0) au[s][k][w] += args.lambda * jacobian(g) * u[s][k][w];
        }
        NEKBONE_K_UNROLL
        for (int m = 0; m < nq; ++m) {
          NEKBONE_K_UNROLL
          for (int w = 0; w < width; ++w) au[s][m][w] += m_derivative[k][m] * flux_t[w];
        }
      }
      if constexpr (Shape::reads_ahead)
        if (k + 1 < nq) read_factors(factors, (k + 1) * nq * nq, ahead);
      team.team_barrier();

      for (int s = 0; s < strips; ++s) {
        const int j = j0 + s;
        Lanes sum_r[width], sum_s[width];
        NEKBONE_K_UNROLL
        for (int w = 0; w < width; ++w) sum_r[w] = sum_s[w] = Lanes(0.0);
        NEKBONE_K_UNROLL
        for (int m = 0; m < nq; ++m) {
          const Lanes along_r = tile_r[j * pitch + m];
          NEKBONE_K_UNROLL
          for (int w = 0; w < width; ++w) {
            sum_r[w] += d_r[w][m] * along_r;
            sum_s[w] += d_s[s][m] * tile_s[m * pitch + i0 + w];
          }
        }
        NEKBONE_K_UNROLL
        for (int w = 0; w < width; ++w) au[s][k][w] -= sum_r[w] + sum_s[w];
      }
    });

    Lanes dot(0.0);
    for (int s = 0; s < strips; ++s) {
      NEKBONE_K_UNROLL
      for (int w = 0; w < width; ++w) {
        const double root_w = root_w_r[w] * root_w_s[s];
        if (works)
          m_elements.store(block, ElementLayout::column(nq, i0 + w, j0 + s),
                           [&](int k) { return root_w * (m_root_weight[k] * au[s][k][w]); });
        NEKBONE_K_UNROLL
        for (int k = 0; k < nq; ++k) dot += u[s][k][w] * au[s][k][w];
      }
    }
    double dot_of_team = 0;
    if (works)
      for (int lane = 0; lane < ElementLayout::lanes; ++lane) dot_of_team += dot[lane];
    team.team_reduce(Kokkos::Sum<double>(dot_of_team));
    Kokkos::single(Kokkos::PerTeam(team),
                   [&]() { args.partial_dots(first_team + team.league_rank()) = dot_of_team; });
  }

 private:
  template <class Layer>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_layer(const Layer& layer) {
    if constexpr (Shape::unrolls_layers) {
      [&]<int... k>(std::integer_sequence<int, k...>) {
        (layer(std::integral_constant<int, k>{}), ...);
      }
      (std::make_integer_sequence<int, nq>{});
    } else {
      for (int k = 0; k < nq; ++k) layer(k);
    }
  }

  /// The factors of the point `points` after that of `from`.
  KOKKOS_FORCEINLINE_FUNCTION void read_factors(const double* from, int points,
                                                Lanes (&g)[n_factors]) const {
    NEKBONE_K_UNROLL
    for (int c = 0; c < n_factors; ++c) g[c] = m_elements.factor(from, c, points);
  }

  /// Entry i of the diagonal of D̂ + D̂ᵀ: the boundary term of integration by parts.
  KOKKOS_FORCEINLINE_FUNCTION static double end_term(int i, double root_w) {
    return (i == 0 ? -1.0 : i == nq - 1 ? 1.0 : 0.0) / (root_w * root_w);
  }

  AxhelmElements<StaticNq<nq>> m_elements;
  // Where their place is known when compiling, a GPU reads these as constants of the launch.
  double m_derivative[nq][nq], m_root_weight[nq];
};

template <int order>
void axhelm_compiled(const AxhelmArguments& arguments) {
  AxhelmKernel<order>(arguments).run();
}

}  // namespace nekbone_k
