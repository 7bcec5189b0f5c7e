// SPDX-License-Identifier: BSD-3-Clause
// The host-side collectives, against known values for any number of ranks.
#include "core/communicator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

class CommunicatorTest : public testing::Test {
 protected:
  const Communicator m_comm{MPI_COMM_WORLD};
  const int m_rank = m_comm.rank(), m_size = m_comm.size(), m_last = m_comm.size() - 1;
};

TEST_F(CommunicatorTest, IsADuplicateOfItsParent) {
  int rank = -1, size = -1, relation = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_compare(MPI_COMM_WORLD, m_comm.get(), &relation);
  EXPECT_EQ(m_rank, rank);
  EXPECT_EQ(m_size, size);
  EXPECT_EQ(m_comm.is_root(), rank == 0);
  EXPECT_EQ(relation, MPI_CONGRUENT);  // same group and order, other context
}

TEST_F(CommunicatorTest, CoversTheRanksOfItsParentOnly) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(m_comm.get(), m_rank % 2, -m_rank, &half);  // in reverse order
  {
    const Communicator comm(half);
    const int odd = m_rank % 2, members = (m_size + 1 - odd) / 2;
    EXPECT_EQ(comm.size(), members);
    EXPECT_EQ(comm.rank(), members - 1 - m_rank / 2);
    EXPECT_EQ(comm.sum(1.0), members);
    EXPECT_EQ(comm.broadcast(static_cast<double>(m_rank)), 2 * (members - 1) + odd);
  }
  MPI_Comm_free(&half);
}

TEST_F(CommunicatorTest, GivesTheFirstTextThatIsNotEmpty) {
  EXPECT_EQ(m_comm.first_text(""), "");
  EXPECT_EQ(m_comm.first_text("of " + std::to_string(m_rank)), "of 0");
  const int first = m_size / 2;
  EXPECT_EQ(m_comm.first_text(m_rank < first ? "" : "of " + std::to_string(m_rank)),
            "of " + std::to_string(first));
}

TEST_F(CommunicatorTest, ReducesDoubles) {
  EXPECT_EQ(m_comm.sum(m_rank + 0.5), m_size * m_size / 2.0);
  EXPECT_EQ(m_comm.max(-1.0 - m_rank), -1);
  EXPECT_EQ(m_comm.min(-1.0 - m_rank), -m_size);
  EXPECT_EQ(m_comm.max(m_rank * 2.0), 2 * m_last);
  EXPECT_EQ(m_comm.min(m_rank * 2.0), 0);
}

TEST_F(CommunicatorTest, ReducesIntegersThatNoDoubleHolds) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(m_comm.sum(m_rank == m_last ? odd : std::int64_t{0}), odd);
  EXPECT_EQ(m_comm.max(odd - m_rank), odd);
  EXPECT_EQ(m_comm.max(-odd - m_rank), -odd);
  EXPECT_EQ(m_comm.sum(std::int64_t{m_rank}), m_size * m_last / 2);
}

TEST_F(CommunicatorTest, AllIsTrueOnlyIfTrueEverywhere) {
  EXPECT_TRUE(m_comm.all(true));
  EXPECT_FALSE(m_comm.all(false));
  EXPECT_FALSE(m_comm.all(m_rank != m_last));
  EXPECT_FALSE(m_comm.all(m_rank != 0));
}

TEST_F(CommunicatorTest, SpreadIsMinimumAverageMaximum) {
  const Spread up = m_comm.spread(m_rank);
  EXPECT_EQ(up.min, 0);
  EXPECT_EQ(up.avg, m_last / 2.0);
  EXPECT_EQ(up.max, m_last);

  const Spread negative = m_comm.spread(-10.0 - m_rank);
  EXPECT_EQ(negative.min, -10 - m_last);
  EXPECT_EQ(negative.avg, -10 - m_last / 2.0);
  EXPECT_EQ(negative.max, -10);
}

TEST_F(CommunicatorTest, ReducesManyValuesInPlace) {
  std::array<double, 3> sums{1, static_cast<double>(m_rank), -0.25};
  m_comm.sum(sums);
  EXPECT_EQ(sums, (std::array<double, 3>{1.0 * m_size, m_size * m_last / 2.0, -0.25 * m_size}));

  std::array<double, 3> maxima{1.0 * m_rank, -1.0 * m_rank, m_rank == m_last ? 7.0 : 0.0};
  m_comm.max(maxima);
  EXPECT_EQ(maxima, (std::array<double, 3>{1.0 * m_last, 0, 7}));

  std::vector<double> none;
  m_comm.sum(none);
  m_comm.max(none);
  EXPECT_TRUE(none.empty());
}

TEST_F(CommunicatorTest, BroadcastsRankZerosText) {
  const std::string text("tgv\0µ\n64", 9);
  EXPECT_EQ(m_comm.broadcast(m_rank == 0 ? text : std::string("other")), text);
  EXPECT_EQ(m_comm.broadcast(m_rank == 0 ? text : std::string(1000, 'x')), text);
  EXPECT_EQ(m_comm.broadcast(m_rank == 0 ? text : std::string()), text);
  EXPECT_EQ(m_comm.broadcast(m_rank == 0 ? std::string() : std::string("not empty")), "");
  EXPECT_EQ(m_comm.broadcast(std::string()), "");
}

TEST_F(CommunicatorTest, BroadcastsRankZerosNumbers) {
  EXPECT_EQ(m_comm.broadcast(m_rank == 0 ? 0.1 : -1.0 * m_rank), 0.1);
  const std::int64_t large = std::numeric_limits<std::int64_t>::max() - 2;
  EXPECT_EQ(m_comm.broadcast(m_rank == 0 ? large : std::int64_t{m_rank}), large);

  std::vector<double> values(5, m_rank + 1.0);
  m_comm.broadcast(values);
  EXPECT_EQ(values, std::vector<double>(5, 1.0));
  std::vector<double> none;
  m_comm.broadcast(none);
  EXPECT_TRUE(none.empty());
}

TEST_F(CommunicatorTest, GathersTextsOfAnyLengthInRankOrder) {
  const std::vector<std::string> texts = m_comm.gather(std::string(3 * m_rank, 'a' + m_rank));
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(m_size));
  for (int r = 0; r < m_size; ++r) EXPECT_EQ(texts[r], std::string(3 * r, 'a' + r));

  // Also empty on the last rank, and on all ranks.
  const std::vector<std::string> first = m_comm.gather(m_rank == 0 ? "only here" : "");
  std::vector<std::string> expected(m_size);
  EXPECT_EQ(m_comm.gather(""), expected);
  expected[0] = "only here";
  EXPECT_EQ(first, expected);
}

TEST_F(CommunicatorTest, ExchangesListsOfAnyLength) {
  const auto list = [](int from, int to) {
    std::vector<std::int64_t> items((2 * from + to) % 4);
    for (std::size_t i = 0; i < items.size(); ++i)
      items[i] = (std::int64_t{1} << 60) + 10000 * from + 100 * to + static_cast<std::int64_t>(i);
    return items;
  };
  std::vector<std::vector<std::int64_t>> to_rank(m_size), expected(m_size);
  for (int r = 0; r < m_size; ++r) {
    to_rank[r] = list(m_rank, r);
    expected[r] = list(r, m_rank);
  }
  EXPECT_EQ(m_comm.exchange(to_rank), expected);
}

TEST_F(CommunicatorTest, ExchangesWhereFewOrNoneSpeak) {
  const std::vector<std::vector<std::int64_t>> nothing(m_size);
  EXPECT_EQ(m_comm.exchange(nothing), nothing);

  // Only the last rank sends, and only to rank 0.
  auto to_rank = nothing, expected = nothing;
  if (m_rank == m_last) to_rank[0] = {5, -6};
  if (m_rank == 0) expected[m_last] = {5, -6};
  EXPECT_EQ(m_comm.exchange(to_rank), expected);
}

TEST_F(CommunicatorTest, DoesNotMixMessagesWithItsParents) {
  // Meanwhile, a message of the parent with the same ranks and tag is in flight.
  const int right = (m_rank + 1) % m_size, left = (m_rank + m_size - 1) % m_size;
  int parents = 100 + m_rank, ours = 200 + m_rank, got_ours = -1, got_parents = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&parents, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &request);
  MPI_Sendrecv(&ours, 1, MPI_INT, right, 3, &got_ours, 1, MPI_INT, left, 3, m_comm.get(),
               MPI_STATUS_IGNORE);
  MPI_Recv(&got_parents, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(got_ours, 200 + left);
  EXPECT_EQ(got_parents, 100 + left);
}

TEST_F(CommunicatorTest, TurnsMpiErrorsIntoExceptions) {
  EXPECT_NO_THROW(check_mpi(MPI_SUCCESS, "MPI_Send"));
  int value = 0;
  try {
    check_mpi(MPI_Send(&value, 1, MPI_INT, m_size, 0, m_comm.get()), "MPI_Send");
    ADD_FAILURE() << "a message to rank " << m_size << " of " << m_size << " was sent";
  } catch (const InternalError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find("MPI_Send failed: "), 0U) << what;
    EXPECT_NE(what.find("nvalid rank"), std::string::npos) << what;  // MPI's own text
    EXPECT_EQ(error.exit_code(), ExitCode::internal);
  }
}

}  // namespace
}  // namespace nekbone_k
