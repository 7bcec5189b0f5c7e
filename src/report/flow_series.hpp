// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The time series of a flow: its file, and a reference to compare with.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "report/flow_record.hpp"

namespace nekbone_k {

/// A CSV file of rows, each written at once. Only rank 0 makes one.
class SeriesFile {
 public:
  /// Begins the file or, with `goes_on_after`, keeps its rows up to that step. Throws InputError if
  /// it cannot be written.
  explicit SeriesFile(const std::string& path, std::optional<int> goes_on_after = {});
  /// Why a file at `path` could not be begun; empty if it could. Leaves the file as it is.
  static std::string why_not(const std::string& path);
  /// Adds a row. A failure is kept, because it must not end the run.
  void add(const FlowRow& row);
  /// Why rows are missing; empty if none is.
  std::string complaint() const;

 private:
  std::string m_path;
  std::ofstream m_file;
};

/// The enstrophy of a flow over time, from elsewhere.
class FlowReference {
 public:
  /// From a text with lines of time, energy, dissipation and enstrophy, separated by blanks or
  /// commas, times ascending; `#` begins a comment. Throws InputError about `source` if there is
  /// another line, or fewer than four. The enstrophy must be positive.
  FlowReference(const std::string& text, const std::string& source);

  /// The enstrophy at a time by cubic interpolation; nothing outside the times given.
  std::optional<double> enstrophy(double time) const;

 private:
  std::vector<double> m_times, m_enstrophy;
};

}  // namespace nekbone_k
