// Looks for a part of what users are shown.
#pragma once

#include <string>

namespace nekbone_k {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace nekbone_k
