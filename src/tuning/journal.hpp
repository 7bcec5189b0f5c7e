// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A journal of strategies that ended earlier runs.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace nekbone_k {

struct JournalLines;

/// The process that writes a line; by default this one.
struct JournalWriter {
  JournalWriter();
  std::string host;
  int process;
  std::string token;  ///< random
};

/// The job whose ranks share a line, and the place of this rank in it.
struct JournalJob {
  JournalWriter root;  ///< rank 0, which writes the line of begin()
  int rank = 0, ranks = 1;
  double longest_try = 120;  ///< s, longest use of a strategy
};

/// A file with a line for each strategy that ended a run, so that the next run skips it. The rank
/// that dies writes the line: from its signal handler, by its watchdog, or where it throws or calls
/// exit(). If a run ends otherwise, as by SIGKILL, the line that rank 0 wrote by begin() stays.
///
/// A line of begin() counts once its writer is known to be gone, or is on another machine and the
/// time of a try is over. While the writer lives it holds a lock on a byte far behind the file's
/// end; the system drops the lock however the writer ends. Without locks, the process id and the
/// start time identify the writer, if this host and container can see it.
///
/// Jobs may share a file.
///
/// One object at a time: signal handlers reach it through a variable of the process.
class Journal {
 public:
  /// Reads the lines of `path` on rank 0. Lines of another `place` (MPI, backend) do not count.
  /// Skips text that is no line of a journal and reports it in complaint(). Not collective.
  Journal(std::string path, std::string place, JournalJob job = {});
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The reason why lines cannot be written, as far as it is known in advance; empty if none.
  std::string why_not_writable() const;

  /// The problem of the file and the remedy, for people; empty if none.
  std::string complaint() const;

  /// The reason to skip `strategy`, in words, or empty. Plain and overlapped strategies count as
  /// one.
  std::string why_excluded(const std::string& strategy) const;

  /// From now on, a crash is recorded for each of `strategies`. Cheap for strategies that were
  /// tried before, because it is called around timed code.
  void trying(const std::vector<std::string>& strategies, const std::string& when);
  /// Writes a line for `strategy`, so that the next run skips it however this run ends, unless all
  /// ranks are interrupted. end() removes the line. Call it on rank 0, for one strategy at a time.
  /// Does nothing if the file cannot be written.
  void begin(const std::string& strategy, const std::string& when);
  void end();
  /// Tells the other ranks' signal handlers whether rank 0 may be writing the line of begin() now.
  void expect_line(bool expected);
  /// Removes the line that `writer`, on any rank, wrote by begin() with the same arguments.
  void take_back(const std::string& strategy, const std::string& when,
                 const JournalWriter& writer) const;
  /// From now on, a crash is not recorded.
  void rest();
  /// Records that the current strategies hang. Returns whether it could. Another thread may call
  /// it.
  bool write_hang() const;
  /// Records that the current strategies threw.
  void write_failure() const;

 private:
  void read();

  struct Line {
    std::string strategy, place, how, when;
  };
  std::string m_path, m_place;
  JournalJob m_job;
  bool m_writable;
  std::vector<Line> m_lines;
  std::vector<int> m_unreadable;  ///< line numbers, from 1
  std::string m_begun;            ///< the start of the line of begin()
  int m_lock = -1;                ///< the file, while a byte is locked for that line
  std::map<std::vector<std::string>, const JournalLines*> m_lines_of;  ///< by strategies
};

/// Call it in the handler of a signal that interrupts the job. Removes the line of begin() once all
/// ranks have called this; waits half a second for them. If a rank does not call it, the strategy
/// may have ended that rank, and the launcher interrupts the others: the line stays.
void take_back_on_interruption();

}  // namespace nekbone_k
