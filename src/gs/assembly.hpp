// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The gather–scatter within one rank: rows (assembled DOFs) and the local points that form them.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/types.hpp"
#include "gs/index_lists.hpp"
#include "gs/list_order.hpp"
#include "reduce/reduction.hpp"

namespace nekbone_k {

/// Q and Qᵀ of one rank, stored by row: a row is a list of points in a fixed order. A point belongs
/// to one row at most. A row has at least one point.
///
/// Kernels work on rows [begin, end), in the order of their numbers. An assembly with a `border`
/// works in an order of its own, which is faster on a CPU: there, rows whose points have equal
/// distances follow each other. Then begin and end of gather() and scatter() must be 0, the border
/// or n_rows(), and gather_scatter() counts rows in the order of work.
class Assembly {
 public:
  static constexpr LocalIndex no_row = -1, no_border = -1;

  /// Orders the points of a row by their numbers.
  struct ByNumber {
    LocalIndex operator()(LocalIndex point) const { return point; }
  };

  /// `point_rows[p]` is the row of local point p, or no_row. Rows combine their points in the order
  /// of key(p). Kernels cross no `border`, if there is one (see above). Uses a counting sort in
  /// linear time. Throws InternalError if a row has no points.
  template <class PointRows, class Key = ByNumber>
  Assembly(LocalIndex n_rows, const PointRows& point_rows, const Key& key = {},
           LocalIndex border = no_border)
      : m_n_rows(n_rows), m_n_points(static_cast<LocalIndex>(point_rows.size())), m_border(border) {
    std::vector<LocalIndex> offsets(n_rows + 1, 0);
    for (LocalIndex p = 0; p < m_n_points; ++p)
      if (point_rows[p] != no_row) ++offsets[point_rows[p]], ++m_n_joined_points;
    // While the lists are filled, offsets[r] moves from the start of row r to its end.
    LocalIndex begin = 0;
    for (LocalIndex r = 0; r <= n_rows; ++r) begin += std::exchange(offsets[r], begin);

    std::vector<LocalIndex> points(m_n_joined_points);
    for (LocalIndex p = 0; p < m_n_points; ++p)
      if (point_rows[p] != no_row) points[offsets[point_rows[p]]++] = p;
    const auto points_of = [&](LocalIndex r) {
      const LocalIndex first = r == 0 ? 0 : offsets[r - 1];
      return std::span(points).subspan(first, offsets[r] - first);
    };
    for (LocalIndex r = 0; r < n_rows; ++r) {
      require(!points_of(r).empty(), "a row without points");
      if constexpr (!std::is_same_v<Key, ByNumber>)
        std::sort(points_of(r).begin(), points_of(r).end(),
                  [&](LocalIndex a, LocalIndex b) { return key(a) < key(b); });
    }
    IndexListsBuilder lists(n_rows);
    const auto add = [&](LocalIndex row) {
      lists.add(points_of(row).data(), static_cast<LocalIndex>(points_of(row).size()));
    };
    // Not on a GPU: there, threads of neighbouring rows should read neighbouring points.
    if (is_host_device && border != no_border) {
      const std::vector<LocalIndex> order = order_of_alike_lists(n_rows, border, points_of);
      for (const LocalIndex row : order) add(row);
      m_rows = to_device("nekbone_k: order of rows", order);
    } else {
      for (LocalIndex row = 0; row < n_rows; ++row) add(row);
    }
    m_row_points = lists.to_device("nekbone_k: row points");
  }

  LocalIndex n_rows() const { return m_n_rows; }
  LocalIndex n_points() const { return m_n_points; }
  /// Number of points that belong to a row.
  LocalIndex n_joined_points() const { return m_n_joined_points; }
  /// Minimum traffic of gather() over all rows, in bytes: one value of type T per point and per
  /// row, and the lists of points.
  template <class T = double>
  double least_bytes() const {
    return double{sizeof(T)} * (double{1} * m_n_joined_points + m_n_rows) +
           m_row_points.least_bytes() +
           double{sizeof(LocalIndex)} * static_cast<double>(m_rows.extent(0));
  }

  /// rows(r) = the combination of the points of row r, for r in [begin, end). With Reduction::add
  /// this is Qᵀ. Shapes, in device memory: points (n_points, components), rows (>= end,
  /// components). Runs in `stream`; returns before the kernel ends.
  template <class T>
  void gather(const DeviceField<T>& points, const DeviceField<T>& rows, Reduction op,
              LocalIndex begin, LocalIndex end, const ExecutionSpace& stream = {}) const {
    with_reduction(op, [&](auto reduction) {
      gather_with<decltype(reduction)::value>(points, rows, begin, end, stream);
    });
  }

  /// points(p) = rows(row of p), for the points of rows [begin, end). This is Q. Shapes as in
  /// gather().
  template <class T>
  void scatter(const DeviceField<T>& rows, const DeviceField<T>& points, LocalIndex begin,
               LocalIndex end) const {
    require_whole(begin, end);
    if constexpr (is_host_device)
      return for_runs("nekbone_k: scatter", begin, end, ExecutionSpace(), [=](const Run& run) {
        for (std::size_t c = 0; c < points.extent(1); ++c)
          with_entries(run, &rows(0, c),
                       [&](const auto& from) { spread_run(run, from, &points(0, c)); });
      });
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

  /// gather() and scatter() of rows [begin, end) in one pass over the points.
  template <class T>
  void gather_scatter(const DeviceField<T>& points, Reduction op, LocalIndex begin,
                      LocalIndex end) const {
    with_reduction(op, [&](auto reduction) {
      gather_scatter_with<decltype(reduction)::value>(points, begin, end);
    });
  }

  /// gather_scatter() with the operation as a type. Public because nvcc rejects kernels in private
  /// members.
  template <Reduction op, class T>
  void gather_scatter_with(const DeviceField<T>& points, LocalIndex begin, LocalIndex end) const {
    if constexpr (is_host_device)
      return for_runs("nekbone_k: gather-scatter", begin, end, ExecutionSpace(),
                      [=](const Run& run) {
                        for (std::size_t c = 0; c < points.extent(1); ++c)
                          combine_and_spread_run<op>(run, &points(0, c));
                      });
    const auto row_points = m_row_points.reader();
    const int components = static_cast<int>(points.extent(1));
    Kokkos::parallel_for(
        "nekbone_k: gather-scatter", Kokkos::RangePolicy<ExecutionSpace>(begin, end),
        KOKKOS_LAMBDA(const LocalIndex r) {
          const IndexList row = row_points(r);
          for (int c = 0; c < components; ++c) {
            T value = points(row.base, c);
            for (LocalIndex i = 1; i < row.count(); ++i)
              value = combine<op>(value, points(row[i], c));
            for (LocalIndex i = 0; i < row.count(); ++i) points(row[i], c) = value;
          }
        });
  }

  /// gather() with the operation as a type. Public because nvcc rejects kernels in private members.
  template <Reduction op, class T>
  void gather_with(const DeviceField<T>& points, const DeviceField<T>& rows, LocalIndex begin,
                   LocalIndex end, const ExecutionSpace& stream) const {
    require_whole(begin, end);
    if constexpr (is_host_device)
      return for_runs("nekbone_k: gather", begin, end, stream, [=](const Run& run) {
        for (std::size_t c = 0; c < points.extent(1); ++c)
          with_entries(run, &rows(0, c),
                       [&](const auto& to) { combine_run<op>(run, &points(0, c), to); });
      });
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
  /// Throws InternalError if rows [begin, end) cross the border.
  void require_whole(LocalIndex begin, LocalIndex end) const {
    const auto is_end = [&](LocalIndex row) {
      return row == 0 || row == m_border || row == m_n_rows;
    };
    if (m_border != no_border && !(is_end(begin) && is_end(end)))
      throw InternalError("rows across a border");
  }

  // A CPU kernel handles one run of rows at a time. A run reads and writes a few contiguous pieces,
  // so that its loops compile to SIMD instructions. A GPU kernel handles one row per thread.

  /// n rows: first, first + 1, … or, if `rows` is not null, rows[0], rows[1], … The points of the
  /// r-th lie r * stride behind those of the first. If stride is 0, they lie bases[r] - points.base
  /// behind.
  struct Run {
    LocalIndex first, n, stride;
    IndexList points;
    const LocalIndex* bases;  ///< first point of each row; needed if stride is 0
    const LocalIndex* rows;

    /// Rows [from, from + count) of this run, which must have a stride.
    Run part(LocalIndex from, LocalIndex count) const {
      return {first + from, count,
              stride,       {points.base + from * stride, points.pattern},
              bases,        rows == nullptr ? nullptr : rows + from};
    }
  };

  /// Calls action(run) for each run of rows in [begin, end).
  template <class Action>
  void for_runs(const std::string& label, LocalIndex begin, LocalIndex end,
                const ExecutionSpace& stream, const Action& action) const {
    if (begin >= end) return;
    const LocalIndex* const rows = m_rows.extent(0) == 0 ? nullptr : m_rows.data();
    const auto runs = m_row_points.runs();
    const auto row_points = m_row_points.reader();
    const auto run_of = [&](LocalIndex row) {
      const auto* const after =
          std::upper_bound(runs.data(), runs.data() + runs.extent(0), row,
                           [](LocalIndex r, const IndexLists::Run& run) { return r < run.first; });
      return after - runs.data() - 1;
    };
    const Kokkos::RangePolicy<ExecutionSpace> all(stream, run_of(begin), run_of(end - 1) + 1);
    Kokkos::parallel_for(label, all, [=](const LocalIndex run) {
      const LocalIndex first = std::max(runs(run).first, begin),
                       last = std::min(runs(run).end, end);
      const LocalIndex n = last - first;
      Run taken{first, n, runs(run).stride, row_points(first), row_points.bases + first, nullptr};
      if (rows != nullptr) {
        // Rows of a run ascend.
        const bool are_consecutive = rows[last - 1] - rows[first] == n - 1;
        taken.first = rows[first];
        taken.rows = are_consecutive ? nullptr : rows + first;
      }
      action(taken);
    });
  }

  /// Values of rows in any order.
  template <class T>
  struct Picked {
    T* values;
    const LocalIndex* rows;
    T& operator[](LocalIndex r) const { return values[rows[r]]; }
  };

  /// Calls work(entries), where entries[r] is the value of the run's r-th row, a T* or a Picked<T>.
  template <class T, class Work>
  static void with_entries(const Run& run, T* values, const Work& work) {
    if (run.rows == nullptr) {
      work(values + run.first);
    } else {
      work(Picked<T>{values, run.rows});
    }
  }

  /// Calls work(r, distance) for each row of the run. `distance` is the offset of its points from
  /// those of the first row.
  template <class Work>
  static void for_rows(const Run& run, const Work& work) {
    if (run.stride != 0) {
      for (LocalIndex r = 0; r < run.n; ++r) work(r, r * run.stride);
    } else {
      for (LocalIndex r = 0; r < run.n; ++r) work(r, run.bases[r] - run.points.base);
    }
  }

  /// Whether SIMD pays for loops over the run.
  static bool is_simd_run(const Run& run) { return run.stride == 1 && run.n >= 16; }

  /// Calls action(distances) with the distances of the points of a row from its first point. Faces,
  /// edges and corners of the elements of a box have 2, 4 or 8 points; on a face between ranks, a
  /// rank has half of them. For these, `distances` is an array of that size, so that loops over it
  /// unroll.
  template <class Action>
  static void with_distances(const IndexList& points, const Action& action) {
    const auto copied = [&]<std::size_t count>(std::array<LocalIndex, count> distances) {
      for (std::size_t i = 0; i < count; ++i) distances[i] = points.pattern[1 + i];
      action(distances);
    };
    switch (points.count()) {
      case 1:
        return copied(std::array<LocalIndex, 1>());
      case 2:
        return copied(std::array<LocalIndex, 2>());
      case 4:
        return copied(std::array<LocalIndex, 4>());
      case 8:
        return copied(std::array<LocalIndex, 8>());
      default:
        return action(std::span(points.pattern + 1, points.count()));
    }
  }

  /// Combines the points of one row in their order; `one` is the first point.
  template <Reduction op, class T, class Distances>
  static T combine_row(const T* one, const Distances& distances) {
    T value = *one;
    for (std::size_t i = 1; i < distances.size(); ++i)
      value = combine<op>(value, one[distances[i]]);
    return value;
  }
  template <class T, class Distances>
  static void spread_row(T value, T* one, const Distances& distances) {
    for (const LocalIndex distance : distances) one[distance] = value;
  }

  /// to[r] = the combination of the points of the run's r-th row; `to` as with_entries() has it.
  template <Reduction op, class T, class Entries>
  static void combine_run(const Run& run, const T* KOKKOS_RESTRICT points, const Entries& to) {
    with_distances(run.points, [&](const auto& distances) {
      const T* const first = points + run.points.base;
      if constexpr (std::is_pointer_v<Entries>) {
        if (is_simd_run(run)) {
          T* KOKKOS_RESTRICT const values = to;
          for (LocalIndex r = 0; r < run.n; ++r) values[r] = first[r];
          for (std::size_t i = 1; i < distances.size(); ++i) {
            const T* const other = first + distances[i];
            for (LocalIndex r = 0; r < run.n; ++r) values[r] = combine<op>(values[r], other[r]);
          }
          return;
        }
      }
      for_rows(run, [&](LocalIndex r, LocalIndex distance) {
        to[r] = combine_row<op>(first + distance, distances);
      });
    });
  }

  /// Every point of the run's r-th row = from[r]; `from` as with_entries() has it.
  template <class T, class Entries>
  static void spread_run(const Run& run, const Entries& from, T* KOKKOS_RESTRICT points) {
    with_distances(run.points, [&](const auto& distances) {
      T* const first = points + run.points.base;
      if constexpr (std::is_pointer_v<Entries>) {
        if (is_simd_run(run)) {
          const T* KOKKOS_RESTRICT const values = from;
          for (const LocalIndex distance : distances)
            for (LocalIndex r = 0; r < run.n; ++r) first[distance + r] = values[r];
          return;
        }
      }
      for_rows(run, [&](LocalIndex r, LocalIndex distance) {
        spread_row(from[r], first + distance, distances);
      });
    });
  }

  /// Sets every point of each row of the run to the combination of the points of that row.
  template <Reduction op, class T>
  static void combine_and_spread_run(const Run& run, T* points) {
    constexpr LocalIndex at_once = 64;
    if (is_simd_run(run)) {
      std::array<T, at_once> values;
      for (LocalIndex from = 0; from < run.n; from += at_once) {
        const Run part = run.part(from, std::min(at_once, run.n - from));
        combine_run<op>(part, points, values.data());
        spread_run(part, values.data(), points);
      }
    } else {
      with_distances(run.points, [&](const auto& distances) {
        for_rows(run, [&](LocalIndex, LocalIndex distance) {
          T* const one = points + run.points.base + distance;
          spread_row(combine_row<op>(one, distances), one, distances);
        });
      });
    }
  }

  LocalIndex m_n_rows, m_n_points, m_n_joined_points = 0, m_border;
  IndexLists m_row_points;          ///< of rows in the order of work
  DeviceVector<LocalIndex> m_rows;  ///< the order of work; empty if it is that of their numbers
};

}  // namespace nekbone_k
