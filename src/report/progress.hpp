// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Progress of the program, shown on stderr.
#pragma once

#include <chrono>
#include <string>

namespace nekbone_k {

/// Shows progress on rank 0. On a terminal that can redraw a line, this is a progress bar.
/// Otherwise it is a line at the start of each stage and at every tenth of a long stage.
class Progress {
 public:
  explicit Progress(bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a stage of `total` steps.
  void stage(const std::string& name, int total = 1);
  /// Shows that `done` steps of the stage are done, with a note on them.
  void update(int done, const std::string& note = {});
  /// Removes the bar, so that other output starts on a clean line.
  void clear();

 private:
  void draw(int done, const std::string& note);

  bool m_shown, m_terminal;
  std::string m_name;
  int m_total = 1, m_tenth = 0;
  std::chrono::steady_clock::time_point m_drawn;
};

}  // namespace nekbone_k
