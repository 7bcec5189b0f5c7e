// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The body of the element operator on bricks on a CPU.
#pragma once

#include "operators/axhelm/axhelm_pieces.hpp"
#include "operators/axhelm/axhelm_scratch.hpp"
#include "operators/axhelm/line_stiffness.hpp"

namespace nekbone_k {

/// A thread applies the operator to a block of elements as in AxhelmCpu. The factor of a brick is
/// diagonal and the same at all points, so the operator is a sum of matrices along r, s and t:
///
///     Âu = g_rr D̂_rᵀ D̂_r û + g_ss D̂_sᵀ D̂_s û + g_tt D̂_tᵀ D̂_t û + λ J û
///
/// That takes half the operations of derivatives and fluxes. For floats, whose operators have no
/// product u·Au.
template <int order, Geometry geometry, SurfaceResults surface_results, class Shape, class T>
class AxhelmBricks : protected AxhelmPieces<order, geometry, surface_results, Shape, T> {
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Pieces = AxhelmPieces<order, geometry, surface_results, Shape, T>;
  using Pieces::columns, Pieces::load_column, Pieces::store_column;
  using typename Pieces::Lanes;

 protected:
  using Pieces::nq, Pieces::blocks_at_once, Pieces::m_elements;

 private:
  static_assert(is_host_device && geometry == Geometry::affine && std::is_same_v<T, float>);
  static constexpr int stride = columns + 1;  // see AxhelmCpu

 public:
  static constexpr int team_size = 1;
  /// Au of all layers.
  using Scratch = AxhelmScratch<team_size, nq * stride, Lanes>;

  explicit AxhelmBricks(const AxhelmArgumentsOf<T>& arguments)
      : Pieces(arguments), m_stiffness(*arguments.scaled_basis) {}

  /// Applies the operator to the team's block or pair of blocks.
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const AxhelmArgumentsOf<T>& args = m_elements.args;
    const LocalIndex block = args.first_block + team.league_rank() * blocks_at_once;
    const auto blocks = blocks_from<blocks_at_once>(block, args.last_block);
    [[maybe_unused]] const LocalIndex last = last_of(blocks);
    const auto factor = BlockFactors<geometry, T, blocks_at_once>(m_elements, blocks)(0, 0, 0);
    const Lanes mass = args.lambda * factor.determinant();
    Lanes u[nq * stride];  // value k of column c is at k * stride + c
    auto* const au =
        static_cast<Lanes*>(team.team_scratch(Scratch::level())
                                .get_shmem_aligned(Scratch::used_bytes(), alignof(Lanes)));

    for (int c = 0; c < columns; ++c) load_column(blocks, c, nullptr, u + c, stride);
    for (int c = 0; c < columns; ++c)
      along(u + c, stride,
            [&](int k, const Lanes& value) { au[k * stride + c] = factor.tt * value; });
    for (int k = 0; k < nq; ++k) {
      const Lanes* const layer = u + k * stride;
      Lanes* const of_layer = au + k * stride;
      for (int i = 0; i < nq; ++i)
        along(layer + i, nq,
              [&](int j, const Lanes& value) { of_layer[j * nq + i] += factor.ss * value; });
      for (int j = 0; j < nq; ++j)
        along(layer + j * nq, 1,
              [&](int i, const Lanes& value) { of_layer[j * nq + i] += factor.rr * value; });
      if (args.lambda != 0)
        for (int c = 0; c < columns; ++c) of_layer[c] += mass * layer[c];
    }

    for (int c = 0; c < columns; ++c) store_column(block, c, nullptr, au + c, stride);
    if constexpr (blocks_at_once == 2) {
      // After the first block, so that rows have the same sums as with one block at a time.
      if (last != block)
        for (int c = 0; c < columns; ++c)
          this->template store_column<1>(last, c, nullptr, au + c, stride);
    }
  }

 private:
  /// Calls set(n, value) with the stiffness matrix times a line of values that are `step` apart.
  template <class Set>
  KOKKOS_FORCEINLINE_FUNCTION void along(const Lanes* line, int step, const Set& set) const {
    Lanes x[nq];
    NEKBONE_K_UNROLL
    for (int m = 0; m < nq; ++m) x[m] = line[m * step];
    m_stiffness(x, set);
  }

  LineStiffness<nq, T> m_stiffness;
};

}  // namespace nekbone_k
