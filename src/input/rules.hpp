// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Rules define the allowed values of the input. Each has
///
/// - a type Value;
/// - `convert`, which returns nothing if a value is not allowed;
/// - `allowed`, which describes the allowed values for messages and documentation;
/// - `type`, a noun for documentation;
/// - `schema`, the JSON schema of the value in a report.
///
/// Nothing here is collective.
#pragma once

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "input/yaml_tree.hpp"

namespace nekbone_k {

using Json = nlohmann::ordered_json;

/// Integers from min to max, inclusive.
struct Integers {
  using Value = int;
  int min, max;

  std::optional<int> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
  std::string type() const { return "integer"; }
  Json schema() const;
};

/// Finite numbers within optional bounds.
struct Numbers {
  using Value = double;
  std::optional<double> above{}, at_least{}, below{}, at_most{};
  std::string note{};  ///< when these bounds apply, e.g. "for sine"; may be empty

  std::optional<double> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
  std::string type() const { return "number"; }
  Json schema() const;
};

/// true or false.
struct Booleans {
  using Value = bool;

  std::optional<bool> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
  std::string type() const { return "boolean"; }
  Json schema() const;
};

/// One of a list of words.
struct Words {
  using Value = std::string;
  std::vector<std::string> words;

  std::optional<std::string> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
  std::string type() const { return "word"; }
  Json schema() const;
};

/// One of the values of an enum, by the word that `name(value)` gives it.
template <class Enum>
struct Choices {
  using Value = Enum;
  std::vector<Enum> values;

  std::optional<Enum> convert(const YamlValue& given) const {
    const auto word = words().convert(given);
    for (const Enum value : values)
      if (word && *word == name(value)) return value;
    return std::nullopt;
  }
  std::string allowed(const YamlValue& given) const { return words().allowed(given); }
  std::string type() const { return words().type(); }
  Json schema() const { return words().schema(); }

 private:
  Words words() const {
    Words names;
    for (const Enum value : values) names.words.emplace_back(name(value));
    return names;
  }
};

/// A list of at least one integer from min to max, each smaller than the one before; or one integer
/// without brackets.
struct FallingIntegers {
  using Value = std::vector<int>;
  int min, max;

  std::optional<std::vector<int>> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
  std::string type() const { return "list of integers"; }
  Json schema() const;
};

/// `auto`, which is an empty value, or a value of another rule.
template <class Rule>
struct OrAuto {
  using Value = std::optional<typename Rule::Value>;
  Rule rule;

  std::optional<Value> convert(const YamlValue& given) const {
    if (Words{{"auto"}}.convert(given)) return Value{};
    const auto value = rule.convert(given);
    return value ? std::optional<Value>(value) : std::nullopt;
  }
  std::string allowed(const YamlValue& given) const { return "auto, or " + rule.allowed(given); }
  std::string type() const { return "auto or " + rule.type(); }
  Json schema() const {
    return {{"oneOf", Json::array({rule.schema(), Json{{"enum", Json::array({"auto"})}}})}};
  }
};

/// Name of a file. Rejects a number, true or false without quotes.
struct FileNames {
  using Value = std::string;
  bool may_be_empty = false;  ///< the empty name means no file

  std::optional<std::string> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
  std::string type() const { return "file name"; }
  Json schema() const;
};

/// A key holds one value of a rule, three values (one per direction), or a list of at least one.
/// These functions describe the whole value. They use only the type of the last argument.
template <class Rule>
std::string allowed_by(const Rule& rule, const typename Rule::Value&) {
  return rule.allowed({});
}
template <class Rule>
std::string allowed_by(const Rule& rule, const std::array<typename Rule::Value, 3>&) {
  return fmt::format("a list of 3, each {}, or one for all three directions", rule.allowed({}));
}
template <class Rule>
std::string allowed_by(const Rule& rule, const std::vector<typename Rule::Value>&) {
  return fmt::format("a list of at least one, each {}", rule.allowed({}));
}

/// The words of a text such as "3, 3, 3" or "(3 3 3)", as values.
std::vector<YamlValue> words_of(const YamlValue& given);

/// The list that a text without the brackets of YAML means, e.g. "[3, 3, 3]" for "3,3,3". Empty if
/// it has only one word, not `count` of them (0: any number), or one that `rule` rejects.
template <class Rule>
std::string list_meant_by(const Rule& rule, const YamlValue& given, std::size_t count = 0) {
  const std::vector<YamlValue> words = words_of(given);
  if (words.size() < 2 || (count > 0 && words.size() != count)) return {};
  std::string list;
  for (const YamlValue& word : words) {
    if (!rule.convert(word)) return {};
    list += (list.empty() ? "" : ", ") + word.text;
  }
  return printable("[" + list + "]");
}

/// The values allowed in place of the scalar `given` for a key that also takes a list of `count`
/// values (0: any number).
template <class Rule>
std::string allowed_or_list(const Rule& rule, const YamlValue& given, std::size_t count = 0) {
  const std::string one = rule.allowed({});
  std::string nearest = rule.allowed(given);
  const std::string meant = list_meant_by(rule, given, count);
  if (meant.empty() && nearest != one) return nearest;  // it suggests a word
  return fmt::format("{}, or a list of {}{}", one, count > 0 ? fmt::format("{}", count) : "them",
                     meant.empty() ? "" : ", such as " + meant);
}

template <class Rule>
std::string type_by(const Rule& rule, const typename Rule::Value&) {
  return rule.type();
}
template <class Rule>
std::string type_by(const Rule& rule, const std::array<typename Rule::Value, 3>&) {
  return fmt::format("3 {}s", rule.type());
}
template <class Rule>
std::string type_by(const Rule& rule, const std::vector<typename Rule::Value>&) {
  return fmt::format("list of {}s", rule.type());
}

template <class Rule>
Json schema_by(const Rule& rule, const typename Rule::Value&) {
  return rule.schema();
}
template <class Rule>
Json schema_by(const Rule& rule, const std::array<typename Rule::Value, 3>&) {
  return {{"type", "array"}, {"items", rule.schema()}, {"minItems", 3}, {"maxItems", 3}};
}
template <class Rule>
Json schema_by(const Rule& rule, const std::vector<typename Rule::Value>&) {
  return {{"type", "array"}, {"items", rule.schema()}, {"minItems", 1}};
}

}  // namespace nekbone_k
