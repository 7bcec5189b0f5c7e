// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/decision_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "core/file_lock.hpp"
#include "core/regular_file.hpp"
#include "core/whole_file.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int format_version = 2;

struct Entry {
  DecisionKey key;
  Decision decision;
};

/// The content of a file, or the reason why it cannot be used.
struct Content {
  std::vector<Entry> entries;
  bool exists = false;
  std::string complaint;
  bool is_none = false;  ///< readable, but not a cache
};

Entry to_entry(const Json& json) {
  Entry entry;
  entry.key.kind = json.at("choice_of").get<std::string>();
  for (const auto& [name, value] : json.at("key").items())
    entry.key.fields[name] = value.get<std::string>();
  entry.decision = {json.at("strategy").get<std::string>(), json.at("cost_s").get<double>(),
                    json.at("found").get<std::string>()};
  return entry;
}

constexpr std::uintmax_t largest_file = std::uintmax_t{64} << 20;

Content read(const std::string& path) {
  Content content;
  std::error_code error;
  content.exists = fs::exists(path, error);
  if (!content.exists) return content;
  content.complaint = why_not_a_file(path);
  if (!content.complaint.empty()) return content;
  if (fs::file_size(path, error) > largest_file) {
    content.complaint = "it is larger than any cache of choices";
    return content;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file) {
    content.complaint = std::strerror(errno);
    return content;
  }
  try {
    const Json json = Json::parse(text);
    if (json.at("decision_cache").get<int>() != format_version)
      content.complaint = "it is of another version; delete it, or name another file";
    else
      for (const Json& entry : json.at("decisions")) content.entries.push_back(to_entry(entry));
  } catch (const Json::exception&) {
    content.complaint = "it is not a cache of choices";
    content.is_none = true;
  }
  return content;
}

/// The items of a list "a, b, c".
std::set<std::string> items_of(const std::string& list) {
  std::set<std::string> items;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(", ", begin), list.size());
    items.insert(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return items;
}

/// "a, b, c and 34 more": the items of `list` that `other` lacks; empty if it lacks none.
std::string missing_in(const std::string& other, const std::string& list) {
  constexpr std::size_t most_named = 3;
  std::vector<std::string> missing;
  const std::set<std::string> has = items_of(other), all = items_of(list);
  std::set_difference(all.begin(), all.end(), has.begin(), has.end(), std::back_inserter(missing));
  const std::size_t more = missing.size() > most_named ? missing.size() - most_named : 0;
  missing.resize(missing.size() - more);
  std::string text = fmt::format("{}", fmt::join(missing, ", "));
  return more > 0 ? fmt::format("{} and {} more", text, more) : text;
}

/// The difference between the values of a field of a key, in words.
std::string difference(const std::string& name, const std::string& was, const std::string& now) {
  constexpr std::size_t longest = 80;
  if (name == "strategies" && was.size() + now.size() > longest) {
    const std::string gone = missing_in(now, was), added = missing_in(was, now);
    if (!gone.empty() && !added.empty())
      return fmt::format("{} are now without {}, with {}", name, gone, added);
    if (!gone.empty() || !added.empty())
      return fmt::format("{} are now {} {}", name, gone.empty() ? "with" : "without", gone + added);
  }
  return fmt::format("{} was {}, now {}", name, was, now);
}

std::string to_text(const std::vector<Entry>& entries) {
  Json decisions = Json::array();
  for (const Entry& entry : entries)
    decisions.push_back({{"choice_of", entry.key.kind},
                         {"strategy", entry.decision.strategy},
                         {"cost_s", entry.decision.cost_seconds},
                         {"found", entry.decision.found},
                         {"key", entry.key.fields}});
  const Json json{{"decision_cache", format_version}, {"decisions", decisions}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// Excludes other processes during its lifetime. It locks a separate file, because the cache is
/// replaced by renaming.
class Lock {
 public:
  /// Waits at most `patience` seconds. Only a stopped process holds the lock for longer than a
  /// moment.
  Lock(const std::string& path, double patience)
      : m_file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (m_file < 0) {
      m_why_not = fmt::format("{} cannot be opened: {}", path, std::strerror(errno));
    } else if (!lock_file(m_file, patience)) {
      m_why_not = errno == EWOULDBLOCK
                      ? fmt::format("another job has had {} for {:g} s", path, patience)
                      : fmt::format("{} cannot be locked: {}", path, std::strerror(errno));
    }
  }
  ~Lock() {
    if (m_file >= 0) close(m_file);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  /// The reason why the lock is not held, or empty.
  const std::string& why_not() const { return m_why_not; }

 private:
  int m_file;
  std::string m_why_not;
};

}  // namespace

bool DecisionKey::same_problem(const DecisionKey& other) const {
  const auto value = [](const DecisionKey& key, const char* name) {
    const auto found = key.fields.find(name);
    return found == key.fields.end() ? std::string() : found->second;
  };
  return value(*this, "elements") == value(other, "elements") &&
         value(*this, "order") == value(other, "order");
}

std::vector<std::string> DecisionKey::differences(const DecisionKey& other) const {
  std::vector<std::string> found;
  for (const auto& [name, was] : fields) {
    const auto now = other.fields.find(name);
    if (now == other.fields.end())
      found.push_back(difference(name, was, "not known"));
    else if (now->second != was)
      found.push_back(difference(name, was, now->second));
  }
  for (const auto& [name, now] : other.fields)
    if (fields.count(name) == 0) found.push_back(difference(name, "not known", now));
  return found;
}

DecisionCache::Found DecisionCache::find(const DecisionKey& key) const {
  const Content content = read(m_path);
  if (!content.exists) return {{}, fmt::format("there is no {} yet", m_path)};
  if (!content.complaint.empty())
    return {{}, fmt::format("{} cannot be used: {}", m_path, content.complaint)};
  // The nearest entry has the same mesh and order if possible, then the fewest differences. Among
  // equals the later entry, which is newer, is nearest.
  const Entry* nearest = nullptr;
  const auto distance = [&](const Entry& entry) {
    const bool same_problem = entry.key.same_problem(key);
    return std::pair(!same_problem, entry.key.differences(key).size());
  };
  for (auto entry = content.entries.rbegin(); entry != content.entries.rend(); ++entry) {
    if (entry->key.kind != key.kind) continue;
    if (entry->key == key) return {entry->decision, {}};
    if (nearest == nullptr || distance(*entry) < distance(*nearest)) nearest = &*entry;
  }
  if (nearest == nullptr) return {{}, fmt::format("{} has no choice of {} yet", m_path, key.kind)};
  return {{},
          fmt::format("of {} the nearest in {} differs: {}", key.kind, m_path,
                      fmt::join(nearest->key.differences(key), "; "))};
}

std::string DecisionCache::why_unusable() const {
  const Content content = read(m_path);
  if (content.complaint.empty()) return {};
  return fmt::format("{} cannot be used: {}; a run would measure anew and {}", m_path,
                     content.complaint,
                     content.is_none ? fmt::format("rename it to {}", beside(m_path, ".unreadable"))
                                     : "keep no choice");
}

std::string DecisionCache::store(const DecisionKey& key, const Decision& decision) const {
  const auto failure = [&](const std::string& why) {
    return fmt::format("the choice is not kept: {} cannot be written: {}", m_path, why);
  };
  // Check first, so that no lock file appears beside a file of someone else.
  if (const std::string why = why_not_a_file(m_path); !why.empty()) return failure(why);
  const Lock lock(beside(m_path, ".lock"), m_patience);
  if (!lock.why_not().empty()) return failure(lock.why_not());
  Content content = read(m_path);
  std::error_code error;
  if (!content.complaint.empty() && !content.is_none) return failure(content.complaint);
  if (content.is_none) {
    fs::rename(m_path, beside(m_path, ".unreadable"), error);
    if (error) return failure(error.message());
  }
  std::erase_if(content.entries, [&](const Entry& entry) { return entry.key == key; });
  content.entries.push_back({key, decision});
  const std::string why = replace_file(m_path, to_text(content.entries));
  return why.empty() ? why : failure(why);
}

}  // namespace nekbone_k
