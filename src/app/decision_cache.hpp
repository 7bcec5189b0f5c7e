/// @file
/// Choices of earlier runs, kept in a file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nekbone_k {

/// What a choice holds for: names and values of everything that it may depend on.
struct DecisionKey {
  std::string kind;  ///< what is chosen: "exchanges"; a choice of another kind never holds
  std::map<std::string, std::string> fields;

  bool operator==(const DecisionKey&) const = default;
  /// Whether the numbers of elements and the order are the same.
  bool same_problem(const DecisionKey& other) const;
  /// What differs in `other`, of the same kind, in words: "MPI was …, now …", or what
  /// is in one of two long lists alone: "strategies are now without …".
  std::vector<std::string> differences(const DecisionKey& other) const;
};

/// A choice.
struct Decision {
  std::string strategy;
  double cost_seconds = 0;  ///< as the report of that run had it
  std::string found;        ///< when, UTC
};

/// A JSON file of choices. Not collective: one rank uses it. Runs that use a file at the same time
/// wait for each other, and one that is killed leaves the file as it was before or after.
class DecisionCache {
 public:
  /// Waits so many seconds for another job to be done with the file, when it writes to it.
  explicit DecisionCache(std::string path, double patience = 10)
      : m_path(std::move(path)), m_patience(patience) {}
  const std::string& path() const { return m_path; }

  struct Found {
    std::optional<Decision> decision;
    std::string why_not;  ///< in words, where there is none
  };
  /// The choice for `key`, or why there is none: how the one that differs least from it differs, or
  /// that there is no readable file.
  Found find(const DecisionKey& key) const;

  /// Keeps a choice in place of one with the same key. A file that is not a cache is kept as
  /// PATH.unreadable. Returns what went wrong, in words; empty if nothing did.
  std::string store(const DecisionKey& key, const Decision& decision) const;

 private:
  std::string m_path;
  double m_patience;
};

}  // namespace nekbone_k
