/// @file
/// How what doctor finds out looks on a terminal: at most report_width columns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/doctor_record.hpp"

namespace nekbone_k {

/// The place, and the memory where that is not what kernels use.
std::string name(const ProbeEntry& path);

/// What MPI says of itself, and what was asked: "MPIX_Query_cuda_support says: GPU-aware".
std::string claim_text(const MpiClaim& claim);
/// Which transfer failed, and how.
std::string failure_text(const ProbeEntry& entry);

/// Where and with what: first part, known before anything is tried.
std::string doctor_header_text(const DoctorRecord& record);
/// What the transfers are and what MPI claims, before the first of them.
std::string probe_header_text(const DoctorRecord& record);
/// What the transfers came to.
std::string probe_result_text(const MpiProbe& probe);
std::string findings_text(const std::vector<Finding>& findings);

/// The transfers as they are tried: a line for each size, in it the offsets. What stands last on
/// the terminal is what was tried last, should the job crash.
class ProbeRows {
 public:
  std::string before(const ProbeEntry& entry);
  std::string after(const ProbeEntry& entry);
  /// What is left to print behind the last transfer.
  std::string end();

 private:
  std::string end_path();

  std::optional<ProbeEntry> m_last;
  std::vector<ProbeEntry> m_path;  ///< those of the place and memory at hand, first offset
  std::size_t m_padding = 0;       ///< blanks to the next column
};

/// A line "  name      yes", "  name      not here: why" or "  name      WRONG: what", in two
/// parts: what is tried, and what came of it.
std::string attempt_text(const std::string& name);
std::string attempt_result_text(const Availability& result);

}  // namespace nekbone_k
