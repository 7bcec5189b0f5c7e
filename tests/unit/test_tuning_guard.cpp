// What stands between a run and a strategy is told how each use of it ended.
#include "gs/tuning_guard.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace nekbone_k {
namespace {

class TuningGuardTest : public testing::Test {
 protected:
  TuningGuard guard() {
    TuningGuard guard;
    guard.enter = [this](const std::string& name) { m_told.push_back("enter " + name); };
    guard.leave = [this] { m_told.push_back("leave"); };
    guard.begin = [this](const std::string& name) { m_told.push_back("begin " + name); };
    guard.end = [this] { m_told.push_back("end"); };
    guard.take_back = [this](const std::string& name) { m_told.push_back("take back " + name); };
    guard.fail = [this] { m_told.push_back("fail"); };
    return guard;
  }

  // What the guard is told of a first try of "nccl" that throws `error`.
  template <class Error>
  std::vector<std::string> told_of(const Error& error) {
    m_told.clear();
    EXPECT_THROW(tried(guard(), "nccl", [&]() -> int { throw error; }), Error);
    return m_told;
  }

  std::vector<std::string> m_told;
};

using Told = std::vector<std::string>;

TEST_F(TuningGuardTest, HearsOfATryThatEnds) {
  EXPECT_EQ(tried(guard(), "nccl", [] { return 7; }), 7);
  EXPECT_EQ(m_told, (Told{"begin nccl", "enter nccl", "leave", "end"}));
}

TEST_F(TuningGuardTest, HearsOfATryThatThrows) {
  EXPECT_EQ(told_of(std::runtime_error("broken")), (Told{"begin nccl", "enter nccl", "fail"}));
  EXPECT_EQ(told_of(7), (Told{"begin nccl", "enter nccl", "fail"}));
}

TEST_F(TuningGuardTest, DoesNotBlameWhatIsNotThere) {
  EXPECT_EQ(told_of(UnavailableError("no GPU")),
            (Told{"begin nccl", "enter nccl", "leave", "end"}));
}

// The second is how Kokkos says so.
TEST_F(TuningGuardTest, BlamesNoStrategyWhereMemoryIsShort) {
  const Told expected{"begin nccl", "enter nccl", "leave", "take back nccl"};
  EXPECT_EQ(told_of(std::bad_alloc()), expected);
  EXPECT_EQ(told_of(std::runtime_error("Kokkos ERROR: Cuda memory space failed to allocate 8 GiB "
                                       "(label=\"messages\").")),
            expected);
}

// A candidate is excluded for what it throws, but not for memory that it does not get.
TEST(TuningGuardThrownBy, PassesOnThatMemoryIsShort) {
  EXPECT_EQ(thrown_by(3, [] { throw std::runtime_error("broken"); }), "threw on rank 3: broken");
  EXPECT_EQ(thrown_by(3, [] {}), "");
  EXPECT_THROW(thrown_by(3, [] { throw std::bad_alloc(); }), std::bad_alloc);
}

}  // namespace
}  // namespace nekbone_k
