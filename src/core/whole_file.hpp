// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Replaces files as a whole, and names files beside them.
#pragma once

#include <cstdint>
#include <string>

namespace nekbone_k {

/// Whether replace_file() flushes the file to disk before it renames it. Some file systems report a
/// full disk only then. A flush may take a tenth of a second.
enum class Flush { no, yes };

/// The file that `path` names behind symbolic links. It need not exist.
std::string behind_links(const std::string& path);

/// Replaces the file at behind_links(path) with one that holds `text`: writes a new file in the
/// same folder, then renames it. Returns an empty string, or the reason of a failure, which leaves
/// the old file unchanged.
std::string replace_file(const std::string& path, const std::string& text, Flush flush = Flush::no);

/// Why replace_file(path) would fail before it writes; empty if it would not. Creates and removes a
/// file to find out.
std::string why_not_replaceable(const std::string& path);

/// FNV-1a hash of a text; the same on every machine.
std::uint64_t hash_of(const std::string& text);

/// The name `path` + `suffix`. If that is too long for the folder, a shorter name that is the same
/// in every job.
std::string beside(const std::string& path, const std::string& suffix);

}  // namespace nekbone_k
