// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The table of input keys as text, for people and for the files that ci/update-keys.sh updates.
/// Nothing here is collective.
#pragma once

#include <string>

#include "input/case.hpp"

namespace nekbone_k {

/// The help text for a key, or for a section and all its keys: path, type, allowed values, default
/// and meaning. Throws InputError with the nearest key if the path is unknown.
std::string help_on_key(const std::string& path);

/// An input file for `run` with all keys. Comments give their meaning, allowed values and defaults.
std::string keys_as_yaml(const Case& run);

/// All keys as Markdown lists, for docs/input.md.
std::string keys_as_markdown();

/// The JSON schema of the input. `report`, for docs/report.schema.json: every key is required, and
/// lists are lists. `file`, for editors: any key may be missing, and a single value may replace a
/// list.
enum class SchemaOf { report, file };
std::string keys_as_schema(SchemaOf);

}  // namespace nekbone_k
