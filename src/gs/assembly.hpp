/// @file
/// The gather-scatter within one rank: rows (assembled DOFs) and the local points that form them.
#pragma once

#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/types.hpp"
#include "gs/index_lists.hpp"
#include "gs/reduction.hpp"

namespace nekbone_k {

/// Q and Qᵀ of one rank, by row: each row is formed by a list of points, in ascending order. A
/// point belongs to one row or to none, and a row has a point at least.
class Assembly {
 public:
  static constexpr LocalIndex no_row = -1;

  /// `point_rows[p]` is the row of local point p, or no_row. A counting sort: linear in time.
  template <class PointRows>
  Assembly(LocalIndex n_rows, const PointRows& point_rows)
      : m_n_rows(n_rows), m_n_points(static_cast<LocalIndex>(point_rows.size())) {
    std::vector<LocalIndex> offsets(n_rows + 1, 0);
    for (LocalIndex p = 0; p < m_n_points; ++p)
      if (point_rows[p] != no_row) ++offsets[point_rows[p]], ++m_n_joined_points;
    // Shifted by one row while filling: offsets[r] runs from the row's begin to its end.
    LocalIndex begin = 0;
    for (LocalIndex r = 0; r <= n_rows; ++r) begin += std::exchange(offsets[r], begin);

    std::vector<LocalIndex> points(m_n_joined_points);
    for (LocalIndex p = 0; p < m_n_points; ++p)
      if (point_rows[p] != no_row) points[offsets[point_rows[p]]++] = p;
    IndexListsBuilder lists(n_rows);
    for (LocalIndex r = 0; r < n_rows; ++r) {
      const LocalIndex first = r == 0 ? 0 : offsets[r - 1];
      require(first < offsets[r], "a row without points");
      lists.add(points.data() + first, offsets[r] - first);
    }
    m_row_points = lists.to_device("nekbone_k: row points");
  }

  LocalIndex n_rows() const { return m_n_rows; }
  LocalIndex n_points() const { return m_n_points; }
  /// Points that belong to a row.
  LocalIndex n_joined_points() const { return m_n_joined_points; }
  /// Least bytes that gather() of all rows reads and writes: a double each point and each row, and
  /// the lists of points.
  double least_bytes() const {
    return double{sizeof(double)} * (double{1} * m_n_joined_points + m_n_rows) +
           m_row_points.least_bytes();
  }

  /// rows(r) = the points of row r combined, for r in [begin, end): Qᵀ for Reduction::add. Shapes:
  /// points (n_points, components), rows (>= end, components). In the order of the kernels of
  /// `stream`; returns before the kernel ends.
  template <class T>
  void gather(const DeviceField<T>& points, const DeviceField<T>& rows, Reduction op,
              LocalIndex begin, LocalIndex end, const ExecutionSpace& stream = {}) const {
    with_reduction(op, [&](auto reduction) {
      gather_with<decltype(reduction)::value>(points, rows, begin, end, stream);
    });
  }

  /// points(p) = rows(row of p), for the points of rows [begin, end): Q. Shapes as in gather().
  template <class T>
  void scatter(const DeviceField<T>& rows, const DeviceField<T>& points, LocalIndex begin,
               LocalIndex end) const {
    const auto row_points = m_row_points.reader();
    const int components = static_cast<int>(points.extent(1));
    Kokkos::parallel_for(
        "nekbone_k: scatter", Kokkos::RangePolicy<ExecutionSpace>(begin, end),
        KOKKOS_LAMBDA(const LocalIndex r) {
          const IndexList row = row_points(r);
          for (LocalIndex i = 0; i < row.count(); ++i)
            for (int c = 0; c < components; ++c) points(row[i], c) = rows(r, c);
        });
  }

  /// gather() with the operation as a type. Public because nvcc allows no kernel in a private
  /// member.
  template <Reduction op, class T>
  void gather_with(const DeviceField<T>& points, const DeviceField<T>& rows, LocalIndex begin,
                   LocalIndex end, const ExecutionSpace& stream) const {
    const auto row_points = m_row_points.reader();
    const int components = static_cast<int>(points.extent(1));
    Kokkos::parallel_for(
        "nekbone_k: gather", Kokkos::RangePolicy<ExecutionSpace>(stream, begin, end),
        KOKKOS_LAMBDA(const LocalIndex r) {
          const IndexList row = row_points(r);
          for (int c = 0; c < components; ++c) {
            T value = points(row.base, c);
            for (LocalIndex i = 1; i < row.count(); ++i)
              value = combine<op>(value, points(row[i], c));
            rows(r, c) = value;
          }
        });
  }

 private:
  LocalIndex m_n_rows, m_n_points, m_n_joined_points = 0;
  IndexLists m_row_points;
};

}  // namespace nekbone_k
