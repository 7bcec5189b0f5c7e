// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A small sparse matrix of one rank.
#pragma once

#include <string>
#include <vector>

#include "core/types.hpp"

namespace nekbone_k {

/// A matrix in compressed rows, in device memory. Rows without entries give 0.
template <class T>
class SparseRows {
 public:
  /// Rows are added in order, then moved to device memory.
  struct Builder {
    std::vector<LocalIndex> ends, columns;
    std::vector<T> values;

    void add(LocalIndex column, double value) {
      columns.push_back(column);
      values.push_back(static_cast<T>(value));
    }
    void end_row() { ends.push_back(static_cast<LocalIndex>(columns.size())); }
  };

  SparseRows() = default;
  explicit SparseRows(const Builder& rows)
      : m_ends(to_device("nekbone_k: ends of rows", rows.ends)),
        m_columns(to_device("nekbone_k: columns", rows.columns)),
        m_values(to_device("nekbone_k: values of rows", rows.values)) {}

  /// y(row) = Σ value · x(column), for all rows, in an order that depends only on the row. Device
  /// memory.
  void multiply(const std::string& label, const ConstDeviceVector<T>& x,
                const DeviceVector<T>& y) const;

 private:
  DeviceVector<LocalIndex> m_ends, m_columns;
  DeviceVector<T> m_values;
};

}  // namespace nekbone_k
