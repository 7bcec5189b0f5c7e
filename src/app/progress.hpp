/// @file
/// What the program is doing, on stderr.
#pragma once

#include <string>

namespace nekbone_k {

/// Shows progress on rank 0: a bar that is redrawn where stderr is a terminal, else a line at the
/// beginning of each stage and at every tenth of a long one.
class Progress {
 public:
  explicit Progress(bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a stage of `total` steps.
  void stage(const std::string& name, int total = 1);
  /// `done` steps of the stage are done.
  void update(int done);
  /// Removes the bar, so that other output starts on a clean line.
  void clear();

 private:
  void draw(int done);

  bool m_shown, m_terminal;
  std::string m_name;
  int m_total = 1, m_tenth = 0;
};

}  // namespace nekbone_k
