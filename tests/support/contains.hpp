// SPDX-License-Identifier: BSD-3-Clause
// Searches text that users see.
#pragma once

#include <string>

namespace nekbone_k {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace nekbone_k
