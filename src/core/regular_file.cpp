// SPDX-License-Identifier: BSD-3-Clause
#include "core/regular_file.hpp"

#include <filesystem>

namespace nekbone_k {

std::string why_not_a_file(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return {};
  return "it is no regular file";
}

}  // namespace nekbone_k
