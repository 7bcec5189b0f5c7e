// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The body of the element operator on a CPU.
#pragma once

#include <cstddef>
#include <type_traits>

#include "operators/axhelm/axhelm_pieces.hpp"
#include "operators/axhelm/axhelm_prefetch.hpp"
#include "operators/axhelm/axhelm_scratch.hpp"

namespace nekbone_k {

/// A thread applies the operator to a block of elements, one per SIMD lane, layer by layer. Two
/// blocks of floats share a register. If their number is odd, the last one is paired with itself,
/// so that every element has the same bits in any range of blocks.
///
/// It has all columns, so it finds the lines of u along r and s among them, and processes a layer
/// row by row. Derivatives, fluxes and their derivatives of a row stay in registers; only values
/// along s pass through a tile of one layer.
template <int order, Geometry geometry, SurfaceResults surface_results, class Shape,
          class T = double>
class AxhelmCpu : protected AxhelmPieces<order, geometry, surface_results, Shape, T> {
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Pieces = AxhelmPieces<order, geometry, surface_results, Shape, T>;
  using Pieces::columns, Pieces::m_node, Pieces::m_derivative;
  using Pieces::load_column, Pieces::store_column, Pieces::differentiate, Pieces::make_fluxes;
  using typename Pieces::Lanes;

 protected:
  using Pieces::nq, Pieces::blocks_at_once, Pieces::m_elements;

 private:
  using Prefetch = AxhelmPrefetch<nq, geometry, surface_results, T, blocks_at_once>;
  static_assert(is_host_device && Shape::threads_per_element_block == 1);
  /// Operators on floats have no product u·Au.
  static constexpr bool has_dot = std::is_same_v<T, double>;
  // Distance of layers in Lanes. It is one more than the number of columns: layers of 4096 bytes,
  // as at Nq = 8 with 8 lanes, evict each other from the cache.
  static constexpr int stride = columns + 1;

 public:
  static constexpr int team_size = 1;
  /// The tile of a layer, and ∂u/∂t of all layers: contiguous, in cache.
  using Scratch = AxhelmScratch<team_size, columns + nq * stride, Lanes>;

  explicit AxhelmCpu(const AxhelmArgumentsOf<T>& arguments) : Pieces(arguments) {}

  /// Applies the operator to the team's block or pair of blocks.
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const AxhelmArgumentsOf<T>& args = m_elements.args;
    const T lambda = args.lambda;
    const LocalIndex block = args.first_block + team.league_rank() * blocks_at_once;
    const auto blocks = blocks_from<blocks_at_once>(block, args.last_block);
    [[maybe_unused]] const LocalIndex last = last_of(blocks);
    const BlockFactors<geometry, T, blocks_at_once> computed(m_elements, blocks);
    Prefetch prefetch(m_elements, block);
    Lanes u[nq * stride];  // value k of column c is at k * stride + c; becomes Au
    auto* const tile =
        static_cast<Lanes*>(team.team_scratch(Scratch::level())
                                .get_shmem_aligned(Scratch::used_bytes(), alignof(Lanes)));
    Lanes* const u_t = tile + columns;

    // û, and its derivatives along t.
    for (int c = 0; c < columns; ++c) load_column(blocks, c, nullptr, u + c, stride);
    for (int c = 0; c < columns; ++c) {
      prefetch.step();
      differentiate(u + c, stride, [&](int k, const Lanes& value) { u_t[k * stride + c] = value; });
    }
    // Everything but the second derivatives along t, layer by layer.
    const T* const stored = m_elements.factors(block, 0);
    [[maybe_unused]] const std::ptrdiff_t to_last = m_elements.factors(last, 0) - stored;
    const auto factor_at = [&](int i, int j, int k) NEKBONE_K_INLINED {
      if constexpr (geometry != Geometry::stored)
        return computed(m_node[i], m_node[j], m_node[k]);
      else if constexpr (blocks_at_once == 2)
        return m_elements.read_factor_pair(stored, to_last, k * columns + j * nq + i);
      else
        return m_elements.read_factor(stored, k * columns + j * nq + i);
    };
    Lanes dot(0.0);  // u·Au
    for (int k = 0; k < nq; ++k)
      apply_layer(lambda, k, factor_at, u + k * stride, u_t + k * stride, tile, prefetch, dot);
    // The derivatives of the fluxes along t complete Au.
    for (int c = 0; c < columns; ++c) {
      prefetch.step();
      differentiate(u_t + c, stride,
                    [&](int k, const Lanes& value) { u[k * stride + c] -= value; });
      store_column(block, c, nullptr, u + c, stride);
    }
    if constexpr (blocks_at_once == 2) {
      // After the first block, so that rows have the same sums as with one block at a time.
      if (last != block)
        for (int c = 0; c < columns; ++c)
          this->template store_column<1>(last, c, nullptr, u + c, stride);
    }
    if constexpr (has_dot) {
      double sum = 0;
      for (int lane = 0; lane < ElementLayout::lanes; ++lane) sum += dot[lane];
      args.partial_dots(block) = sum;
    }
  }

 private:
  /// Turns layer k of u into Au without the part along t, and ∂u/∂t into the flux along t.
  /// factor_at(i, j, k) is the factor at a point.
  template <class FactorAt>
  KOKKOS_FORCEINLINE_FUNCTION void apply_layer(T lambda, int k, const FactorAt& factor_at,
                                               Lanes* layer, Lanes* u_t, Lanes* tile,
                                               Prefetch& prefetch, Lanes& dot) const {
    differentiate_along_s(
        layer, [&] NEKBONE_K_INLINED { prefetch.step(); },
        [&](int at, const Lanes& value) { tile[at] = value; });
    const auto add_to_dot = [&](const Lanes& mass, const Lanes& r, const Lanes& s,
                                const Lanes& t) NEKBONE_K_INLINED {
      if constexpr (has_dot) {
        dot += mass;  // a sum of its own, so that the others do not wait for the mass
        dot += r + (s + t);
      }
    };
    for (int j = 0; j < nq; ++j) {
      prefetch.step();
      Lanes* const row = layer + j * nq;
      Lanes along_r[nq];
      differentiate(row, 1, [&](int i, const Lanes& value) { along_r[i] = value; });
      const auto make_flux = [&](int i) NEKBONE_K_INLINED {
        const int c = j * nq + i;
        if (i == 0 || i == nq / 2) prefetch.step();
        prefetch.at_point(k * nq * nq + c);
        row[i] = make_fluxes(factor_at(i, j, k), lambda, i, j, k, row[i], along_r[i], tile[c],
                             u_t[c], add_to_dot);
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

  /// For every line along s: calls before(), then put(entry of the layer, derivative) for its
  /// values.
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
};

}  // namespace nekbone_k
