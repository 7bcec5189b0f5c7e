// SPDX-License-Identifier: BSD-3-Clause
#include "core/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

extern char** environ;

namespace nekbone_k {
namespace {

using ChildClock = std::chrono::steady_clock;  // MPI_Wtime needs MPI to have started

constexpr std::array held_signals{SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                  SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2};

double seconds_since(ChildClock::time_point begin) {
  return std::chrono::duration<double>(ChildClock::now() - begin).count();
}

/// Both ends of a pipe. The destructor closes them, and so does exec().
class Pipe {
 public:
  Pipe() : m_is_open(pipe2(m_ends.data(), O_CLOEXEC) == 0) {}
  ~Pipe() {
    close_end(m_ends[0]);
    close_end(m_ends[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool is_open() const { return m_is_open; }
  int read_end() const { return m_ends[0]; }
  int write_end() const { return m_ends[1]; }
  void close_write_end() { close_end(m_ends[1]); }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }

  std::array<int, 2> m_ends{-1, -1};
  bool m_is_open;
};

/// Resets SIGCHLD to its default while the object lives. A launcher may ignore SIGCHLD; the system
/// then reaps children without reporting how they ended.
class DefaultOfSigchld {
 public:
  DefaultOfSigchld() {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &usual, &m_before);
  }
  ~DefaultOfSigchld() { sigaction(SIGCHLD, &m_before, nullptr); }
  DefaultOfSigchld(const DefaultOfSigchld&) = delete;
  DefaultOfSigchld& operator=(const DefaultOfSigchld&) = delete;

 private:
  struct sigaction m_before;
};

/// The child processes of this process.
std::set<pid_t> children() {
  std::set<pid_t> found;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child = 0; list >> child;) found.insert(child);
  }
  return found;
}

/// While the object lives, processes that a child leaves behind become children of this process, in
/// any session. The destructor ends and reaps them. MPI starts such daemons.
class Descendants {
 public:
  Descendants() : m_before(children()) {
#ifdef __linux__
    prctl(PR_GET_CHILD_SUBREAPER, &m_was_reaper);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
  }
  ~Descendants() {
    constexpr int most_rounds = 1000;  // one millisecond each
    for (int round = 0; end_those_known() && round < most_rounds; ++round) {
      constexpr timespec moment{0, 1'000'000};
      nanosleep(&moment, nullptr);
    }
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, m_was_reaper);
#endif
  }
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;

 private:
  /// Returns whether there were any.
  bool end_those_known() const {
    bool any = false;
    for (const pid_t child : children()) {
      if (m_before.count(child) > 0) continue;
      any = true;
      kill(child, SIGKILL);
      waitpid(child, nullptr, WNOHANG);
    }
    return any;
  }

  std::set<pid_t> m_before;
  int m_was_reaper = 0;
};

/// Pointers to texts, followed by a null pointer.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Makes exec() close all files from descriptor 3 on.
void close_others_on_exec() {
#if defined(__linux__) && defined(SYS_close_range)
  constexpr unsigned close_range_cloexec = 1U << 2;
  if (syscall(SYS_close_range, 3U, ~0U, close_range_cloexec) == 0) return;
#endif
  constexpr long most = 65536;  // checking every number up to a larger limit takes long
  for (long file = 3; file < std::min(most, sysconf(_SC_OPEN_MAX)); ++file)
    fcntl(static_cast<int>(file), F_SETFD, FD_CLOEXEC);
}

/// Forbids core files by a limit of one byte, which Linux also obeys where it pipes cores to a
/// program.
void forbid_core_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(1, limit.rlim_max);
  setrlimit(RLIMIT_CORE, &limit);
}

/// In the new process: becomes the program, or writes errno to `failure`. Makes only calls that a
/// signal handler may make.
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment,
                         const sigset_t& held, pid_t parent, int output, int failure) {
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(127);  // the parent died before prctl()
  forbid_core_files();
  // Above 2, because the pipes may have numbers 0 to 2 if this process's own streams were closed.
  const int out = fcntl(output, F_DUPFD_CLOEXEC, 3), fail = fcntl(failure, F_DUPFD_CLOEXEC, 3);
  const int null = fcntl(open("/dev/null", O_RDWR | O_CLOEXEC), F_DUPFD_CLOEXEC, 3);
  if (out >= 0 && fail >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
      dup2(null, STDERR_FILENO) >= 0) {
    close_others_on_exec();
    sigprocmask(SIG_UNBLOCK, &held, nullptr);
    execve(program, arguments, environment);
  }
  const int error = errno;
  static_cast<void>(!write(fail >= 0 ? fail : failure, &error, sizeof error));
  _exit(127);
}

/// A child process and its output.
class Child {
 public:
  Child(pid_t process, int output, std::size_t most_output)
      : m_process(process), m_output(output), m_most_output(most_output) {
    fcntl(output, F_SETFL, O_NONBLOCK);
    setpgid(process, process);  // parent and child both do this, because either may run first
  }

  /// Waits up to 5 ms for output.
  void wait_a_moment() {
    pollfd file{m_has_ended ? -1 : m_output, POLLIN, 0};
    poll(&file, 1, 5);
    read_output();
  }
  /// Whether it has ended. It is not reaped yet, so no other process can get its id.
  bool has_ended() const {
    siginfo_t info{};
    return waitid(P_PID, m_process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
  }
  void kill_all() const {
    kill(-m_process, SIGKILL);
    kill(m_process, SIGKILL);
  }
  /// Reaps it. Returns false if it does not end although it was killed, because e.g. a driver keeps
  /// it.
  bool reap(int& status) {
    constexpr double patience = 10;
    const auto begin = ChildClock::now();
    while (waitpid(m_process, &status, WNOHANG) != m_process) {
      if (seconds_since(begin) > patience) return false;
      wait_a_moment();
    }
    read_output();
    return true;
  }
  std::string output() const { return m_text; }

 private:
  void read_output() {
    std::array<char, 4096> piece;
    for (;;) {
      const ssize_t bytes = read(m_output, piece.data(), piece.size());
      if (bytes < 0 && errno == EINTR) continue;
      m_has_ended = bytes == 0;
      if (bytes <= 0) return;
      const std::size_t room = m_most_output - m_text.size();
      m_text.append(piece.data(), std::min(room, static_cast<std::size_t>(bytes)));
    }
  }

  pid_t m_process;
  int m_output;
  std::size_t m_most_output;
  std::string m_text;
  bool m_has_ended = false;  // the output
};

/// Waits for a started child.
ChildEnd wait_for(Child& child, double seconds, const HeldSignals& signals) {
  constexpr double longest_moment = 0.25;  // a longer wait means that this process was stopped
  ChildEnd end;
  bool was_killed = false;
  for (double left = seconds; !child.has_ended();) {
    if (signals.has_come() || left <= 0) {
      end.how = left <= 0 ? ChildEnd::How::late : ChildEnd::How::interrupted;
      was_killed = true;
      break;
    }
    const auto begin = ChildClock::now();
    child.wait_a_moment();
    left -= std::min(seconds_since(begin), longest_moment);
  }
  child.kill_all();  // also kills what it started and left behind
  int status = 0;
  const bool reaped = child.reap(status);
  end.output = child.output();
  if (was_killed || !reaped) return end;
  end.how = WIFSIGNALED(status) ? ChildEnd::How::signalled : ChildEnd::How::exited;
  end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

}  // namespace

std::string signal_name(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGABRT:
      return "SIGABRT";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGKILL:
      return "SIGKILL";
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGPIPE:
      return "SIGPIPE";
    default:
      return "signal " + std::to_string(signal);
  }
}

HeldSignals::HeldSignals() {
  sigemptyset(&m_held);
  for (const int signal : held_signals) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&m_held, signal);
  }
  pthread_sigmask(SIG_BLOCK, &m_held, &m_before);
}

HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }

bool HeldSignals::has_come() const {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return std::any_of(held_signals.begin(), held_signals.end(), [&](int signal) {
    return sigismember(&m_held, signal) == 1 && sigismember(&pending, signal) == 1;
  });
}

ChildEnd run_child(const ChildCommand& command) {
  const std::vector<char*> arguments = pointers_to(command.arguments);
  const std::vector<char*> environment = pointers_to(command.environment);
  const auto failed = [](int error) { return ChildEnd{ChildEnd::How::not_started, error, {}}; };
  Pipe output, failure;
  if (!output.is_open() || !failure.is_open()) return failed(errno);
  const HeldSignals signals;
  const DefaultOfSigchld sigchld;
  const Descendants descendants;
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) return failed(errno);
  if (process == 0)
    become(command.program.c_str(), arguments.data(), environment.data(), signals.held(), parent,
           output.write_end(), failure.write_end());
  output.close_write_end();
  failure.close_write_end();
  Child child(process, output.read_end(), command.most_output);
  int error = 0;
  ssize_t bytes = 0;
  do bytes = read(failure.read_end(), &error, sizeof error);  // returns 0 when the program begins
  while (bytes < 0 && errno == EINTR);
  if (bytes == sizeof error) {
    int status = 0;
    child.reap(status);
    return failed(error);
  }
  return wait_for(child, command.seconds, signals);
}

std::vector<std::string> environment_without(std::span<const std::string_view> prefixes) {
  std::vector<std::string> kept;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (std::none_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); }))
      kept.emplace_back(variable);
  }
  return kept;
}

}  // namespace nekbone_k
