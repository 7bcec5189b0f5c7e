// SPDX-License-Identifier: BSD-3-Clause
#include "report/report_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "core/file_lock.hpp"
#include "core/whole_file.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

/// Opens the folder of a report. Returns a negative number if that fails or if the report exists
/// and is not a regular file.
int open_folder_of(const fs::path& report) {
  std::error_code error;
  if (fs::exists(report, error) && !fs::is_regular_file(report, error)) return -1;
  const fs::path folder = report.has_parent_path() ? report.parent_path() : fs::path(".");
  return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// The byte of the folder to lock for a file of this name.
struct flock part_of(const fs::path& report, short type) {
  struct flock part {};
  part.l_type = type;
  part.l_whence = SEEK_SET;
  part.l_start = static_cast<off_t>(hash_of(report.filename().string()) >> 2);
  part.l_len = 1;
  return part;
}

/// Whether another process has a lock on that byte.
bool has_other_owner([[maybe_unused]] int folder, [[maybe_unused]] const fs::path& report) {
#ifdef F_OFD_GETLK
  struct flock part = part_of(report, F_WRLCK);  // conflicts with any other lock
  return fcntl(folder, F_OFD_GETLK, &part) == 0 && part.l_type != F_UNLCK;
#else
  return false;
#endif
}

}  // namespace

ReportLock::ReportLock(const std::string& report) {
#ifdef F_OFD_SETLK
  const fs::path file = behind_links(report);
  m_folder = open_folder_of(file);
  if (m_folder < 0) return;
  // A folder cannot be opened for writing, so only shared locks are possible. Under the lock of the
  // whole folder, each process checks that no other has a shared lock, then takes one.
  constexpr double patience = 1;
  lock_file(m_folder, patience);
  m_is_elsewhere = has_other_owner(m_folder, file);
  if (!m_is_elsewhere) {
    struct flock part = part_of(file, F_RDLCK);
    static_cast<void>(fcntl(m_folder, F_OFD_SETLK, &part));
  }
  flock(m_folder, LOCK_UN);
#else
  static_cast<void>(report);
#endif
}

ReportLock::~ReportLock() {
  if (m_folder >= 0) close(m_folder);
}

bool ReportLock::is_taken(const std::string& report) {
  const fs::path file = behind_links(report);
  const int folder = open_folder_of(file);
  if (folder < 0) return false;
  const bool taken = has_other_owner(folder, file);
  close(folder);
  return taken;
}

}  // namespace nekbone_k
