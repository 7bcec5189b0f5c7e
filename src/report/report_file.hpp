// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The file of a JSON report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nekbone_k {

/// The file of a JSON report, written completely or not at all. Only rank 0 makes one.
///
/// Uses replace_file(), so an earlier report stays unchanged until the new one replaces it. Writes
/// directly to a device or pipe.
class ReportFile {
 public:
  /// Checks that the report can be written, by creating and removing its temporary file. A killed
  /// run thus leaves nothing behind. Throws InputError if the check fails.
  explicit ReportFile(std::string path);
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  /// Writes the report. Throws OutputError if that fails, e.g. on a full disk. The error says what
  /// the file contains then.
  void write(const nlohmann::ordered_json& report);
  /// Writes a preliminary report that write() replaces later. Does nothing for a device or pipe.
  /// Ignores failures, because write() will report them.
  void write_for_now(const nlohmann::ordered_json& report);

 private:
  /// What the file contains before write().
  enum class Standing { nothing, earlier, unfinished };

  std::string m_path;        ///< as given, for messages
  std::string m_target;      ///< with symbolic links resolved
  bool m_is_device = false;  ///< the target is a device or pipe
  Standing m_stands_there = Standing::nothing;
};

}  // namespace nekbone_k
