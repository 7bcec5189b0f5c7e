// SPDX-License-Identifier: BSD-3-Clause
#include "core/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// A new file in a folder. `file` is negative, with errno set, if it cannot be created.
struct NewFile {
  std::string name;
  int file = -1;
};

NewFile make_file(const fs::path& folder) {
  // The name may exist: a process of another container may have the same id, and a killed process
  // may have left its file. The name is short, because the final name may have the maximum length.
  constexpr int most_tries = 1000;
  NewFile made;
  for (int attempt = 0; attempt < most_tries; ++attempt) {
    made.name = (folder / fmt::format(".nekbone-k-{}-{}.tmp", getpid(), attempt)).string();
    made.file = open(made.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made.file >= 0 || errno != EEXIST) break;
  }
  return made;
}

bool write_whole(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return true;
}

/// Success also if the file system does not support fsync().
bool flush_to_disk(int file) {
  return fsync(file) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP;
}

/// Why a file must not take the place of `target`: a rename would replace a device or a pipe.
std::string why_not_a_file(const std::string& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) return std::strerror(EISDIR);
  return fs::exists(status) && !fs::is_regular_file(status) ? "it is no regular file" : "";
}

}  // namespace

std::string behind_links(const std::string& path) {
  constexpr int most_links = 40;  // as in the kernel
  fs::path target = path;
  std::error_code error;
  for (int link = 0; link < most_links && fs::is_symlink(target, error); ++link) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = folder_of(target) / next;  // `next` if that is absolute
  }
  return target.string();
}

std::string replace_file(const std::string& path, const std::string& text, Flush flush) {
  const std::string target = behind_links(path);
  if (std::string why = why_not_a_file(target); !why.empty()) return why;
  const NewFile made = make_file(folder_of(target));
  if (made.file < 0) return std::strerror(errno);
  bool good = write_whole(made.file, text) && (flush == Flush::no || flush_to_disk(made.file));
  int reason = errno;
  if (close(made.file) != 0 && good) {
    reason = errno;
    good = false;
  }
  if (good && std::rename(made.name.c_str(), target.c_str()) == 0) return {};
  if (good) reason = errno;
  unlink(made.name.c_str());
  return std::strerror(reason);
}

std::string why_not_replaceable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::none) return error.message();  // e.g. the name is too long
  const std::string target = behind_links(path);
  if (std::string why = why_not_a_file(target); !why.empty()) return why;
  const NewFile made = make_file(folder_of(target));
  if (made.file < 0) return std::strerror(errno);
  close(made.file);
  unlink(made.name.c_str());
  return {};
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t value = 14695981039346656037U;
  for (const unsigned char byte : text) value = (value ^ byte) * 1099511628211U;
  return value;
}

std::string beside(const std::string& path, const std::string& suffix) {
  const fs::path folder = folder_of(path);
  const std::string name = fs::path(path).filename().string();
  const long most = pathconf(folder.c_str(), _PC_NAME_MAX);
  if (name.size() + suffix.size() <= static_cast<std::size_t>(most > 0 ? most : NAME_MAX))
    return path + suffix;
  return (folder / fmt::format(".nekbone-k-{:016x}{}", hash_of(name), suffix)).string();
}

}  // namespace nekbone_k
