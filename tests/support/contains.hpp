// SPDX-License-Identifier: BSD-3-Clause
// Searches text that users see.
#pragma once

#include <regex>
#include <string>

namespace nekbone_k {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The same, wherever lines of the text break.
inline bool contains_words(const std::string& text, const std::string& part) {
  return contains(std::regex_replace(text, std::regex("\\s+"), " "), part);
}

}  // namespace nekbone_k
