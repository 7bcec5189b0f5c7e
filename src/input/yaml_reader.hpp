// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Typed, checked access to a YAML mapping by the rules of rules.hpp. Every failure is an
/// InputError with place, key, given value and allowed values. Nothing here is collective.
#pragma once

#include <array>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "input/rules.hpp"
#include "input/yaml_tree.hpp"

namespace nekbone_k {

/// Reads the keys of one mapping. `read` leaves `value`, the default, unchanged if the key is not
/// given. After reading all keys, call reject_unknown_keys().
class YamlReader {
 public:
  /// Reads the top level of `root`, a mapping that outlives the reader.
  explicit YamlReader(const YamlValue& root);

  /// The reader of the mapping under `key`, which has no keys if `key` is not given. Returns the
  /// same reader each time. It lives as long as this one.
  YamlReader& section(const std::string& key);

  /// Reads one value.
  template <class Rule>
  void read(const std::string& key, typename Rule::Value& value, const Rule& rule) {
    if (const YamlValue* given = find(key)) value = accept(key, *given, rule);
  }

  /// Reads one value per direction, or a single value for all three.
  template <class Rule>
  void read(const std::string& key, std::array<typename Rule::Value, 3>& values, const Rule& rule) {
    const YamlValue* given = find(key);
    if (!given) return;
    if (given->kind == YamlValue::Kind::scalar) {
      values.fill(accept_one(key, *given, rule, values.size()));
      return;
    }
    if (given->kind != YamlValue::Kind::list || given->items.size() != values.size())
      reject(key, *given, allowed_by(rule, values));
    for (std::size_t d = 0; d < values.size(); ++d) values[d] = accept(key, given->items[d], rule);
  }

  /// Reads a list of at least one value, or one value without brackets.
  template <class Rule>
  void read(const std::string& key, std::vector<typename Rule::Value>& values, const Rule& rule) {
    const YamlValue* given = find(key);
    if (!given) return;
    if (given->kind == YamlValue::Kind::scalar) {
      values = {accept_one(key, *given, rule)};
      return;
    }
    if (given->kind != YamlValue::Kind::list || given->items.empty())
      reject(key, *given, allowed_by(rule, values));
    values.clear();
    for (const YamlValue& item : given->items) values.push_back(accept(key, item, rule));
  }

  /// Where `key` was given. A later source has a greater value.
  enum class Origin { nobody, file, command_line };
  Origin origin(const std::string& key) const;

  /// The place of `key`, given or not, and its path, e.g. "x.yaml:3: mesh.epsilon".
  std::string place(const std::string& key) const;

  /// Throws InputError about `key`. `message` states the given and the allowed value.
  [[noreturn]] void fail(const std::string& key, const std::string& message) const;

  /// Throws InputError if this mapping or one of its sections has a key that was never read.
  void reject_unknown_keys() const;

 private:
  YamlReader(const YamlValue* mapping, const std::string& where, const std::string& path);

  /// The value of `key`, or nullptr. Marks the key as known.
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
  /// Accepts a scalar in place of a list of `count` values (0: any number).
  template <class Rule>
  typename Rule::Value accept_one(const std::string& key, const YamlValue& given, const Rule& rule,
                                  std::size_t count = 0) {
    const auto value = rule.convert(given);
    if (!value) reject(key, given, allowed_or_list(rule, given, count));
    return *value;
  }
  [[noreturn]] void reject(const std::string& key, const YamlValue& given,
                           const std::string& allowed) const;

  const YamlValue* m_mapping;  // null if the section is not given
  std::string m_where, m_path;
  std::vector<std::string> m_known;
  std::list<YamlReader> m_sections;
};

/// The word among `words` with the smallest edit distance from `word`: insertions, deletions,
/// replacements and swaps of neighbouring characters. Nothing if all words are too far off.
std::optional<std::string> nearest_word(const std::string& word,
                                        std::span<const std::string> words);

}  // namespace nekbone_k
