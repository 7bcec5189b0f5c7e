// SPDX-License-Identifier: BSD-3-Clause
// Calls to the tuning guard when a use of a strategy ends.
#include "tuning/tuning_guard.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/callback_guard.hpp"

namespace nekbone_k {
namespace {

class TuningGuardTest : public testing::Test {
 protected:
  TuningGuardTest() {
    m_guard.on_enter = [this](const std::string& name) { m_told.push_back("enter " + name); };
    m_guard.on_leave = [this] { m_told.push_back("leave"); };
    m_guard.on_begin = [this](const std::string& name) { m_told.push_back("begin " + name); };
    m_guard.on_end = [this] { m_told.push_back("end"); };
    m_guard.on_take_back = [this](const std::string& name) {
      m_told.push_back("take back " + name);
    };
    m_guard.on_fail = [this] { m_told.push_back("fail"); };
  }

  // The calls to the guard for a first trial of "nccl" that throws `error`.
  template <class Error>
  std::vector<std::string> told_of(const Error& error) {
    m_told.clear();
    EXPECT_THROW(tried(m_guard, "nccl", [&]() -> int { throw error; }), Error);
    return m_told;
  }

  CallbackGuard m_guard;
  std::vector<std::string> m_told;
};

using Told = std::vector<std::string>;

TEST_F(TuningGuardTest, HearsOfATryThatEnds) {
  EXPECT_EQ(tried(m_guard, "nccl", [] { return 7; }), 7);
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

TEST_F(TuningGuardTest, DoesNotBlameAStrategyForAFile) {
  EXPECT_THROW(guarded(m_guard, "nccl", [] { throw InputError("'bad.h5' is no HDF5 file"); }),
               InputError);
  EXPECT_EQ(m_told, (Told{"enter nccl", "leave"}));
}

TEST_F(TuningGuardTest, IsLeftWhileAFileIsWritten) {
  const std::vector<std::string> in_use{"nccl", "put"};
  guarded(m_guard, in_use, [&] {
    unguarded(m_guard, in_use, [&] { m_told.push_back("writes"); });
    EXPECT_THROW(unguarded(m_guard, in_use, [] { throw std::runtime_error("full"); }),
                 std::runtime_error);
  });
  EXPECT_EQ(m_told,
            (Told{"enter nccl", "enter put", "leave", "leave", "writes", "enter nccl", "enter put",
                  "leave", "leave", "enter nccl", "enter put", "leave", "leave"}));
}

// Kokkos reports a lack of memory by the second error.
TEST_F(TuningGuardTest, BlamesNoStrategyWhereMemoryIsShort) {
  const Told expected{"begin nccl", "enter nccl", "leave", "take back nccl"};
  EXPECT_EQ(told_of(std::bad_alloc()), expected);
  EXPECT_EQ(told_of(std::runtime_error("Kokkos ERROR: Cuda memory space failed to allocate 8 GiB "
                                       "(label=\"messages\").")),
            expected);
}

// An exception excludes a candidate, except if it reports a lack of memory.
TEST(TuningGuardThrownBy, PassesOnThatMemoryIsShort) {
  EXPECT_EQ(thrown_by(3, [] { throw std::runtime_error("broken"); }), "threw on rank 3: broken");
  EXPECT_EQ(thrown_by(3, [] {}), "");
  EXPECT_THROW(thrown_by(3, [] { throw std::bad_alloc(); }), std::bad_alloc);
}

}  // namespace
}  // namespace nekbone_k
