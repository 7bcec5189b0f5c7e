// SPDX-License-Identifier: BSD-3-Clause
#include "input/yaml_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// Number of edits that turn `a` into `b`: insert, delete or replace a character, swap two
/// neighbours. Keeps three rows of the dynamic programming table.
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

YamlReader::YamlReader(const YamlValue& root) : YamlReader(&root, root.where, "") {}

YamlReader::YamlReader(const YamlValue* mapping, const std::string& where, const std::string& path)
    : m_mapping(mapping), m_where(where), m_path(path) {}

YamlReader& YamlReader::section(const std::string& key) {
  const std::string path = path_of(key);
  for (YamlReader& section : m_sections)
    if (section.m_path == path) return section;
  const YamlValue* given = find(key);
  // YAML reads a section whose keys are all commented out as null.
  if (given && given->kind == YamlValue::Kind::nothing) given = nullptr;
  if (given && given->kind != YamlValue::Kind::mapping)
    reject(key, *given, "a mapping of keys to values");
  // Not emplace_back: the constructor is private.
  m_sections.push_back(YamlReader(given, given ? given->where : m_where, path));
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
  // Prefer an exact match in another section.
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
  // Accept edits of up to half of the characters.
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
