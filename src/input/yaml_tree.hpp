// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// YAML text as a tree with the place of each value. Nothing here is collective.
#pragma once

#include <string>
#include <vector>

namespace nekbone_k {

/// A value of YAML text.
struct YamlValue {
  enum class Kind { nothing, scalar, list, mapping };

  Kind kind = Kind::nothing;
  std::string where;             ///< "file:line" of the key or list item, "file", or "--set TEXT"
  std::string key;               ///< its key in the enclosing mapping
  std::string text;              ///< of a scalar
  bool quoted = false;           ///< a scalar in quotes: text even if it looks like a number
  std::vector<YamlValue> items;  ///< of a list or a mapping, as written

  /// The value of a mapping's key, or nullptr.
  const YamlValue* find(const std::string& wanted) const;
};

/// Parses `text`, which must be one document with a mapping, and resolves aliases. `source` is the
/// name of the file in messages. Throws InputError if `text` is not YAML, is empty, is not a
/// mapping, has several documents, or repeats a key in a mapping.
YamlValue parse_yaml(const std::string& text, const std::string& source);

/// Applies `--set key.path=value`: replaces the value at that path in `root` by the given YAML
/// value. A mapping replaces only the keys that it has. Throws InputError if `assignment` is
/// malformed or if its path leads through a value that is not a mapping.
void apply_override(YamlValue& root, const std::string& assignment);

/// Describes a given value for a message: "'40'", "a list of 2", "a mapping" or "nothing".
std::string describe(const YamlValue& value);

/// `text` on one line, shortened for a message.
std::string printable(const std::string& text);

}  // namespace nekbone_k
