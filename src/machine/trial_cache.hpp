// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A file of the user that keeps the outcomes of trials of MPI.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "machine/mpi_trial.hpp"

namespace nekbone_k {

/// Names and values of everything that an answer depends on.
using TrialKey = std::map<std::string, std::string>;
/// The key of this process: program, MPI library, device, driver, and the transport variables.
TrialKey trial_key();

/// Answers of trials in a JSON file, newest first. A file that is missing, unreadable or of another
/// kind has no answers.
class TrialCache {
 public:
  explicit TrialCache(std::string path) : m_path(std::move(path)) {}
  /// The file in the user's cache folder: $NEKBONE_K_CACHE, else $XDG_CACHE_HOME/nekbone-k, else
  /// ~/.cache/nekbone-k. Its path is empty if all three are unset.
  static TrialCache of_user();
  const std::string& path() const { return m_path; }

  /// The answer for `key`. If the trial hung or could not start, the answer holds for a day: a busy
  /// machine may be the reason. `now` is in UTC by ISO 8601.
  std::optional<MpiTrial> find(const TrialKey& key, const std::string& now) const;

  /// Keeps an answer in place of one with the same key. Returns whether it could be written.
  bool keep(const TrialKey& key, const MpiTrial& trial) const;

 private:
  std::string m_path;
};

}  // namespace nekbone_k
