// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Runs programs that may crash or hang as child processes.
#pragma once

#include <signal.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nekbone_k {

/// A program to run and its limits.
struct ChildCommand {
  std::string program;                   ///< path; PATH is not searched
  std::vector<std::string> arguments;    ///< the first is the name of the program
  std::vector<std::string> environment;  ///< "NAME=value"
  double seconds = 30;                   ///< deadline
  std::size_t most_output = 64 << 10;    ///< bytes of its stdout to keep; the rest is dropped
};

/// How a child process ended.
struct ChildEnd {
  enum class How {
    exited,       ///< code: its exit code
    signalled,    ///< code: the signal that ended it
    late,         ///< it did not end by the deadline and was killed
    interrupted,  ///< a held signal is to end this process; the child was killed
    not_started   ///< code: errno of the call that failed
  };
  How how = How::not_started;
  int code = 0;
  std::string output;  ///< the stdout of the child
};

/// Name of a signal, e.g. "SIGSEGV"; "signal 64" for a signal without a name.
std::string signal_name(int signal);

/// Blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1 and SIGUSR2 in this thread
/// while the object lives, unless the process ignores them. The system delivers a blocked signal
/// when the object ends, so the process can clean up first.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& held() const { return m_held; }
  /// Whether one of them is pending.
  bool has_come() const;

 private:
  sigset_t m_held, m_before;
};

/// Runs a program until it ends or reaches the deadline, and reaps it. Not collective.
///
/// The child gets /dev/null as stdin and stderr, its own process group and no other open file of
/// this process. It leaves no core file and dies with this process. The call also ends processes
/// that the child leaves behind. Time in which this process is stopped hardly counts towards the
/// deadline. Only one thread may call this at a time.
ChildEnd run_child(const ChildCommand& command);

/// This process's environment, without the variables whose names begin with one of `prefixes`.
std::vector<std::string> environment_without(std::span<const std::string_view> prefixes);

}  // namespace nekbone_k
