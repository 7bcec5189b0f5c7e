/// @file
/// YAML text as a tree that remembers where each value was written. Nothing here is collective.
#pragma once

#include <string>
#include <vector>

namespace nekbone_k {

/// A value of YAML text.
struct YamlValue {
  enum class Kind { nothing, scalar, list, mapping };

  Kind kind = Kind::nothing;
  std::string where;             ///< "file:line" of the key or list item, "file", or "--set TEXT"
  std::string key;               ///< under which the mapping around it holds it
  std::string text;              ///< of a scalar
  bool quoted = false;           ///< a scalar that is text even if it looks like a number
  std::vector<YamlValue> items;  ///< of a list or a mapping, as written

  /// The value of a mapping's key, or nullptr.
  const YamlValue* find(const std::string& wanted) const;
};

/// The one document in `text`, a mapping. `source` stands for the file in messages. Aliases are
/// resolved. Throws InputError if it is not YAML, empty, no mapping, several documents, or has a
/// key twice in one mapping.
YamlValue parse_yaml(const std::string& text, const std::string& source);

/// Does what `--set key.path=value` asks for: the value, itself YAML, takes the place of what
/// `root` has at that path. A mapping changes the keys it names and leaves the others. Throws
/// InputError if `assignment` is malformed or its path leads through a value that is no mapping.
void apply_override(YamlValue& root, const std::string& assignment);

/// What was given, for a message: "'40'", "a list of 2", "a mapping", "nothing".
std::string describe(const YamlValue& value);

/// `text` on one line and not too long for a message.
std::string printable(const std::string& text);

}  // namespace nekbone_k
