// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Reads and writes the values of a block of elements in element kernels.
#pragma once

#include <type_traits>

#include "operators/axhelm/axhelm.hpp"
#include "operators/axhelm/axhelm_lanes.hpp"
#include "operators/trilinear.hpp"

namespace nekbone_k {

/// Nq known at compile time, so that loops unroll.
template <int value>
struct StaticNq {
  KOKKOS_FUNCTION constexpr operator int() const { return value; }
};
/// Nq known at run time.
struct RunTimeNq {
  int value;
  KOKKOS_FUNCTION operator int() const { return value; }
};

/// The factors of two blocks on a CPU side by side.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION auto joined_factors(const StoredFactor<LanesOf<T>>& first,
                                                const StoredFactor<LanesOf<T>>& second) {
  const auto entry = [](const LanesOf<T>& a, const LanesOf<T>& b) {
    return AxhelmLanes<T, 2>::joined(a, b);
  };
  return StoredFactor<typename AxhelmLanes<T, 2>::Type>{
      entry(first.d_r, second.d_r),   entry(first.d_s, second.d_s),
      entry(first.d_t, second.d_t),   entry(first.l_sr, second.l_sr),
      entry(first.l_tr, second.l_tr), entry(first.l_ts, second.l_ts)};
}

/// The values of element nodes in vectors and factors; each lane is an element.
template <class Nq, class T = double>
struct AxhelmElements {
  using Lanes = LanesOf<T>;

  AxhelmArgumentsOf<T> args;
  Nq nq;

  /// Calls set(k, u) at every node of a column.
  template <class Set>
  KOKKOS_FORCEINLINE_FUNCTION void load(LocalIndex block, const ElementLayout::Column& column,
                                        const Set& set) const {
    const IndexList entries = args.surface_entries(block);
    const T* const surface = args.u.data() + entries.base;
    const T* const interior = args.u.data() + interior_begin(block);
    for_each_node(
        column,
        [&](int k, int point) {
          set(k, gather_lanes(surface, entries.differences() + point * lanes));
        },
        [&](int k, int point) { set(k, read_lanes(interior + point * lanes)); });
  }

  /// Like load(), for two blocks on a CPU: u has the lanes of both.
  template <class Set>
  KOKKOS_FORCEINLINE_FUNCTION void load(const BlockPair& blocks,
                                        const ElementLayout::Column& column, const Set& set) const {
    const IndexList entries = args.surface_entries(blocks.first),
                    also = args.surface_entries(blocks.second);
    const T* const surface = args.u.data() + entries.base;
    const T* const surface_also = args.u.data() + also.base;
    const T* const interior = args.u.data() + interior_begin(blocks.first);
    const T* const interior_also = args.u.data() + interior_begin(blocks.second);
    for_each_node(
        column,
        [&](int k, int point) {
          set(k, AxhelmLanes<T, 2>::joined(
                     gather_lanes(surface, entries.differences() + point * lanes),
                     gather_lanes(surface_also, also.differences() + point * lanes)));
        },
        [&](int k, int point) {
          set(k, AxhelmLanes<T, 2>::joined(read_lanes(interior + point * lanes),
                                           read_lanes(interior_also + point * lanes)));
        });
  }

  /// The entries of assembled vectors at the n = Nq nodes of a column, with one lane only. Callers
  /// read all entries before the first value, so that a GPU has them in flight together.
  template <int n>
  KOKKOS_FORCEINLINE_FUNCTION void entries(LocalIndex block, const ElementLayout::Column& column,
                                           LocalIndex* entry) const {
    static_assert(n > 1 && lanes == 1);
    const IndexList surface = args.surface_entries(block);
    entry[0] = surface[column.first];
    entry[n - 1] = surface[column.first + ElementLayout::last_layer(nq)];
    const LocalIndex inner = static_cast<LocalIndex>(interior_begin(block)) + column.inner;
    NEKBONE_K_UNROLL
    for (int k = 1; k < n - 1; ++k)
      entry[k] = column.on_rim ? surface[column.inner + (k - 1) * ElementLayout::surface_stride(nq)]
                               : inner + (k - 1) * ElementLayout::interior_stride(nq);
  }

  /// Sets Au = get(k) at every node of a column. Nq fixes the strides, so a GPU addresses a whole
  /// column from one register.
  template <class Get>
  KOKKOS_FORCEINLINE_FUNCTION void store(LocalIndex block, const ElementLayout::Column& column,
                                         const Get& get) const {
    T* const surface =
        args.au_surface.data() + ElementLayout::offset(block, 0, ElementLayout::n_surface(nq));
    T* const interior = args.au.data() + interior_begin(block);
    for_each_node(
        column, [&](int k, int point) { write_lanes(surface + point * lanes, get(k)); },
        [&](int k, int point) { write_lanes(interior + point * lanes, get(k)); });
  }

  /// Like store(), but writes surface values to the rows of Au. Elements that share a row must give
  /// it the same value.
  template <class Get>
  KOKKOS_FORCEINLINE_FUNCTION void put(LocalIndex block, const ElementLayout::Column& column,
                                       const Get& get) const {
    write_rows<false>(block, column, get);
  }

  /// Like store(), but adds surface results to Au, whose rows were cleared. Only one thread may
  /// add.
  template <class Get>
  KOKKOS_FORCEINLINE_FUNCTION void add_alone(LocalIndex block, const ElementLayout::Column& column,
                                             const Get& get) const {
    write_rows<true>(block, column, get);
  }

  /// Like add_alone(), but atomically, for many threads. `entry` is from entries().
  template <int n, class Get>
  KOKKOS_FORCEINLINE_FUNCTION void add_atomically(const LocalIndex* entry,
                                                  const ElementLayout::Column& column,
                                                  const Get& get) const {
    T* const au = args.au.data();
    NEKBONE_K_UNROLL
    for (int k = 0; k < n; ++k) {
      if (k > 0 && k < n - 1 && !column.on_rim)
        au[entry[k]] = get(k)[0];
      else if (entry[k] < args.n_rows)
        Kokkos::atomic_add(au + entry[k], get(k)[0]);
    }
  }

  /// Stored factors from point q = (k Nq + j) Nq + i on, for read_factor(). On a CPU blocks follow
  /// each other in memory, so q may also be in a later block.
  KOKKOS_FORCEINLINE_FUNCTION const T* factors(LocalIndex block, int q) const {
    return geometry(block, ElementLayout::factor_item(nq, q, 0),
                    ElementLayout::n_factors * nq * nq * nq);
  }
  /// The factor of the point `points` after `from`. `once`: see read_lanes_once().
  template <bool once = false>
  KOKKOS_FORCEINLINE_FUNCTION StoredFactor<Lanes> read_factor(const T* from, int points) const {
    const auto entry = [&](int c) {
      const T* const at =
          from + ElementLayout::factor_item(nq, points, c) * ElementLayout::group_size(nq);
      return once ? read_lanes_once(at) : read_lanes(at);
    };
    return {entry(0), entry(1), entry(2), entry(3), entry(4), entry(5)};
  }
  /// The factors of two blocks at a point, from those of the first and `to_second` values after
  /// them.
  KOKKOS_FORCEINLINE_FUNCTION auto read_factor_pair(const T* from, std::ptrdiff_t to_second,
                                                    int points) const {
    return joined_factors<T>(read_factor(from, points), read_factor(from + to_second, points));
  }
  /// Geometric value `item` of a block; each element has `items` values.
  KOKKOS_FORCEINLINE_FUNCTION const T* geometry(LocalIndex block, int item, int items) const {
    return args.factors.data() + ElementLayout::geometry_offset(nq, block * lanes, item, items);
  }
  /// Offset of a block's interior values in assembled vectors.
  KOKKOS_FORCEINLINE_FUNCTION std::size_t interior_begin(LocalIndex block) const {
    return args.interior_begin + ElementLayout::offset(block, 0, ElementLayout::n_interior(nq));
  }

 private:
  static constexpr int lanes = ElementLayout::lanes;

  /// Adds surface values to rows or puts them there, and sets interior values. Skips Dirichlet
  /// points and empty lanes, which have no row.
  template <bool adds, class Get>
  KOKKOS_FORCEINLINE_FUNCTION void write_rows(LocalIndex block, const ElementLayout::Column& column,
                                              const Get& get) const {
    const IndexList entries = args.surface_entries(block);
    T* const rows = args.au.data() + entries.base;
    const LocalIndex end = args.n_rows - entries.base;
    T* const interior = args.au.data() + interior_begin(block);
    for_each_node(
        column,
        [&](int k, int point) {
          lanes_to_rows<adds, T>(rows, entries.differences() + point * lanes, end, get(k));
        },
        [&](int k, int point) { write_lanes<T>(interior + point * lanes, get(k)); });
  }

  /// Calls on_surface(k, surface point) or inside(k, interior point) for every node of a column.
  template <class OnSurface, class Inside>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_node(const ElementLayout::Column& column,
                                                 const OnSurface& on_surface,
                                                 const Inside& inside) const {
    on_surface(0, column.first);
    on_surface(nq - 1, column.first + ElementLayout::last_layer(nq));
    if (column.on_rim) {
      for (int k = 1; k < nq - 1; ++k)
        on_surface(k, column.inner + (k - 1) * ElementLayout::surface_stride(nq));
    } else {
      for (int k = 1; k < nq - 1; ++k)
        inside(k, column.inner + (k - 1) * ElementLayout::interior_stride(nq));
    }
  }
};

/// Computes the factors of `n` blocks of elements at a point with reference coordinates r, s, t.
/// Made once per block or BlockPair. This is the version for trilinear elements.
template <Geometry geometry, class T = double, int n = 1>
class BlockFactors {
  using Lanes = LanesOf<T>;

 public:
  template <class Nq>
  KOKKOS_FORCEINLINE_FUNCTION BlockFactors(const AxhelmElements<Nq, T>& elements,
                                           LocalIndex block) {
    static_assert(geometry == Geometry::trilinear && n == 1);
    constexpr int terms = TrilinearMap<Lanes>::n_coefficients;
    NEKBONE_K_UNROLL
    for (int term = 0; term < terms; ++term)
      for (int d = 0; d < 3; ++d)
        m_map.coefficients[term][d] = read_lanes(elements.geometry(block, 3 * term + d, 3 * terms));
  }
  KOKKOS_FORCEINLINE_FUNCTION SymmetricFactor<Lanes> operator()(T r, T s, T t) const {
    return m_map.factor(r, s, t);
  }

 private:
  TrilinearMap<Lanes> m_map;
};
/// For affine elements: one factor for all points. Floats are affine on bricks only; see
/// SingleFactors.
template <class T, int n>
class BlockFactors<Geometry::affine, T, n> {
  using Lanes = typename AxhelmLanes<T, n>::Type;
  using Factor =
      std::conditional_t<std::is_same_v<T, double>, StoredFactor<Lanes>, DiagonalFactor<Lanes>>;

 public:
  template <class Nq>
  KOKKOS_FORCEINLINE_FUNCTION BlockFactors(const AxhelmElements<Nq, T>& elements, LocalIndex block)
      : m_factor(of(elements, block)) {}
  template <class Nq>
  KOKKOS_FORCEINLINE_FUNCTION BlockFactors(const AxhelmElements<Nq, T>& elements,
                                           const BlockPair& blocks)
      : m_factor(joined_factors<T>(of(elements, blocks.first), of(elements, blocks.second))) {}

  KOKKOS_FORCEINLINE_FUNCTION const Factor& operator()(T, T, T) const { return m_factor; }

 private:
  template <class Nq>
  KOKKOS_FORCEINLINE_FUNCTION static StoredFactor<LanesOf<T>> of(
      const AxhelmElements<Nq, T>& elements, LocalIndex block) {
    const auto entry = [&](int c) {
      return read_lanes(elements.geometry(block, c, ElementLayout::n_factors));
    };
    return {entry(0), entry(1), entry(2), entry(3), entry(4), entry(5)};
  }

  Factor m_factor;
};
/// For stored factors: empty.
template <class T, int n>
class BlockFactors<Geometry::stored, T, n> {
 public:
  template <class Nq, class Blocks>
  KOKKOS_FORCEINLINE_FUNCTION BlockFactors(const AxhelmElements<Nq, T>&, const Blocks&) {}
};

}  // namespace nekbone_k
