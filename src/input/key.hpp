// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A key of the input file, and functions that make one. The table of all keys is input_keys.cpp.
/// Nothing here is collective.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "input/case.hpp"
#include "input/rules.hpp"
#include "input/yaml_reader.hpp"

namespace nekbone_k {

/// One key of the input file, or a section of keys.
struct Key {
  std::string path;     ///< e.g. "solver.tolerance"
  std::string help;     ///< sentences for users; names of files begin with "docs/" or "inputs/"
  std::string type;     ///< e.g. "number"
  std::string allowed;  ///< from the rule, e.g. "a number >= 0 and < 1"
  std::vector<std::pair<std::string, std::string>>
      words{};    ///< each word with its meaning, if documented
  Json schema{};  ///< JSON schema of `value`
  Json default_value{};

  /// Reads and checks the key, called `name` in its section. Empty for a section.
  std::function<void(YamlReader& section, const std::string& name, Case&)> read{};
  /// The value in a case, as JSON that is valid input. Empty for a section.
  std::function<Json(const Case&)> value{};

  bool is_section() const { return !read; }
  /// "solver" of "solver.tolerance"; empty at the top level.
  std::string section() const;
  /// "tolerance" of "solver.tolerance".
  std::string name() const;
};

/// Gets the value of a key from a case and sets it.
template <class T>
struct Field {
  std::function<T(const Case&)> get;
  std::function<void(Case&, const T&)> set;
};

/// A member of Case.
template <class T>
Field<T> field(T Case::*member) {
  return {[=](const Case& run) { return run.*member; },
          [=](Case& run, const T& value) { run.*member = value; }};
}

/// A member of a part of Case.
template <class Part, class T>
Field<T> field(Part Case::*part, T Part::*member) {
  return {[=](const Case& run) { return run.*part.*member; },
          [=](Case& run, const T& value) { run.*part.*member = value; }};
}

/// The value of a key as JSON; an enum becomes its name.
template <class T>
Json as_json(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return name(value);
  else
    return value;
}

/// An empty value is `auto`.
template <class T>
Json as_json(const std::optional<T>& value) {
  return value ? as_json(*value) : Json("auto");
}

/// A key whose field holds one value of `rule`, one for each direction, or a list of them.
template <class T, class Rule>
Key key(const std::string& path, const Field<T>& field, const Rule& rule, const std::string& help) {
  const T initial = field.get(Case{});
  return {.path = path,
          .help = help,
          .type = type_by(rule, initial),
          .allowed = allowed_by(rule, initial),
          .schema = schema_by(rule, initial),
          .default_value = as_json(initial),
          .read =
              [=](YamlReader& section, const std::string& name, Case& run) {
                T value = field.get(run);
                section.read(name, value, rule);
                field.set(run, value);
              },
          .value = [=](const Case& run) { return as_json(field.get(run)); }};
}

/// A key whose value is one of the words that `name` gives to values of an enum, each with its
/// meaning.
template <class Enum>
Key choice(const std::string& path, const Field<Enum>& field, const std::string& help,
           const std::vector<std::pair<Enum, std::string>>& meanings) {
  Choices<Enum> rule;
  for (const auto& [value, meaning] : meanings) rule.values.push_back(value);
  Key made = key(path, field, rule, help);
  for (const auto& [value, meaning] : meanings) made.words.emplace_back(name(value), meaning);
  return made;
}

/// A section of keys. Its keys follow it in the table and begin with its path.
inline Key section(const std::string& path, const std::string& help) {
  return {.path = path, .help = help, .type = "section", .allowed = "a mapping of keys to values"};
}

}  // namespace nekbone_k
