// SPDX-License-Identifier: BSD-3-Clause
#include "input/key_help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "core/format.hpp"
#include "input/input_keys.hpp"

namespace nekbone_k {
namespace {

/// Text as YAML, with quotes if YAML would read it as anything else.
std::string yaml_text(const std::string& text) {
  try {
    const YamlValue root = parse_yaml("key: " + text, "");
    if (FileNames{}.convert(*root.find("key")) == text) return text;
  } catch (const InputError&) {  // not YAML
  }
  return Json(text).dump();
}

/// A value as YAML on one line, e.g. "0.3", "[8, 8, 8]" or "none".
std::string yaml_text(const Json& value) {
  if (value.is_array()) {
    std::vector<std::string> items;
    for (const Json& item : value) items.push_back(yaml_text(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.is_string() ? yaml_text(value.get<std::string>()) : value.dump();
}

const Case& default_case() {
  static const Case defaults = parse_case("{}", "", {}, any_ranks);
  return defaults;
}

/// The value of a key as in an input file. A default is written as in the table, e.g. "[all]".
std::string value_text(const Key& key, const Case& run) {
  const Json value = key.value(run);
  return yaml_text(value == key.value(default_case()) ? key.default_value : value);
}

/// The path of the key that `path` may have meant; nothing if none is near.
std::optional<std::string> nearest_path(const std::string& path) {
  std::vector<std::string> paths, names;
  for (const Key& key : input_keys()) {
    paths.push_back(key.path);
    names.push_back(key.name());
    if (key.name() == path) return key.path;
  }
  if (const auto nearest = nearest_word(path, paths)) return nearest;
  const auto name = nearest_word(path, names);
  if (!name) return std::nullopt;
  return paths[std::find(names.begin(), names.end(), *name) - names.begin()];
}

std::string help_text(const Key& key) {
  if (key.is_section()) return key.path + "\n" + labelled_line("section", key.help);
  std::string text =
      key.path + "\n" + labelled_line("type", key.type) + labelled_line("allowed", key.allowed) +
      labelled_line("default", yaml_text(key.default_value)) + labelled_line("meaning", key.help);
  for (const auto& [word, meaning] : key.words)
    text += wrap(fmt::format("{:16}{:<14} ", "", word), meaning);
  return text;
}

/// `text` as comment lines for a key indented by `indent`. Lines after the first begin with `more`.
std::string comment(std::size_t indent, const std::string& text, const std::string& more = "") {
  const std::string hash = std::string(indent, ' ') + "# ";
  std::string lines = wrap(hash + more, text);
  // wrap() starts all lines but the first with blanks.
  for (std::size_t end = lines.find('\n'); end + 1 < lines.size(); end = lines.find('\n', end + 1))
    lines.replace(end + 1, hash.size(), hash);
  return lines;
}

std::string comment_on(const Key& key, std::size_t indent) {
  std::string text = comment(indent, key.help);
  if (key.is_section()) return text;
  text +=
      comment(indent, fmt::format("Default: {}. {}", yaml_text(key.default_value),
                                  key.words.empty() ? "Allowed: " + key.allowed + "." : "One of:"));
  std::size_t width = 0;
  for (const auto& [word, meaning] : key.words) width = std::max(width, word.size());
  for (const auto& [word, meaning] : key.words)
    text += comment(indent, meaning, fmt::format("  {:<{}}  ", word, width));
  return text;
}

/// Turns names of pages in `text`, e.g. "docs/tuning.md#audit", into links that work in docs/.
std::string with_links(const std::string& text) {
  constexpr std::string_view folder = "docs/";
  std::string linked;
  std::size_t begin = 0;
  for (std::size_t page; (page = text.find(folder, begin)) != std::string::npos;) {
    linked += text.substr(begin, page - begin);
    begin = std::min(text.find_first_of(" ),;", page), text.size());
    const std::string link = text.substr(page + folder.size(), begin - page - folder.size());
    linked += fmt::format("[{}]({})", link.substr(0, link.find('#')), link);
  }
  return linked + text.substr(begin);
}

std::string markdown_of(const Key& key) {
  if (key.is_section()) return fmt::format("\n### {}\n\n", key.path);
  std::string text = wrap("- ", with_links(fmt::format("`{}`: {}; default `{}`. {}", key.name(),
                                                       key.words.empty() ? key.allowed : key.type,
                                                       yaml_text(key.default_value), key.help)));
  for (const auto& [word, meaning] : key.words)
    text += wrap("  - ", with_links(fmt::format("`{}`: {}.", word, meaning)));
  return text;
}

/// The schema of a list, or of one of its values alone; other schemas as they are.
Json with_one_for_a_list(const Json& schema) {
  if (schema.value("type", "") == "array")
    return {{"anyOf", Json::array({schema, schema.at("items")})}};
  Json relaxed = schema;
  for (const char* const choice : {"oneOf", "anyOf"})
    if (relaxed.contains(choice))
      for (Json& one : relaxed[choice]) one = with_one_for_a_list(one);
  return relaxed;
}

}  // namespace

std::string help_on_key(const std::string& path) {
  std::string text;
  for (const Key& key : input_keys())
    if (key.path == path || key.path.starts_with(path + "."))
      text += (text.empty() ? "" : "\n") + help_text(key);
  if (!text.empty()) return text;
  const auto meant = nearest_path(path);
  throw InputError(
      fmt::format("--help {}: no such key of the input file; {}nekbone-k --list-keys prints all "
                  "keys, and --help "
                  "alone the options",
                  printable(path), meant ? fmt::format("did you mean '{}'? ", *meant) : ""));
}

std::string keys_as_yaml(const Case& run) {
  std::string text, before;
  for (const Key& key : input_keys()) {
    const auto indent =
        2 * static_cast<std::size_t>(std::count(key.path.begin(), key.path.end(), '.'));
    if (!before.empty() && key.section() != before) text += '\n';
    text += comment_on(key, indent) + std::string(indent, ' ') + key.name() + ":";
    if (!key.is_section()) text += " " + value_text(key, run);
    text += '\n';
    before = key.path;
  }
  return text;
}

std::string keys_as_markdown() {
  std::string top_level, sections;
  for (const Key& key : input_keys())
    (key.is_section() || !key.section().empty() ? sections : top_level) += markdown_of(key);
  return top_level + sections;
}

std::string keys_as_schema(SchemaOf of) {
  const bool is_complete = of == SchemaOf::report;
  const auto section_schema = [&](const std::string& help) {
    Json schema{{"description", help}, {"type", "object"}};
    if (is_complete) schema["required"] = Json::array();
    schema["additionalProperties"] = false;
    schema["properties"] = Json::object();
    return schema;
  };
  Json root = section_schema(
      is_complete ? "The input and its defaults; as a file, an input for the same run."
                  : "An input of nekbone-k. Any key may be missing.");
  for (const Key& key : input_keys()) {
    std::string pointer;
    if (!key.section().empty()) pointer = "/properties/" + key.section();
    for (std::size_t point; (point = pointer.find('.')) != std::string::npos;)
      pointer.replace(point, 1, "/properties/");
    Json& parent = root.at(Json::json_pointer(pointer));
    Json schema = section_schema(key.help);
    if (!key.is_section()) {
      schema = {{"description", key.help}, {"default", key.default_value}};
      schema.update(is_complete ? key.schema : with_one_for_a_list(key.schema));
    }
    if (is_complete) parent["required"].push_back(key.name());
    parent["properties"][key.name()] = schema;
  }
  return root.dump(2) + "\n";
}

}  // namespace nekbone_k
