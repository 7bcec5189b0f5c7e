// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Output on the terminal during a run.
#pragma once

#include <string>

#include "core/communicator.hpp"
#include "report/progress.hpp"
#include "report/report.hpp"

namespace nekbone_k {

/// Shows the parts of a report on stdout and the progress of a run on stderr, both on rank 0.
class Display {
 public:
  Display(const Communicator& comm, ReportDetail detail);

  Progress& progress() { return m_progress; }
  ReportDetail detail() const { return m_detail; }
  /// Prints a part of the report, unless the report is brief.
  void show(const std::string& text);
  /// Prints the last part, the only part of a brief report.
  void show_result(const std::string& text);

 private:
  void print(const std::string& text);

  bool m_is_root;
  ReportDetail m_detail;
  Progress m_progress;
};

}  // namespace nekbone_k
