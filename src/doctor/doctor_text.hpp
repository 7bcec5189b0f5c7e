// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Doctor's output on the terminal, at most report_width columns wide.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/doctor_record.hpp"

namespace nekbone_k {

/// The machine and the build. Printed before any test.
std::string doctor_header_text(const DoctorRecord& record);
/// Explains the transfers and shows what MPI claims. Printed before the first transfer.
std::string probe_header_text(const DoctorRecord& record);
/// The results of the transfers.
std::string probe_result_text(const MpiProbe& probe);
std::string findings_text(const std::vector<Finding>& findings);

/// Rows of the transfers, printed while they run: one line per size, with the offsets in it. If the
/// job crashes, the last text on the terminal names the transfer that crashed.
class ProbeRows {
 public:
  std::string before(const ProbeEntry& entry);
  std::string after(const ProbeEntry& entry);
  /// Text to print after the last transfer.
  std::string end();

 private:
  std::string end_path();

  std::optional<ProbeEntry> m_last;
  std::vector<ProbeEntry> m_path;  ///< entries of the current place and memory, first offset
  std::size_t m_padding = 0;       ///< blanks to the next column
};

/// A line "  name      yes", "  name      not here: why" or "  name      WRONG: what". The first
/// part is printed before the test, the second after it.
std::string attempt_text(const std::string& name);
std::string attempt_result_text(const Availability& result);

}  // namespace nekbone_k
