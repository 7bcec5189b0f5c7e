// SPDX-License-Identifier: BSD-3-Clause
#include "input/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

constexpr const char* set_usage = "write --set key.path=value, for example --set solver.order=3";

// Limits against aliases that contain themselves or expand exponentially. Real inputs stay far
// below.
constexpr int max_depth = 32;
constexpr int max_values = 100'000;

/// Name of the source in messages: a file, which has lines, or a --set, which has none.
struct Source {
  std::string name;
  bool has_lines;

  std::string at(const YAML::Mark& mark) const {
    return has_lines && !mark.is_null() ? fmt::format("{}:{}", name, mark.line + 1) : name;
  }
};

std::string join_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

YamlValue* find_entry(YamlValue& mapping, const std::string& key) {
  const auto entry = std::find_if(mapping.items.begin(), mapping.items.end(),
                                  [&](const YamlValue& value) { return value.key == key; });
  return entry == mapping.items.end() ? nullptr : &*entry;
}

/// Line and column of a position in a text, as in yaml-cpp: from 0, in bytes.
YAML::Mark mark_at(const std::string& text, std::size_t position) {
  const auto place = text.begin() + static_cast<std::ptrdiff_t>(position);
  YAML::Mark mark;
  mark.pos = static_cast<int>(position);
  mark.line = static_cast<int>(std::count(text.begin(), place, '\n'));
  const auto line = std::find(std::make_reverse_iterator(place), text.rend(), '\n').base();
  mark.column = static_cast<int>(place - line);
  return mark;
}

/// The position of the quote that closes the one at `begin`; npos if there is none.
std::size_t end_of_quote(const std::string& text, std::size_t begin) {
  const char quote = text[begin];
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    const bool escapes = quote == '"' ? text[i] == '\\' : text.compare(i, 2, "''") == 0;
    if (escapes)
      ++i;
    else if (text[i] == quote)
      return i;
  }
  return std::string::npos;
}

/// The position of a quote or bracket in YAML text that is unclosed or closed by the wrong bracket;
/// nothing if there is none. Understands only flow style and quotes.
std::optional<std::size_t> find_unclosed(const std::string& text) {
  std::vector<std::size_t> open;
  char before = '\n', last = '\n';  // before: the last character that is not a blank
  for (std::size_t i = 0; i < text.size(); last = text[i++]) {
    const char c = text[i];
    // Elsewhere, quotes are parts of words, and so are brackets outside flow style.
    const bool begins_value = std::string_view("\n:,-?[{").find(before) != std::string_view::npos;
    if (c == '#' && (last == ' ' || last == '\t' || last == '\n')) {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if ((c == '"' || c == '\'') && begins_value) {
      const std::size_t end = end_of_quote(text, i);
      if (end == std::string::npos) return i;
      i = end;
    } else if ((c == '[' || c == '{') && (begins_value || !open.empty())) {
      open.push_back(i);
    } else if ((c == ']' || c == '}') && !open.empty()) {
      if (text[open.back()] != (c == ']' ? '[' : '{')) break;
      open.pop_back();
    }
    if (c != ' ' && c != '\t' && c != '\r' && c != '#') before = c;
  }
  return open.empty() ? std::nullopt : std::optional(open.back());
}

std::string complaint_on_unclosed(const std::string& text, std::size_t position,
                                  const Source& source) {
  const char c = text[position];
  const bool is_bracket = c == '[' || c == '{';
  return fmt::format("{}: not YAML: the {} {} is never closed; add {}",
                     source.at(mark_at(text, position)), is_bracket ? "bracket" : "quote", c,
                     !is_bracket ? c
                     : c == '['  ? ']'
                                 : '}');
}

/// Converts yaml-cpp nodes to a tree.
class TreeBuilder {
 public:
  /// `text` is the source of the nodes.
  TreeBuilder(const Source& source, const std::string& text)
      : m_source(source), m_text(text), m_unclosed(find_unclosed(text)) {}

  YamlValue build(const YAML::Node& node, const std::string& where, const std::string& path,
                  int depth = 0) {
    if (depth > max_depth)
      throw InputError(where + ": nested too deeply, or an alias that contains itself");
    if (++m_values > max_values)
      throw InputError(fmt::format(
          "{}: {}: too many values; allowed: at most {} in the whole input, counting what an alias "
          "stands for each time",
          where, path.empty() ? "the input" : printable(path), max_values));
    YamlValue value;
    value.where = where;
    if (node.IsScalar()) {
      value.kind = YamlValue::Kind::scalar;
      value.text = node.Scalar();
      value.quoted = node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str";
      if (value.quoted) require_closed(node.Mark());
    } else if (node.IsSequence()) {
      value.kind = YamlValue::Kind::list;
      for (const YAML::Node& item : node)
        value.items.push_back(build(item, m_source.at(item.Mark()), path, depth + 1));
    } else if (node.IsMap()) {
      value.kind = YamlValue::Kind::mapping;
      for (const auto& entry : node) add_entry(value, entry.first, entry.second, path, depth);
    }
    return value;
  }

 private:
  /// Throws if the quote is unclosed. yaml-cpp would end it at the end of the file.
  void require_closed(const YAML::Mark& quote) const {
    if (m_unclosed && quote.line == m_unclosed_mark.line && quote.column == m_unclosed_mark.column)
      throw InputError(complaint_on_unclosed(m_text, *m_unclosed, m_source));
  }

  void add_entry(YamlValue& mapping, const YAML::Node& key, const YAML::Node& node,
                 const std::string& path, int depth) {
    const std::string where = m_source.at(key.Mark());
    if (!key.IsScalar() || key.Scalar().empty())
      throw InputError(where + ": a key must be one word");
    const std::string entry_path = join_path(path, key.Scalar());
    if (const YamlValue* first = mapping.find(key.Scalar()))
      throw InputError(fmt::format("{}: {}: given twice, first at {}; keep one of the two", where,
                                   printable(entry_path), first->where));
    YamlValue value = build(node, where, entry_path, depth + 1);
    value.key = key.Scalar();
    mapping.items.push_back(std::move(value));
  }

  const Source& m_source;
  const std::string& m_text;
  const std::optional<std::size_t> m_unclosed;
  const YAML::Mark m_unclosed_mark = mark_at(m_text, m_unclosed.value_or(0));
  int m_values = 0;
};

/// Records where the documents of a YAML text start.
class DocumentStarts : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { marks.push_back(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  std::vector<YAML::Mark> marks;
};

/// Throws if `text` has a second document. Does not use LoadAll: yaml-cpp reads some misplaced
/// characters as endlessly many empty documents, which would fill the memory.
void require_one_document(const std::string& text, const Source& source) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  while (starts.marks.size() < 2 && parser.HandleNextDocument(starts)) continue;
  if (starts.marks.size() < 2) return;
  throw InputError(
      source.at(starts.marks[1]) +
      ": here starts a second YAML document, or what is no YAML; allowed: one document");
}

/// Throws if `text` is not UTF-8. The parser's own error would be misleading.
void require_utf8_text(const std::string& text, const Source& source) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw InputError(source.name + ": not UTF-8 but UTF-16; save it as UTF-8");
  const std::size_t nul = std::min(text.find('\0'), text.size());
  if (nul == text.size()) return;
  throw InputError(source.at(mark_at(text, nul)) +
                   ": holds a NUL byte, which no text does; remove it");
}

/// Whether the indentation of a line has a tab. Lines count from 0.
bool is_indented_by_tab(const std::string& text, int line) {
  std::istringstream stream(text);
  std::string content;
  for (int i = 0; i <= line; ++i) std::getline(stream, content);
  return content.substr(0, content.find_first_not_of(" \t")).find('\t') != std::string::npos;
}

/// Explains why the parser rejected a text, with the place. Explains common mistakes in plain words
/// and quotes the parser for others.
std::string explain(const YAML::Exception& error, const std::string& text, const Source& source) {
  const bool has_place = !error.mark.is_null();
  if (has_place && is_indented_by_tab(text, error.mark.line))
    return source.at(error.mark) + ": not YAML: a tab cannot indent; use blanks";
  const auto unclosed = find_unclosed(text);
  if (!unclosed)
    return fmt::format(
        "{}: not YAML: {}; indent all keys of a section equally, and put ':' after each key",
        source.at(error.mark), printable(error.msg));
  return complaint_on_unclosed(text, *unclosed, source);
}

/// Parses the single document in `text`; Kind::nothing if there is none.
YamlValue parse_document(const std::string& text, const Source& source) {
  YAML::Node document;
  require_utf8_text(text, source);
  try {
    require_one_document(text, source);
    document = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw InputError(explain(error, text, source));
  }
  return TreeBuilder(source, text).build(document, source.at(document.Mark()), "");
}

/// Replaces `target` by `value`. If both are mappings, replaces only the keys of `value`.
void assign(YamlValue& target, YamlValue value) {
  if (target.kind != YamlValue::Kind::mapping || value.kind != YamlValue::Kind::mapping) {
    value.key = target.key;
    target = std::move(value);
    return;
  }
  for (YamlValue& entry : value.items) {
    if (YamlValue* old = find_entry(target, entry.key))
      assign(*old, std::move(entry));
    else
      target.items.push_back(std::move(entry));
  }
}

/// The value at `path` in `root`; creates it if it does not exist. `where` is the --set, for
/// messages.
YamlValue& at_path(YamlValue& root, const std::string& path, const std::string& where) {
  YamlValue* value = &root;
  for (std::size_t begin = 0, end; begin <= path.size(); begin = end + 1) {
    end = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    if (key.empty())
      throw InputError(fmt::format("{}: given a key path with an empty key; {}", where, set_usage));
    if (value->kind == YamlValue::Kind::nothing) value->kind = YamlValue::Kind::mapping;
    if (value->kind != YamlValue::Kind::mapping)
      throw InputError(fmt::format("{}: {} is {} ({}) and has no keys, so there is no {}", where,
                                   path.substr(0, begin - 1), describe(*value), value->where,
                                   printable(path)));
    YamlValue* entry = find_entry(*value, key);
    if (!entry) {
      entry = &value->items.emplace_back();
      entry->key = key;
      entry->where = where;
    }
    value = entry;
  }
  return *value;
}

}  // namespace

const YamlValue* YamlValue::find(const std::string& wanted) const {
  const auto entry = std::find_if(items.begin(), items.end(),
                                  [&](const YamlValue& value) { return value.key == wanted; });
  return kind != Kind::mapping || entry == items.end() ? nullptr : &*entry;
}

namespace {
/// Advice on an assignment without '=', which may have a blank in its place.
std::string advice_on_blank(const std::string& assignment) {
  const std::size_t blank = assignment.find(' ');
  const std::size_t value = assignment.find_first_not_of(' ', std::min(blank, assignment.size()));
  if (blank == 0 || value == std::string::npos) return set_usage;
  return fmt::format("write --set {}={}", printable(assignment.substr(0, blank)),
                     printable(assignment.substr(value)));
}
}  // namespace

YamlValue parse_yaml(const std::string& text, const std::string& source) {
  YamlValue root = parse_document(text, {source, true});
  if (root.kind == YamlValue::Kind::nothing)
    throw InputError(source + ": empty; give at least one key, for example 'orders: [7]'");
  if (root.kind != YamlValue::Kind::mapping)
    throw InputError(
        fmt::format("{}: given {}; allowed: a mapping of keys to values, for example "
                    "'orders: [7]'",
                    root.where, describe(root)));
  root.where = source;
  return root;
}

void apply_override(YamlValue& root, const std::string& assignment) {
  const std::string where = "--set " + printable(assignment);
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos)
    throw InputError(fmt::format("{}: given no '='; {}", where, advice_on_blank(assignment)));
  YamlValue value = parse_document(assignment.substr(equals + 1), {where, false});
  if (value.kind == YamlValue::Kind::nothing)
    throw InputError(fmt::format("{}: given no value after '='; {}", where, set_usage));

  std::string path = assignment.substr(0, equals);
  path.erase(0, std::min(path.find_first_not_of(' '), path.size()));
  path.erase(path.find_last_not_of(' ') + 1);
  assign(at_path(root, path, where), std::move(value));
}

namespace {
/// Quotes a short list and describes a long one.
std::string describe_list(const std::vector<YamlValue>& items) {
  constexpr std::size_t most_items = 4, longest_item = 12;
  const bool is_short =
      !items.empty() && items.size() <= most_items &&
      std::all_of(items.begin(), items.end(), [](const YamlValue& item) {
        return item.kind == YamlValue::Kind::scalar && item.text.size() <= longest_item;
      });
  if (!is_short) return fmt::format("a list of {}", items.size());
  std::string text;
  for (const YamlValue& item : items) text += (text.empty() ? "[" : ", ") + printable(item.text);
  return text + "]";
}
}  // namespace

std::string describe(const YamlValue& value) {
  switch (value.kind) {
    case YamlValue::Kind::nothing:
      return "nothing";
    case YamlValue::Kind::list:
      return describe_list(value.items);
    case YamlValue::Kind::mapping:
      return "a mapping";
    case YamlValue::Kind::scalar:
      break;
  }
  const std::string text = printable(value.text);
  return value.quoted ? fmt::format("the text \"{}\"", text) : fmt::format("'{}'", text);
}

namespace {
/// Length of the well-formed UTF-8 character at the beginning of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80                      ? 1
                             : byte(0) >= 0xC2 && byte(0) < 0xE0 ? 2
                             : (byte(0) & 0xF0) == 0xE0          ? 3
                             : byte(0) >= 0xF0 && byte(0) < 0xF5 ? 4
                                                                 : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  return length;
}
}  // namespace

std::string printable(const std::string& text) {
  constexpr std::size_t longest = 120;
  std::size_t length = std::min(text.size(), longest);
  // Go back to the start of a UTF-8 character: its other bytes are 10xxxxxx.
  while (length < text.size() && length > 0 && (text[length] & 0xC0) == 0x80) --length;

  std::string line;
  for (std::string_view rest = std::string_view(text).substr(0, length); !rest.empty();) {
    const auto byte = static_cast<unsigned char>(rest.front());
    const std::size_t character = utf8_length(rest);
    if (character == 0 || byte < 0x20 || byte == 0x7F)
      line += fmt::format("\\x{:02x}", byte);
    else
      line += rest.substr(0, character);
    rest.remove_prefix(std::max<std::size_t>(character, 1));
  }
  return length < text.size() ? line + "..." : line;
}

}  // namespace nekbone_k
