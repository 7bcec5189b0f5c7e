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

/// A JSON schema. Of the input in a report, for docs/report.schema.json: it has all keys, and lists
/// as lists. Of an input file, for editors: any key may be missing, and one value may stand for a
/// list of it.
enum class SchemaOf { report, file };
std::string keys_as_schema(SchemaOf);

}  // namespace nekbone_k
