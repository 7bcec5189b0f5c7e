/// @file
/// Files that are kept between runs, at paths that users give.
#pragma once

#include <string>

namespace nekbone_k {

/// Why what is at `path` must be neither read, as it may have no end, nor replaced: "it is no
/// regular file" but a folder or a device. Empty where it is one, or there is nothing.
std::string why_not_a_file(const std::string& path);

}  // namespace nekbone_k
