/// @file
/// Typed, checked access to a YAML mapping. Nothing here is collective; every failure is an
/// InputError that says where, which key, what was given and what is allowed.
#pragma once

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/yaml_tree.hpp"

namespace nekbone_k {

/// Rules say what a value may be. Each has a type Value, `convert`, which returns nothing where a
/// value is not allowed, and `allowed`, which describes what is.

/// Whole numbers from min to max, both included.
struct Integers {
  using Value = int;
  int min, max;

  std::optional<int> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
};

/// Finite numbers between two bounds. Unbounded where a bound is left out.
struct Numbers {
  using Value = double;
  std::optional<double> above{}, at_least{}, below{}, at_most{};
  std::string note{};  ///< when these bounds hold, such as "for sine"; may be empty

  std::optional<double> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
};

/// true or false.
struct Booleans {
  using Value = bool;

  std::optional<bool> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
};

/// One of a list of words.
struct Words {
  using Value = std::string;
  std::vector<std::string> words;

  std::optional<std::string> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
};

/// Text that names a file. A number, true or false is no name unless it is in quotes.
struct FileNames {
  using Value = std::string;

  std::optional<std::string> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
};

/// Reads the keys of one mapping. Each `read` leaves `value`, the default, as it is where the key
/// is not given. A key that was read is known; reject_unknown_keys() is called when all were.
class YamlReader {
 public:
  /// Reads the top level of `root`, a mapping that outlives the reader.
  explicit YamlReader(const YamlValue& root);

  /// The mapping under `key`; one without keys where it is not given. Lives as long as this reader.
  YamlReader& section(const std::string& key);

  /// One value.
  template <class Rule>
  void read(const std::string& key, typename Rule::Value& value, const Rule& rule) {
    if (const YamlValue* given = find(key)) value = accept(key, *given, rule);
  }

  /// One value for each direction, or a single one that holds for all three.
  template <class Rule>
  void read(const std::string& key, std::array<typename Rule::Value, 3>& values, const Rule& rule) {
    const YamlValue* given = find(key);
    if (!given) return;
    if (given->kind == YamlValue::Kind::scalar) {
      values.fill(accept(key, *given, rule));
      return;
    }
    if (given->kind != YamlValue::Kind::list || given->items.size() != values.size())
      reject(key, *given, list_allowed("3", rule) + ", or one for all three directions");
    for (std::size_t d = 0; d < values.size(); ++d) values[d] = accept(key, given->items[d], rule);
  }

  /// A list of at least one value, or one without brackets.
  template <class Rule>
  void read(const std::string& key, std::vector<typename Rule::Value>& values, const Rule& rule) {
    const YamlValue* given = find(key);
    if (!given) return;
    if (given->kind == YamlValue::Kind::scalar) {
      values = {accept(key, *given, rule)};
      return;
    }
    if (given->kind != YamlValue::Kind::list || given->items.empty())
      reject(key, *given, list_allowed("at least one", rule));
    values.clear();
    for (const YamlValue& item : given->items) values.push_back(accept(key, item, rule));
  }

  /// One of `choices`, by the word that `name(choice)` gives it.
  template <class Enum>
  void read_choice(const std::string& key, Enum& value, std::initializer_list<Enum> choices) {
    Words rule;
    for (const Enum choice : choices) rule.words.emplace_back(name(choice));
    std::string word = name(value);
    read(key, word, rule);
    for (const Enum choice : choices)
      if (name(choice) == word) value = choice;
  }

  /// Who gave `key`, the later the greater.
  enum class Origin { nobody, file, command_line };
  Origin origin(const std::string& key) const;

  /// Where `key` stands, or would, and its path: "x.yaml:3: mesh.epsilon".
  std::string place(const std::string& key) const;

  /// Throws about `key`; `message` says what was given and what is allowed.
  [[noreturn]] void fail(const std::string& key, const std::string& message) const;

  /// Throws if this mapping or a section of it has a key that nobody read.
  void reject_unknown_keys() const;

 private:
  YamlReader(const YamlValue* mapping, const std::string& where, const std::string& path);

  /// The value of `key`, or nullptr; it is known from now on.
  const YamlValue* find(const std::string& key);
  std::string path_of(const std::string& key) const;
  std::string hint(const std::string& unknown, std::span<const std::string> known_paths) const;
  void add_known_paths(std::vector<std::string>& paths) const;
  void reject_unknown_keys(std::span<const std::string> known_paths) const;

  template <class Rule>
  typename Rule::Value accept(const std::string& key, const YamlValue& given, const Rule& rule) {
    const auto value = rule.convert(given);
    if (!value) reject(key, given, rule.allowed(given));
    return *value;
  }
  template <class Rule>
  static std::string list_allowed(const char* length, const Rule& rule) {
    return fmt::format("a list of {}, each {}", length, rule.allowed({}));
  }
  [[noreturn]] void reject(const std::string& key, const YamlValue& given,
                           const std::string& allowed) const;

  const YamlValue* m_mapping;  // null where the section is not given
  std::string m_where, m_path;
  std::vector<std::string> m_known;
  std::list<YamlReader> m_sections;
};

/// The word among `words` with the fewest inserted, deleted, replaced or swapped neighbouring
/// characters from `word`; none where all are too far off to be meant.
std::optional<std::string> nearest_word(const std::string& word,
                                        std::span<const std::string> words);

}  // namespace nekbone_k
