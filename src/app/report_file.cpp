#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "app/report_file.hpp"
#include "core/errors.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

constexpr const char* fix =
    "; give a file name in a folder you can write to, with report.json in the input or --report";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InputError("cannot write the report '" + path + "': " + why + fix);
}

/// The file behind symbolic links, so that renaming replaces what they point at and not the link.
fs::path resolved(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  return error ? fs::path(path) : target;
}

/// Opens a new file; nullptr with errno set if that fails.
std::FILE* create(const std::string& name) {
  std::error_code error;
  fs::remove(name, error);  // of a killed run: process ids come back
  // Exclusive, so that a link that someone planted in a shared folder is not followed.
  return std::fopen(name.c_str(), "wx");
}

}  // namespace

ReportFile::ReportFile(std::string path) : m_path(std::move(path)) {
  if (m_path.empty()) refuse(m_path, "the name is empty");
  const fs::path target = resolved(m_path);
  m_target = target.string();
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status) || !target.has_filename()) refuse(m_path, "it names a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    // Renaming would replace a device such as /dev/null by a file.
    if (access(target.c_str(), W_OK) != 0) refuse(m_path, std::strerror(errno));
    return;
  }

  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const fs::file_status folder_status = fs::status(folder, error);
  if (folder_status.type() == fs::file_type::not_found)
    refuse(m_path, "the folder '" + folder.string() + "' does not exist");
  if (fs::exists(folder_status) && !fs::is_directory(folder_status))
    refuse(m_path, "'" + folder.string() + "' is not a folder");
  const std::string name =
      "." + target.filename().string() + "." + std::to_string(getpid()) + ".tmp";
  m_temporary = (folder / name).string();
  std::FILE* file = create(m_temporary);
  if (file == nullptr) refuse(m_path, std::strerror(errno));
  std::fclose(file);
  fs::remove(m_temporary, error);
}

ReportFile::~ReportFile() {
  if (m_written || m_temporary.empty()) return;
  std::error_code error;
  fs::remove(m_temporary, error);
}

void ReportFile::write_for_now(const nlohmann::ordered_json& report) {
  if (m_temporary.empty()) return;
  try {
    write(report);
  } catch (const OutputError&) {
  }
  m_written = false;
}

void ReportFile::write(const nlohmann::ordered_json& report) {
  // Host names and library versions come from outside and need not be UTF-8.
  const std::string text =
      report.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  std::FILE* file = m_temporary.empty() ? std::fopen(m_target.c_str(), "w") : create(m_temporary);
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int reason = errno;
  if (file != nullptr && std::fclose(file) != 0) {  // flushes, so this is where a full disk shows
    if (good) reason = errno;
    good = false;
  }
  if (good && !m_temporary.empty() && std::rename(m_temporary.c_str(), m_target.c_str()) != 0) {
    reason = errno;
    good = false;
  }
  if (!good)
    throw OutputError("cannot write the report '" + m_path + "': " + std::strerror(reason) +
                      "; the printed one is all there is of this run");
  m_written = true;
}

}  // namespace nekbone_k
