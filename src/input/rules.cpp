// SPDX-License-Identifier: BSD-3-Clause
#include "input/rules.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "input/yaml_reader.hpp"

namespace nekbone_k {
namespace {

/// Converts all of `text` to a number; nothing if it is not a number or T cannot hold it.
template <class T>
std::optional<T> to_number(const std::string& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.starts_with("+") && !text.starts_with("+-")) ++begin;  // from_chars rejects a plus sign
  T value{};
  const auto result = std::from_chars(begin, end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

bool is_plain(const YamlValue& given) {
  return given.kind == YamlValue::Kind::scalar && !given.quoted;
}

}  // namespace

std::vector<YamlValue> words_of(const YamlValue& given) {
  std::vector<YamlValue> words;
  if (given.kind != YamlValue::Kind::scalar) return words;
  constexpr const char* separators = ", ()[]";
  const std::string& text = given.text;
  for (std::size_t begin = text.find_first_not_of(separators); begin != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    YamlValue& word = words.emplace_back();
    word.kind = YamlValue::Kind::scalar;
    word.text = text.substr(begin, end - begin);
    begin = text.find_first_not_of(separators, end);
  }
  return words;
}

std::optional<int> Integers::convert(const YamlValue& given) const {
  const auto value = is_plain(given) ? to_number<int>(given.text) : std::nullopt;
  return value && min <= *value && *value <= max ? value : std::nullopt;
}

std::string Integers::allowed(const YamlValue&) const {
  return fmt::format("an integer from {} to {}", min, max);
}

Json Integers::schema() const { return {{"type", "integer"}, {"minimum", min}, {"maximum", max}}; }

std::optional<std::vector<int>> FallingIntegers::convert(const YamlValue& given) const {
  const Integers one{min, max};
  std::vector<int> values;
  const auto add = [&](const YamlValue& item) {
    const auto value = one.convert(item);
    if (!value || (!values.empty() && *value >= values.back())) return false;
    values.push_back(*value);
    return true;
  };
  const bool is_right = given.kind == YamlValue::Kind::scalar
                            ? add(given)
                            : given.kind == YamlValue::Kind::list && !given.items.empty() &&
                                  std::all_of(given.items.begin(), given.items.end(), add);
  return is_right ? std::optional(values) : std::nullopt;
}

std::string FallingIntegers::allowed(const YamlValue&) const {
  return fmt::format("integers from {} to {}, each smaller than the one before", min, max);
}

Json FallingIntegers::schema() const {
  return {{"type", "array"},
          {"items", {{"type", "integer"}, {"minimum", min}, {"maximum", max}}},
          {"minItems", 1},
          {"uniqueItems", true}};
}

std::optional<double> Numbers::convert(const YamlValue& given) const {
  const auto value = is_plain(given) ? to_number<double>(given.text) : std::nullopt;
  if (!value || !std::isfinite(*value)) return std::nullopt;
  const bool high_enough = (!above || *value > *above) && (!at_least || *value >= *at_least);
  const bool low_enough = (!below || *value < *below) && (!at_most || *value <= *at_most);
  return high_enough && low_enough ? value : std::nullopt;
}

std::string Numbers::allowed(const YamlValue&) const {
  std::string text = below || at_most ? "a number" : "a finite number";
  if (above) text += fmt::format(" > {}", *above);
  if (at_least) text += fmt::format(" >= {}", *at_least);
  if ((above || at_least) && (below || at_most)) text += " and";
  if (below) text += fmt::format(" < {}", *below);
  if (at_most) text += fmt::format(" <= {}", *at_most);
  return note.empty() ? text : text + " " + note;
}

Json Numbers::schema() const {
  Json schema;
  schema["type"] = "number";
  const auto add = [&](const char* keyword, const std::optional<double>& bound) {
    if (!bound) return;
    const bool is_count = *bound == std::floor(*bound) && std::abs(*bound) < 1e9;
    schema[keyword] = is_count ? Json(static_cast<int>(*bound)) : Json(*bound);
  };
  add("exclusiveMinimum", above);
  add("minimum", at_least);
  add("exclusiveMaximum", below);
  add("maximum", at_most);
  return schema;
}

std::optional<bool> Booleans::convert(const YamlValue& given) const {
  if (!is_plain(given)) return std::nullopt;
  const std::string& text = given.text;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  return std::nullopt;
}

std::string Booleans::allowed(const YamlValue&) const { return "true or false"; }

Json Booleans::schema() const { return {{"type", "boolean"}}; }

std::optional<std::string> Words::convert(const YamlValue& given) const {
  const bool known = given.kind == YamlValue::Kind::scalar &&
                     std::find(words.begin(), words.end(), given.text) != words.end();
  return known ? std::optional(given.text) : std::nullopt;
}

std::string Words::allowed(const YamlValue& given) const {
  const bool is_word = given.kind == YamlValue::Kind::scalar;
  const auto meant = is_word ? nearest_word(given.text, words) : std::nullopt;
  return fmt::format("one of {}{}", fmt::join(words, ", "),
                     meant ? fmt::format("; did you mean '{}'?", *meant) : "");
}

Json Words::schema() const { return {{"enum", words}}; }

std::optional<std::string> FileNames::convert(const YamlValue& given) const {
  if (given.kind != YamlValue::Kind::scalar) return std::nullopt;
  if (given.text.empty()) return may_be_empty ? std::optional<std::string>("") : std::nullopt;
  const bool is_number = is_plain(given) && to_number<double>(given.text);
  if (is_number || Booleans().convert(given)) return std::nullopt;
  return given.text;
}

std::string FileNames::allowed(const YamlValue&) const {
  return may_be_empty ? "the name of a file, or \"\" for none" : "the name of a file";
}

Json FileNames::schema() const { return {{"type", "string"}, {"minLength", may_be_empty ? 0 : 1}}; }

}  // namespace nekbone_k
