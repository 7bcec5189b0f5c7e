// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Choices of earlier runs, kept in a file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nekbone_k {

/// The conditions of a choice: names and values of everything that it may depend on.
struct DecisionKey {
  std::string kind;  ///< kind of choice, such as "exchanges"; choices of other kinds never apply
  std::map<std::string, std::string> fields;

  bool operator==(const DecisionKey&) const = default;
  /// Whether the numbers of elements and the order are the same.
  bool same_problem(const DecisionKey& other) const;
  /// The differences of `other`, of the same kind, in words: "MPI was …, now …". For long lists it
  /// names the items that only one of them has: "strategies are now without …".
  std::vector<std::string> differences(const DecisionKey& other) const;
};

/// A choice: the selected strategy.
struct Decision {
  std::string strategy;
  double cost_seconds = 0;  ///< as in the report of that run, in s
  std::string found;        ///< time, UTC
};

/// A choice of this run, with its key. The run stores it at its end, because later checks may
/// reject it.
struct MadeChoice {
  DecisionKey key;
  Decision decision;
};

/// A JSON file of choices. Not collective: one rank uses it. Runs that use a file at the same time
/// wait for each other. A run that is killed leaves either the old or the new file.
class DecisionCache {
 public:
  /// Waits at most `patience` seconds for another job that uses the file, before writing.
  explicit DecisionCache(std::string path, double patience = 10)
      : m_path(std::move(path)), m_patience(patience) {}
  const std::string& path() const { return m_path; }

  struct Found {
    std::optional<Decision> decision;
    std::string why_not;  ///< reason in words if there is no decision
  };
  /// The choice for `key`, or the reason why there is none: the differences from the nearest
  /// choice, or that the file cannot be read.
  Found find(const DecisionKey& key) const;

  /// Why a run can take no choice from the file: "F cannot be used: it is …, so a run …". Empty if
  /// it can, or if the file does not exist yet.
  std::string why_unusable() const;

  /// Stores a choice, in place of one with the same key. Renames a file that is not a cache to
  /// PATH.unreadable. Returns the error in words; empty if there is none.
  std::string store(const DecisionKey& key, const Decision& decision) const;

 private:
  std::string m_path;
  double m_patience;
};

}  // namespace nekbone_k
