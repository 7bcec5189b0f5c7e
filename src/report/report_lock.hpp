// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A lock that keeps two runs from writing the same report.
#pragma once

#include <string>

namespace nekbone_k {

/// Reserves a report for one run on this host while the object lives, even if the file is replaced.
/// Only rank 0 makes one.
///
/// Locks a byte of the folder, chosen by the name of the report. The system releases the lock
/// however the process ends, and no file remains. Locks nothing if the report is a device or pipe,
/// or if the system lacks open file description locks.
class ReportLock {
 public:
  /// Takes the lock, unless another run has it.
  explicit ReportLock(const std::string& report);
  ~ReportLock();
  ReportLock(const ReportLock&) = delete;
  ReportLock& operator=(const ReportLock&) = delete;

  /// Whether another run has the lock.
  bool is_elsewhere() const { return m_is_elsewhere; }

  /// Whether a run has the lock now. Does not take it.
  static bool is_taken(const std::string& report);

 private:
  int m_folder = -1;
  bool m_is_elsewhere = false;
};

}  // namespace nekbone_k
