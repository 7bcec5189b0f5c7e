/// @file
/// The file of a JSON report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nekbone_k {

/// A JSON report that appears whole or not at all. Only rank 0 makes one.
///
/// It is written to a temporary file `.NAME.PID.tmp` in the same folder, then renamed; a report
/// that was there before stays as it was until then. A device or pipe is written to without
/// renaming.
class ReportFile {
 public:
  /// Checks that the report can be written by creating its temporary file and removing it again, so
  /// that a run that is killed leaves nothing behind; throws InputError if it cannot.
  explicit ReportFile(std::string path);
  /// Removes the temporary file if write() failed half-way.
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  /// Writes the temporary file and renames it to the path. Throws OutputError if that fails, as on
  /// a full disk.
  void write(const nlohmann::ordered_json& report);
  /// The same for a report that write() will replace: not to a device or pipe, and a failure is
  /// left to write() to tell.
  void write_for_now(const nlohmann::ordered_json& report);

 private:
  std::string m_path;       ///< as given, for messages
  std::string m_target;     ///< the file behind symbolic links
  std::string m_temporary;  ///< empty: the target is a device or pipe
  bool m_written = false;
};

}  // namespace nekbone_k
