// SPDX-License-Identifier: BSD-3-Clause
// The watchdog, which reports calls that do not return.
#include "core/watchdog.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace nekbone_k {
namespace {

// Collects the reports of a watchdog.
struct Kennel {
  std::mutex mutex;
  std::vector<std::string> alarms;
  Watchdog dog{[this](const std::string& what) {
    const std::lock_guard lock(mutex);
    alarms.push_back(what);
  }};
  std::vector<std::string> so_far() {
    const std::lock_guard lock(mutex);
    return alarms;
  }
};

TEST(Watchdog, BarksOnceAtWhatDoesNotComeBack) {
  Kennel kennel;
  kennel.dog.watch("one", 1000);
  kennel.dog.watch("two", 0.01);
  while (kennel.so_far().empty()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(kennel.so_far(), std::vector<std::string>{"two"});
}

TEST(Watchdog, IsQuietWhereNothingIsWaitedFor) {
  Kennel kennel;
  for (int i = 0; i < 100; ++i) {
    kennel.dog.watch("one", 1000);
    kennel.dog.rest();
  }
  EXPECT_TRUE(kennel.so_far().empty());
}

TEST(Watchdog, IsQuietWhereTheProcessIsStopped) {
  const pid_t child = fork();
  if (child == 0) {
    const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
    Watchdog dog([](const std::string&) { _exit(1); });
    pause();  // until the watchdog's thread sleeps
    dog.watch("one", 1);
    ::raise(SIGSTOP);
    pause();
    dog.rest();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(std::chrono::seconds(3));
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "it barked";
}

}  // namespace
}  // namespace nekbone_k
