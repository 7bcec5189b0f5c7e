// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/errors.hpp"
#include "core/whole_file.hpp"
#include "report/report_file.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

constexpr const char* fix =
    "; give a file name in a folder you can write to, with report.json in the input or --report";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InputError("cannot write the report '" + path + "': " + why + fix);
}

/// Writes to a device or pipe. Returns why that failed, or nothing.
std::string write_into(const std::string& path, const std::string& text) {
  // Do not wait for a named pipe to get a reader.
  const int opened = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (opened < 0) return errno == ENXIO ? "nothing reads this pipe" : std::strerror(errno);
  fcntl(opened, F_SETFL, 0);  // but wait for a slow reader
  std::FILE* const file = fdopen(opened, "w");
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int reason = errno;
  if (file != nullptr && std::fclose(file) != 0) {  // flushes, so most failures occur here
    if (good) reason = errno;
    good = false;
  }
  return good ? "" : std::strerror(reason);
}

}  // namespace

ReportFile::ReportFile(std::string path) : m_path(std::move(path)) {
  if (m_path.empty()) refuse(m_path, "the name is empty");
  m_target = behind_links(m_path);
  const fs::path target = m_target;
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status) || !target.has_filename()) refuse(m_path, "it names a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    // Renaming a file to /dev/null, for example, would replace the device.
    if (access(target.c_str(), W_OK) != 0) refuse(m_path, std::strerror(errno));
    m_is_device = true;
    return;
  }
  if (fs::exists(status)) {
    // Renaming could replace a write-protected file, which somebody wants to keep.
    if (access(target.c_str(), W_OK) != 0)
      refuse(m_path, std::string("the file cannot be written: ") + std::strerror(errno));
    m_stands_there = Standing::earlier;
  }

  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const fs::file_status folder_status = fs::status(folder, error);
  if (folder_status.type() == fs::file_type::not_found)
    refuse(m_path, "the folder '" + folder.string() + "' does not exist");
  if (fs::exists(folder_status) && !fs::is_directory(folder_status))
    refuse(m_path, "'" + folder.string() + "' is not a folder");
  if (const std::string why = why_not_replaceable(m_target); !why.empty()) refuse(m_path, why);
}

void ReportFile::write_for_now(const nlohmann::ordered_json& report) {
  if (m_is_device) return;
  try {
    write(report);
    m_stands_there = Standing::unfinished;
  } catch (const OutputError&) {
  }
}

void ReportFile::write(const nlohmann::ordered_json& report) {
  // Host names and library versions need not be UTF-8.
  const std::string text =
      report.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  const std::string why =
      m_is_device ? write_into(m_target, text) : replace_file(m_target, text, Flush::yes);
  if (why.empty()) return;
  const char* const rest =
      m_stands_there == Standing::earlier
          ? "the older file is unchanged; use the printed report of this run"
      : m_stands_there == Standing::unfinished
          ? "the file holds this run only up to its solution; the printed report has the rest"
          : "use the printed report of this run";
  throw OutputError("cannot write the report '" + m_path + "': " + why + "; " + rest);
}

}  // namespace nekbone_k
