// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Files at user-given paths that are kept between runs.
#pragma once

#include <string>

namespace nekbone_k {

/// Why the program must neither read nor replace `path`: "it is no regular file" for e.g. a folder
/// or a device, which may have no end. Empty if it is a regular file or if nothing exists there.
std::string why_not_a_file(const std::string& path);

}  // namespace nekbone_k
