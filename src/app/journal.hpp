/// @file
/// What never came back in earlier runs.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace nekbone_k {

struct JournalLines;

/// The process that writes a line: this one, unless another is told of.
struct JournalWriter {
  JournalWriter();
  std::string host;
  int process;
};

/// A file with a line for each strategy that ended a run, so that the next one leaves it out. The
/// line is written by the rank that dies: from its signal handler, by its watchdog, or where it
/// throws or calls exit(). A run that ends otherwise, by SIGINT, SIGTERM or SIGKILL, leaves the
/// line that it wrote before, by begin(), if any.
///
/// Jobs may share a file.
///
/// One object at a time: signal handlers reach it through a variable of the process.
class Journal {
 public:
  /// Reads the lines of `path`; those of another `place` (MPI, backend) do not count. Others than
  /// lines of a journal are passed over, and complaint() says so. Not collective.
  Journal(std::string path, std::string place);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Why lines cannot be written, as far as can be told before, or nothing.
  std::string why_not_writable() const;

  /// What is wrong with the file, for people, and what to do; or nothing.
  std::string complaint() const;

  /// Why `strategy` should be left out, in words, or nothing. Plain and overlapped are one.
  std::string why_excluded(const std::string& strategy) const;

  /// From now on a crash is that of `strategies`, each of which then gets a line. Cheap where they
  /// have been tried before, as it is called around what is timed.
  void trying(const std::vector<std::string>& strategies, const std::string& when);
  /// Writes down that `strategy` was begun, so that the next run leaves it out however this one
  /// ends. end() takes that back. For one rank, and one strategy at a time; where the file cannot
  /// be written nothing happens.
  void begin(const std::string& strategy, const std::string& when);
  void end();
  /// Takes back what `writer`, this rank or another, wrote by begin() with the same arguments.
  void take_back(const std::string& strategy, const std::string& when,
                 const JournalWriter& writer) const;
  /// Nothing is tried: a crash is not written down.
  void rest();
  /// Writes down that what is being tried hangs; whether it could. May be called by another thread.
  bool write_hang() const;
  /// Writes down that what is being tried threw.
  void write_failure() const;

 private:
  struct Line {
    std::string strategy, place, how, when;
  };
  std::string m_path, m_place;
  bool m_writable;
  std::vector<Line> m_lines;
  std::vector<int> m_unreadable;  ///< numbers of lines, from 1
  std::string m_begun;            ///< the line of begin(), as it stands in the file
  std::map<std::vector<std::string>, const JournalLines*> m_lines_of;  ///< of what was tried
};

}  // namespace nekbone_k
