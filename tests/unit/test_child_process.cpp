// SPDX-License-Identifier: BSD-3-Clause
// Child processes: the result says how they ended, and no process remains.
#include "core/child_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "support/contains.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

using How = ChildEnd::How;

ChildCommand shell(const std::string& script) {
  ChildCommand command{"/bin/sh", {"sh", "-c", script}, environment_without({})};
  command.seconds = 60;
  return command;
}

bool is_alive(pid_t process) { return kill(process, 0) == 0; }

TEST(ChildProcess, TellsTheExitCodeAndWhatWasWritten) {
  const ChildEnd end = run_child(shell("echo one; echo lost >&2; echo two; exit 7"));
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.code, 7);
  EXPECT_EQ(end.output, "one\ntwo\n");
  EXPECT_EQ(run_child(shell("true")).code, 0);
}

TEST(ChildProcess, TellsTheSignal) {
  const ChildEnd end = run_child(shell("echo before; kill -SEGV $$"));
  EXPECT_EQ(end.how, How::signalled);
  EXPECT_EQ(end.code, SIGSEGV);
  EXPECT_EQ(signal_name(end.code), "SIGSEGV");
  EXPECT_EQ(end.output, "before\n");
  EXPECT_EQ(signal_name(63), "signal 63");
}

TEST(ChildProcess, EndsAtTheDeadlineWithAllThatItStarted) {
  ChildCommand command = shell("sleep 1000 & echo $! $$; wait");
  command.seconds = 0.3;
  const ChildEnd end = run_child(command);
  EXPECT_EQ(end.how, How::late);
  std::istringstream numbers(end.output);
  pid_t grandchild = 0, child = 0;
  ASSERT_TRUE(numbers >> grandchild >> child) << end.output;
  EXPECT_FALSE(is_alive(child));
  // Another process adopts and reaps the grandchild. Until then, it is a zombie.
  std::string status = content("/proc/" + std::to_string(grandchild) + "/stat");
  EXPECT_TRUE(status.empty() || contains(status, ") Z ") || contains(status, ") X ")) << status;
}

TEST(ChildProcess, EndsWhatWentIntoASessionOfItsOwn) {
  ChildCommand command = shell("setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.2");
  const ChildEnd end = run_child(command);
  EXPECT_EQ(end.how, How::exited);
  const pid_t daemon = std::atoi(end.output.c_str());
  ASSERT_GT(daemon, 0) << end.output;
  EXPECT_FALSE(is_alive(daemon));  // also reaped
}

TEST(ChildProcess, LeavesNothingRunningThatKeepsItsOutputOpen) {
  const ChildEnd end = run_child(shell("sleep 1000 & echo done"));
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.output, "done\n");
}

TEST(ChildProcess, TellsWhyAProgramCannotBeStarted) {
  ChildEnd end = run_child({"/no/such/program", {"program"}, {}});
  EXPECT_EQ(end.how, How::not_started);
  EXPECT_EQ(end.code, ENOENT);
  end = run_child({"/", {"program"}, {}});
  EXPECT_EQ(end.how, How::not_started);
  EXPECT_EQ(end.code, EACCES);
}

TEST(ChildProcess, KeepsSoMuchOutputAndWaitsForTheRest) {
  ChildCommand command = shell("head -c 300000 /dev/zero | tr '\\0' x; exit 3");
  command.most_output = 1000;
  const ChildEnd end = run_child(command);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.output, std::string(1000, 'x'));
}

TEST(ChildProcess, HasOnlyItsOwnFilesAndEnvironment) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);  // like the open pipes of launchers
  const std::string number = std::to_string(ends[1]);
  ChildCommand command = shell("test -e /proc/self/fd/" + number +
                               " && echo open; readlink /proc/self/fd/0 /proc/self/fd/2; "
                               "echo $NEKBONE_K_TEST; ulimit -c");
  command.environment = {"NEKBONE_K_TEST=given", "PATH=/usr/bin:/bin"};
  EXPECT_EQ(run_child(command).output, "/dev/null\n/dev/null\ngiven\n0\n");
  close(ends[0]);
  close(ends[1]);
}

TEST(ChildProcess, TellsTheExitCodeWhereThisProcessIgnoresItsChildren) {
  struct sigaction ignored {
  }, before{};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignored, &before);
  const ChildEnd end = run_child(shell("exit 5"));
  struct sigaction after {};
  sigaction(SIGCHLD, &before, &after);
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.code, 5);
  EXPECT_EQ(after.sa_handler, SIG_IGN);  // unchanged
}

// Runs in a forked process, which the signal must end.
TEST(ChildProcess, IsEndedFirstWhereThisProcessIsToEnd) {
  for (const int signal : {SIGTERM, SIGINT}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t process = fork();
    if (process == 0) {
      ::signal(signal, SIG_DFL);  // the tests may have inherited SIG_IGN
      const HeldSignals signals;
      const ChildEnd end =
          run_child(shell("echo $$; kill -" + std::to_string(signal) + " $PPID; sleep 1000"));
      const std::string text =
          end.how == How::interrupted && signals.has_come() ? end.output : "not interrupted";
      static_cast<void>(!write(ends[1], text.data(), text.size()));
      signals.~HeldSignals();  // delivers the signal
      _exit(0);
    }
    close(ends[1]);
    std::array<char, 64> text{};
    ASSERT_GT(read(ends[0], text.data(), text.size() - 1), 0);
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    const pid_t child = std::atoi(text.data());
    ASSERT_GT(child, 0) << text.data();
    EXPECT_FALSE(is_alive(child));
  }
}

TEST(ChildProcess, EnvironmentIsPassedOnWithoutWhatBeginsSo) {
  setenv("NEKBONE_K_TEST_GONE", "1", 1);
  setenv("NEKBONE_K_TEST_KEPT", "2", 1);
  const std::array<std::string_view, 2> gone{"NEKBONE_K_TEST_GO", "PATH="};
  std::string all;
  for (const std::string& entry : environment_without(gone)) all += entry + '\n';
  EXPECT_TRUE(contains(all, "NEKBONE_K_TEST_KEPT=2\n"));
  EXPECT_FALSE(contains(all, "NEKBONE_K_TEST_GONE"));
  EXPECT_FALSE(contains('\n' + all, "\nPATH="));
  unsetenv("NEKBONE_K_TEST_GONE");
  unsetenv("NEKBONE_K_TEST_KEPT");
}

}  // namespace
}  // namespace nekbone_k
