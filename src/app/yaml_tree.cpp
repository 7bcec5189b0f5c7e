#include "app/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

constexpr const char* set_usage = "write --set key.path=value, for example --set solver.order=3";

// An alias may stand for a value that holds it, or for one that holds many aliases that each hold
// many. No input needs anything near these sizes.
constexpr int max_depth = 32;
constexpr int max_values = 100'000;

/// What messages call the place of a value: a file and its lines, or a --set, which has none.
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

/// Turns the nodes of yaml-cpp into a tree.
class TreeBuilder {
 public:
  explicit TreeBuilder(const Source& source) : m_source(source) {}

  YamlValue build(const YAML::Node& node, const std::string& where, const std::string& path,
                  int depth = 0) {
    if (depth > max_depth || ++m_values > max_values)
      throw InputError(where + ": nested too deeply, or an alias that contains itself");
    YamlValue value;
    value.where = where;
    if (node.IsScalar()) {
      value.kind = YamlValue::Kind::scalar;
      value.text = node.Scalar();
      value.quoted = node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str";
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
  int m_values = 0;
};

/// Sees where the documents of a YAML text start, and nothing else.
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

/// Throws if `text` goes on after its first document. Looks no further than that: yaml-cpp takes
/// some misplaced characters for empty documents without end, with which LoadAll fills the memory.
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

/// Throws if `text` is not the UTF-8 that it must be, where the parser would say something else.
void require_utf8_text(const std::string& text, const Source& source) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw InputError(source.name + ": not UTF-8 but UTF-16; save it as UTF-8");
  const std::size_t nul = std::min(text.find('\0'), text.size());
  if (nul == text.size()) return;
  YAML::Mark mark;
  mark.line = static_cast<int>(std::count(text.begin(), text.begin() + nul, '\n'));
  throw InputError(source.at(mark) + ": holds a NUL byte, which no text does; remove it");
}

/// Whether there is a tab in the indentation of a line, the first being 0.
bool is_indented_by_tab(const std::string& text, int line) {
  std::istringstream stream(text);
  std::string content;
  for (int i = 0; i <= line; ++i) std::getline(stream, content);
  return content.substr(0, content.find_first_not_of(" \t")).find('\t') != std::string::npos;
}

/// The one document in `text`; nothing if there is none.
YamlValue parse_document(const std::string& text, const Source& source) {
  YAML::Node document;
  require_utf8_text(text, source);
  try {
    require_one_document(text, source);
    document = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    const bool tab = !error.mark.is_null() && is_indented_by_tab(text, error.mark.line);
    throw InputError(fmt::format("{}: not YAML: {}", source.at(error.mark),
                                 tab ? "a tab cannot indent; use blanks" : printable(error.msg)));
  }
  return TreeBuilder(source).build(document, source.at(document.Mark()), "");
}

/// Puts `value` in the place of `target`; of mappings, each key in its own.
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

/// The value at `path` in `root`, made if need be. `where` is the --set that asks for it.
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
    throw InputError(fmt::format("{}: given no '='; {}", where, set_usage));
  YamlValue value = parse_document(assignment.substr(equals + 1), {where, false});
  if (value.kind == YamlValue::Kind::nothing)
    throw InputError(fmt::format("{}: given no value after '='; {}", where, set_usage));

  std::string path = assignment.substr(0, equals);
  path.erase(0, std::min(path.find_first_not_of(' '), path.size()));
  path.erase(path.find_last_not_of(' ') + 1);
  assign(at_path(root, path, where), std::move(value));
}

namespace {
/// A short one as it is given.
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
  // Back to the start of a UTF-8 character, whose further bytes are 10xxxxxx.
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
