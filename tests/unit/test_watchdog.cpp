// A dog that barks at what does not come back.
#include "core/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace nekbone_k {
namespace {

// Collects what the dog barks at.
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

}  // namespace
}  // namespace nekbone_k
