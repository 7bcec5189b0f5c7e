#include "app/yaml_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// The number that all of `text` spells; nothing if it spells none or one that T cannot hold.
template <class T>
std::optional<T> to_number(const std::string& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.starts_with("+") && !text.starts_with("+-")) ++begin;  // from_chars takes no plus sign
  T value{};
  const auto result = std::from_chars(begin, end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

bool is_plain(const YamlValue& given) {
  return given.kind == YamlValue::Kind::scalar && !given.quoted;
}

/// Edits that turn `a` into `b`: insert, delete or replace a character, swap two neighbours. One
/// row of the table of all pairs of prefixes at a time, and the two rows before it.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

}  // namespace

std::optional<int> Integers::convert(const YamlValue& given) const {
  const auto value = is_plain(given) ? to_number<int>(given.text) : std::nullopt;
  return value && min <= *value && *value <= max ? value : std::nullopt;
}

std::string Integers::allowed(const YamlValue&) const {
  return fmt::format("an integer from {} to {}", min, max);
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

std::optional<bool> Booleans::convert(const YamlValue& given) const {
  if (!is_plain(given)) return std::nullopt;
  const std::string& text = given.text;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  return std::nullopt;
}

std::string Booleans::allowed(const YamlValue&) const { return "true or false"; }

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

std::optional<std::string> FileNames::convert(const YamlValue& given) const {
  if (given.kind != YamlValue::Kind::scalar || given.text.empty()) return std::nullopt;
  const bool is_number = is_plain(given) && to_number<double>(given.text);
  if (is_number || Booleans().convert(given)) return std::nullopt;
  return given.text;
}

std::string FileNames::allowed(const YamlValue&) const { return "the name of a file"; }

YamlReader::YamlReader(const YamlValue& root) : YamlReader(&root, root.where, "") {}

YamlReader::YamlReader(const YamlValue* mapping, const std::string& where, const std::string& path)
    : m_mapping(mapping), m_where(where), m_path(path) {}

YamlReader& YamlReader::section(const std::string& key) {
  const YamlValue* given = find(key);
  // A section whose keys are all commented out is nothing to YAML.
  if (given && given->kind == YamlValue::Kind::nothing) given = nullptr;
  if (given && given->kind != YamlValue::Kind::mapping)
    reject(key, *given, "a mapping of keys to values");
  // Not emplace_back: the constructor is private.
  m_sections.push_back(YamlReader(given, given ? given->where : m_where, path_of(key)));
  return m_sections.back();
}

YamlReader::Origin YamlReader::origin(const std::string& key) const {
  const YamlValue* given = m_mapping ? m_mapping->find(key) : nullptr;
  if (!given) return Origin::nobody;
  return given->where.starts_with("--set ") ? Origin::command_line : Origin::file;
}

std::string YamlReader::place(const std::string& key) const {
  const YamlValue* given = m_mapping ? m_mapping->find(key) : nullptr;
  return fmt::format("{}: {}", given ? given->where : m_where, path_of(key));
}

void YamlReader::fail(const std::string& key, const std::string& message) const {
  throw InputError(fmt::format("{}: {}", place(key), message));
}

void YamlReader::reject(const std::string& key, const YamlValue& given,
                        const std::string& allowed) const {
  throw InputError(fmt::format("{}: {}: given {}; allowed: {}", given.where, path_of(key),
                               describe(given), allowed));
}

void YamlReader::reject_unknown_keys() const {
  std::vector<std::string> known_paths;
  add_known_paths(known_paths);
  reject_unknown_keys(known_paths);
}

void YamlReader::reject_unknown_keys(std::span<const std::string> known_paths) const {
  for (const YamlReader& section : m_sections) section.reject_unknown_keys(known_paths);
  if (!m_mapping) return;
  for (const YamlValue& entry : m_mapping->items) {
    if (std::find(m_known.begin(), m_known.end(), entry.key) != m_known.end()) continue;
    throw InputError(fmt::format("{}: {}: unknown key; {}allowed here: {}", entry.where,
                                 printable(path_of(entry.key)), hint(entry.key, known_paths),
                                 fmt::join(m_known, ", ")));
  }
}

std::string YamlReader::hint(const std::string& unknown,
                             std::span<const std::string> known_paths) const {
  const std::string path = path_of(unknown);
  if (std::find(known_paths.begin(), known_paths.end(), path) != known_paths.end()) {
    std::string nested, braces;
    for (const char c : unknown) {
      nested += c == '.' ? ": {" : std::string(1, c);
      if (c == '.') braces += '}';
    }
    return fmt::format("points join keys for --set only, so write '{}: ...{}'; ", nested, braces);
  }
  // A key in the wrong section is meant as it stands.
  auto meant = nearest_word(unknown, m_known);
  for (const std::string& known : known_paths)
    if (known.ends_with("." + unknown)) meant = known;
  return meant ? fmt::format("did you mean '{}'? ", *meant) : "";
}

const YamlValue* YamlReader::find(const std::string& key) {
  m_known.push_back(key);
  return m_mapping ? m_mapping->find(key) : nullptr;
}

std::string YamlReader::path_of(const std::string& key) const {
  return m_path.empty() ? key : m_path + "." + key;
}

void YamlReader::add_known_paths(std::vector<std::string>& paths) const {
  for (const std::string& key : m_known) paths.push_back(path_of(key));
  for (const YamlReader& section : m_sections) section.add_known_paths(paths);
}

std::optional<std::string> nearest_word(const std::string& word,
                                        std::span<const std::string> words) {
  // Up to half of the characters mistaken; what is longer than any word is meant as none.
  std::size_t best = std::max<std::size_t>(2, word.size() / 2) + 1;
  std::optional<std::string> nearest;
  for (const std::string& candidate : words) {
    if (word.size() > 2 * candidate.size() + 2) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace nekbone_k
