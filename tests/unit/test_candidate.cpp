// SPDX-License-Identifier: BSD-3-Clause
// Candidates that are made, used and destroyed under the guard.
#include "tuning/candidate.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/callback_guard.hpp"

namespace nekbone_k {
namespace {

using Told = std::vector<std::string>;

/// Writes into a list when it is made and destroyed.
struct Noted {
  explicit Noted(Told& list) : told(list) { told.push_back("made"); }
  ~Noted() { told.push_back("destroyed"); }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

  Told& told;
};

class CandidateTest : public testing::Test {
 protected:
  CandidateTest() {
    m_guard.seconds = 4;
    m_guard.on_enter = [this](const std::string& name) { m_told.push_back("enter " + name); };
    m_guard.on_leave = [this] { m_told.push_back("leave"); };
    m_guard.on_fail = [this] { m_told.push_back("fail"); };
  }

  auto make() {
    return [this](const Communicator&, double) { return Noted(m_told); };
  }

  const Communicator m_comm{MPI_COMM_SELF};
  CallbackGuard m_guard;
  Told m_told;
};

TEST_F(CandidateTest, IsMadeUsedAndDestroyedUnderTheGuard) {
  {
    GuardedCandidate<Noted> candidate(m_comm, m_guard, "nccl");
    EXPECT_EQ(m_told, Told{});
    EXPECT_EQ(candidate.make(make()), "");
    EXPECT_EQ(candidate.use([](Noted& noted) {
      noted.told.push_back("used");
      return 7;
    }),
              7);
    EXPECT_EQ(candidate.failure_of([](Noted& noted) { noted.told.push_back("tried"); }), "");
  }
  EXPECT_EQ(m_told, (Told{"enter nccl", "made", "leave", "enter nccl", "used", "leave",
                          "enter nccl", "tried", "leave", "enter nccl", "destroyed", "leave"}));
}

TEST_F(CandidateTest, HasACommunicatorOfItsOwnAndThePatienceOfTheGuard) {
  GuardedCandidate<int> candidate(m_comm, m_guard, "nccl");
  int relation = MPI_UNEQUAL;
  double seconds = 0;
  EXPECT_EQ(candidate.make([&](const Communicator& own, double patience) {
    MPI_Comm_compare(own.get(), m_comm.get(), &relation);
    seconds = patience;
    return 3;
  }),
            "");
  EXPECT_EQ(relation, MPI_CONGRUENT);  // the same ranks, but not the same communicator
  EXPECT_EQ(seconds, 4);
  EXPECT_EQ(candidate.use([](int value) { return value; }), 3);
}

TEST_F(CandidateTest, SaysWhatWasThrown) {
  GuardedCandidate<Noted> candidate(m_comm, m_guard, "nccl");
  EXPECT_EQ(candidate.make(make()), "");
  EXPECT_EQ(candidate.failure_of([](Noted&) { throw std::runtime_error("broken"); }),
            "threw on rank 0: broken");
  EXPECT_THROW(candidate.failure_of([](Noted&) { throw std::bad_alloc(); }), std::bad_alloc);
  m_told.clear();
  EXPECT_THROW(candidate.use([](Noted&) { throw std::runtime_error("broken"); }),
               std::runtime_error);
  EXPECT_EQ(m_told, (Told{"enter nccl", "fail"}));
}

// Its messages may still be under way.
TEST_F(CandidateTest, IsNotDestroyedIfAbandoned) {
  {
    GuardedCandidate<Noted> candidate(m_comm, m_guard, "nccl");
    EXPECT_EQ(candidate.make(make()), "");
    candidate.abandon();
  }
  EXPECT_EQ(m_told, (Told{"enter nccl", "made", "leave"}));
}

TEST_F(CandidateTest, TellsAVerdictWhyItCannotBeTimed) {
  GuardedCandidate<int> candidate(m_comm, m_guard, "nccl");
  Verdict verdict{.available = true, .verified = true, .failure = ""};
  EXPECT_TRUE(candidate.make_verified(verdict, [](const auto&, double) { return 3; }));
  EXPECT_TRUE(verdict.verified);

  GuardedCandidate<int> broken(m_comm, m_guard, "nccl");
  const auto threw = [](const auto&, double) -> int { throw std::runtime_error("broken"); };
  EXPECT_FALSE(broken.make_verified(verdict, threw));
  EXPECT_TRUE(verdict.available);
  EXPECT_FALSE(verdict.verified);
  EXPECT_EQ(verdict.failure, "threw on rank 0: broken");

  GuardedCandidate<int> missing(m_comm, m_guard, "nccl");
  const auto lacks = [](const auto&, double) -> int { throw UnavailableError("no windows left"); };
  verdict = {.available = true, .verified = true, .failure = ""};
  EXPECT_FALSE(missing.make_verified(verdict, lacks));
  EXPECT_FALSE(verdict.available);
  EXPECT_FALSE(verdict.verified);
  EXPECT_EQ(verdict.failure, "no windows left");
}

}  // namespace
}  // namespace nekbone_k
