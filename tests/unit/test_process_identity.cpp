// SPDX-License-Identifier: BSD-3-Clause
// Identities of processes, although process ids are reused.
#include "core/process_identity.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace nekbone_k {
namespace {

TEST(ProcessIdentity, KnowsThatThisProcessLives) {
  const ProcessIdentity here = this_process();
  EXPECT_EQ(here.process, getpid());
  EXPECT_NE(here.boot, "");
  if (here.since == 0) GTEST_SKIP() << "no /proc here";
  EXPECT_EQ(life_of(here), Life::lives);
}

TEST(ProcessIdentity, IsAnotherWithAnotherStart) {
  ProcessIdentity other = this_process();
  if (other.since == 0) GTEST_SKIP() << "no /proc here";
  ++other.since;
  EXPECT_EQ(life_of(other), Life::ended);
}

TEST(ProcessIdentity, TellsNothingOfOtherMachinesAndNamespaces) {
  ProcessIdentity elsewhere = this_process(), hidden = elsewhere;
  elsewhere.boot += "x";
  EXPECT_EQ(life_of(elsewhere), Life::unknown);
  hidden.pid_namespace += "x";
  EXPECT_EQ(life_of(hidden), Life::unknown);
}

TEST(ProcessIdentity, KnowsThatAProcessEnded) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  ProcessIdentity identity = this_process();
  if (identity.since == 0) GTEST_SKIP() << "no /proc here";
  identity.process = child;
  EXPECT_EQ(life_of_id(child), Life::lives);
  kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);  // leaves a zombie
  EXPECT_EQ(life_of_id(child), Life::ended);
  EXPECT_EQ(life_of(identity), Life::ended);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(life_of(identity), Life::ended);
}

}  // namespace
}  // namespace nekbone_k
