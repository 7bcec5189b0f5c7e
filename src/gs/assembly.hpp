/// @file
/// The gather-scatter within one rank: rows (assembled DOFs) and the local points that form them.
#pragma once

#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/types.hpp"
#include "gs/reduction.hpp"

namespace nekbone_k {

/// Q and Qᵀ of one rank, by row: row r is formed by the points row_points[row_offsets[r] …
/// row_offsets[r + 1]), in ascending order. A point belongs to one row or to none.
class Assembly {
 public:
  static constexpr LocalIndex no_row = -1;

  /// `point_rows[p]` is the row of local point p, or no_row. A counting sort: linear in time.
  template <class PointRows>
  Assembly(LocalIndex n_rows, const PointRows& point_rows)
      : m_n_rows(n_rows), m_n_points(static_cast<LocalIndex>(point_rows.size())) {
    m_offsets = DeviceVector<LocalIndex>("nekbone_k: row offsets", n_rows + 1);
    const auto offsets = Kokkos::create_mirror_view(m_offsets);
    LocalIndex used = 0;
    for (LocalIndex p = 0; p < m_n_points; ++p)
      if (point_rows[p] != no_row) ++offsets(point_rows[p]), ++used;
    // Shifted by one row while filling: offsets(r) runs from the row's begin to its end.
    LocalIndex begin = 0;
    for (LocalIndex r = 0; r <= n_rows; ++r) begin += std::exchange(offsets(r), begin);

    m_points = uninitialized<LocalIndex>("nekbone_k: row points", used);
    const auto points = Kokkos::create_mirror_view(m_points);
    for (LocalIndex p = 0; p < m_n_points; ++p)
      if (point_rows[p] != no_row) points(offsets(point_rows[p])++) = p;
    for (LocalIndex r = n_rows; r > 0; --r) offsets(r) = offsets(r - 1);
    offsets(0) = 0;
    Kokkos::deep_copy(m_offsets, offsets);
    Kokkos::deep_copy(m_points, points);
  }

  LocalIndex n_rows() const { return m_n_rows; }
  LocalIndex n_points() const { return m_n_points; }
  /// Points that belong to a row.
  LocalIndex n_joined_points() const { return static_cast<LocalIndex>(m_points.extent(0)); }

  /// rows(r) = the points of row r combined, for r in [begin, end): Qᵀ for Reduction::add. Shapes:
  /// points (n_points, components), rows (>= end, components). Returns before the kernel ends.
  template <class T>
  void gather(const DeviceField<T>& points, const DeviceField<T>& rows, Reduction op,
              LocalIndex begin, LocalIndex end) const {
    with_reduction(op, [&](auto reduction) {
      gather_with<decltype(reduction)::value>(points, rows, begin, end);
    });
  }

  /// points(p) = rows(row of p), for the points of rows [begin, end): Q. Shapes as in gather().
  template <class T>
  void scatter(const DeviceField<T>& rows, const DeviceField<T>& points, LocalIndex begin,
               LocalIndex end) const {
    const auto offsets = m_offsets;
    const auto row_points = m_points;
    const int components = static_cast<int>(points.extent(1));
    Kokkos::parallel_for(
        "nekbone_k: scatter", Kokkos::RangePolicy<ExecutionSpace>(begin, end),
        KOKKOS_LAMBDA(const LocalIndex r) {
          for (LocalIndex at = offsets(r); at < offsets(r + 1); ++at)
            for (int c = 0; c < components; ++c) points(row_points(at), c) = rows(r, c);
        });
  }

  /// gather() with the operation as a type. Public because nvcc allows no kernel in a private
  /// member.
  template <Reduction op, class T>
  void gather_with(const DeviceField<T>& points, const DeviceField<T>& rows, LocalIndex begin,
                   LocalIndex end) const {
    const auto offsets = m_offsets;
    const auto row_points = m_points;
    const int components = static_cast<int>(points.extent(1));
    Kokkos::parallel_for(
        "nekbone_k: gather", Kokkos::RangePolicy<ExecutionSpace>(begin, end),
        KOKKOS_LAMBDA(const LocalIndex r) {
          for (int c = 0; c < components; ++c) {
            T value = points(row_points(offsets(r)), c);
            for (LocalIndex at = offsets(r) + 1; at < offsets(r + 1); ++at)
              value = combine<op>(value, points(row_points(at), c));
            rows(r, c) = value;
          }
        });
  }

 private:
  LocalIndex m_n_rows, m_n_points;
  DeviceVector<LocalIndex> m_offsets, m_points;
};

}  // namespace nekbone_k
