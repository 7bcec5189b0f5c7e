// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The steps of the element operator that its bodies for a CPU and a GPU share.
#pragma once

#include "operators/axhelm/axhelm_elements.hpp"
#include "operators/axhelm/axhelm_shape.hpp"
#include "operators/axhelm/line_derivative.hpp"

namespace nekbone_k {

/// The steps of Au = Σ_ab D_aᵀ G_ab D_b u + λ w J u, as in Nekbone's ax, on the columns, lines and
/// points of a block of elements. Each lane is an element. AxhelmCpu and AxhelmGpu order them for
/// their hardware:
/// 1. load_column() reads û = √w u at the nodes of a column.
/// 2. differentiate() takes derivatives of û line by line: along r, s and t (local_grad3).
/// 3. make_fluxes() multiplies the three derivatives at a point by the factor G there, and sums up
///    u·Au.
/// 4. differentiate() takes derivatives of the fluxes (local_grad3_t). As D̂ᵀ = -D̂ except at the
///    ends of the diagonal, they are subtracted, and make_fluxes() adds a term at the faces.
/// 5. store_column() writes a column of Au, or adds it to rows.
///
/// Everything is force-inlined, so that the small arrays of a thread stay in registers.
template <int order, Geometry geometry, SurfaceResults surface_results, class Shape,
          class T = double>
class AxhelmPieces {
 protected:
  static constexpr int nq = order + 1;
  /// Blocks in a register. Elements of low order have little work per surface value, and lose more
  /// by joining two blocks than they gain.
  static constexpr int blocks_at_once =
      Shape::body == AxhelmBody::cpu && nq > 4 ? blocks_of_register<T> : 1;
  using Lanes = typename AxhelmLanes<T, blocks_at_once>::Type;
  static constexpr int threads = Shape::threads_per_element_block;
  static constexpr int columns = nq * nq / threads;  // per thread
  static_assert(threads == 1 || columns == 1);       // the c-th one is column thread + c
  // A CPU divides blocks into ranges of any length, whose parts of u·Au must not share an entry.
  static_assert(!is_host_device || Shape::blocks_per_team == 1);

  explicit AxhelmPieces(const AxhelmArgumentsOf<T>& arguments)
      : m_elements{arguments, {}}, m_derivative(*arguments.scaled_basis) {
    for (int i = 0; i < nq; ++i) {
      m_root_weight[i] = static_cast<T>(arguments.scaled_basis->root_weights[i]);
      m_node[i] = static_cast<T>(arguments.scaled_basis->nodes[i]);
      m_end[i] = 0;
    }
    const double root_weight = arguments.scaled_basis->root_weights[0];
    m_end[0] = static_cast<T>(-1 / (root_weight * root_weight));
    m_end[nq - 1] = -m_end[0];
  }

  /// Reads the entries of a column's nodes in vectors. A GPU thread reads those of all its columns
  /// before any value, so that they are in flight together. A CPU reads them where it needs them.
  KOKKOS_FORCEINLINE_FUNCTION void read_entries(LocalIndex block, int column,
                                                LocalIndex* entries) const {
    if constexpr (!is_host_device)
      m_elements.template entries<nq>(block, column_of(column).nodes, entries);
  }

  /// Reads û = √w u at the nodes of a column: value k becomes u[k * stride]. `blocks` is a block or
  /// a BlockPair. `entries` is from read_entries().
  template <class Blocks>
  KOKKOS_FORCEINLINE_FUNCTION void load_column(const Blocks& blocks, int column,
                                               const LocalIndex* entries, Lanes* u,
                                               int stride) const {
    const Column at = column_of(column);
    const auto set = [&](int k, const Lanes& value) {
      u[k * stride] = at.root_weight * (m_root_weight[k] * value);
    };
    if constexpr (is_host_device) {
      m_elements.load(blocks, at.nodes, set);
    } else {
      NEKBONE_K_UNROLL
      for (int k = 0; k < nq; ++k) set(k, m_elements.args.u(entries[k]));
    }
  }

  /// Writes a column of Au of the block that is `part` of the register. Au is in the place where
  /// load_column() put û.
  template <int part = 0>
  KOKKOS_FORCEINLINE_FUNCTION void store_column(LocalIndex block, int column,
                                                const LocalIndex* entries, const Lanes* u,
                                                int stride) const {
    const Column at = column_of(column);
    const auto result = [&](int k) {
      const auto value = AxhelmLanes<T, blocks_at_once>::template of<part>(u[k * stride]);
      return at.root_weight * (m_root_weight[k] * value);
    };
    if constexpr (surface_results == SurfaceResults::stored)
      m_elements.store(block, at.nodes, result);
    else if constexpr (is_host_device)
      m_elements.add_alone(block, at.nodes, result);
    else
      m_elements.template add_atomically<nq>(entries, at.nodes, result);
  }

  /// Calls set(i, derivative at node i) for a line of values that are `step` apart. set() may
  /// overwrite the line.
  template <class Set>
  KOKKOS_FORCEINLINE_FUNCTION void differentiate(const Lanes* line, int step,
                                                 const Set& set) const {
    Lanes x[nq];
    NEKBONE_K_UNROLL
    for (int m = 0; m < nq; ++m) x[m] = line[m * step];
    m_derivative(x, set);
  }

  /// Turns the derivatives along r, s and t at a point into fluxes, in place. Calls
  /// add_to_dot(mass, r, s, t) with the point's parts of u·Au: those of the mass and of the three
  /// fluxes. Returns Au at the point without the derivatives of the fluxes.
  template <class FactorAtPoint, class AddToDot>
  KOKKOS_FORCEINLINE_FUNCTION Lanes make_fluxes(const FactorAtPoint& factor, T lambda, int i, int j,
                                                int k, const Lanes& value, Lanes& along_r,
                                                Lanes& along_s, Lanes& along_t,
                                                const AddToDot& add_to_dot) const {
    const Lanes d_r = along_r, d_s = along_s, d_t = along_t;
    Lanes flux_r = d_r, flux_s = d_s, flux_t = d_t;
    factor.apply(flux_r, flux_s, flux_t);
    along_r = flux_r;
    along_s = flux_s;
    along_t = flux_t;
    Lanes mass(0.0);
    if (lambda != 0) mass = lambda * factor.determinant() * value;
    add_to_dot(mass * value, flux_r * d_r, flux_s * d_s, flux_t * d_t);
    Lanes at_point = mass;
    if (adds_face_term(i)) at_point += m_end[i] * flux_r;
    if (adds_face_term(j)) at_point += m_end[j] * flux_s;
    if (k == 0 || k == nq - 1) at_point += m_end[k] * flux_t;
    return at_point;
  }

 private:
  /// A column of an element.
  struct Column {
    ElementLayout::Column nodes;
    T root_weight;  // √(w_i w_j)
  };
  KOKKOS_FORCEINLINE_FUNCTION Column column_of(int number) const {
    const int i = number % nq, j = number / nq;
    return {ElementLayout::column(nq, i, j), m_root_weight[i] * m_root_weight[j]};
  }

  /// Whether to add the face term at node i or j of a line. It is zero except at the ends, but GPU
  /// threads, each with its own i and j, add it everywhere rather than diverge.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bool adds_face_term(int node) {
    return threads > 1 || node == 0 || node == nq - 1;
  }

 protected:
  AxhelmElements<StaticNq<nq>, T> m_elements;
  LineDerivative<nq, T, Lanes> m_derivative;
  T m_root_weight[nq];  // √w_i
  T m_node[nq];         // x_i
  T m_end[nq];          // diagonal of D̂ + D̂ᵀ: the face terms of integration by parts
};

}  // namespace nekbone_k
