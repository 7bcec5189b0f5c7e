// SPDX-License-Identifier: BSD-3-Clause
// The guarded transfers by which a run tests MPI.
#include "tuning/transfer_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/callback_guard.hpp"
#include "support/pretended_nodes.hpp"

namespace nekbone_k {
namespace {

class TransferProbeMpi : public testing::Test {
 protected:
  // Records the calls to the guard.
  TransferProbeMpi() {
    m_guard.seconds = 30;
    m_guard.on_enter = [this](const std::string& name) { m_seen.push_back(name); };
    m_guard.on_leave = [this] { m_seen.push_back("left"); };
  }
  TransferRecord probe() { return probe_transfers(m_comm, all_strategies(), m_guard); }

  const Communicator m_comm{MPI_COMM_WORLD};
  CallbackGuard m_guard;
  std::vector<std::string> m_seen;
};

TEST_F(TransferProbeMpi, TriesEagerAndRendezvousSizesAtAllOffsetsUnderGuard) {
  const TransferRecord record = probe();
  EXPECT_EQ(record.on_host, is_host_device);
  EXPECT_EQ(record.why_not, "");
  EXPECT_EQ(record.probe.entries.size(), m_comm.size() == 1 ? 0u : 9u);
  EXPECT_EQ(first_wrong(record), nullptr);
  EXPECT_FALSE(record.probe.stuck);
  EXPECT_GT(record.seconds, 0);
  EXPECT_EQ(m_seen, (std::vector<std::string>{guarded_name(direct_messages), "left"}));
}

TEST_F(TransferProbeMpi, TriesWithinNodesAndBetweenThem) {
  if (m_comm.size() < 3) GTEST_SKIP() << "two nodes of two ranks need three";
  const PretendedNodes pretended(2);
  const TransferRecord record = probe();
  EXPECT_EQ(first_wrong(record), nullptr);
  EXPECT_EQ(record.probe.entries.size(), 18u);
  EXPECT_EQ(std::count_if(record.probe.entries.begin(), record.probe.entries.end(),
                          [](const auto& e) { return e.place == ProbePlace::between_nodes; }),
            9);
}

TEST_F(TransferProbeMpi, LeavesOutWhatEndedAnEarlierRun) {
  m_guard.excluded = [](const std::string& name) {
    return std::string(name == guarded_name(direct_messages) ? "it crashed" : "");
  };
  const TransferRecord record = probe();
  EXPECT_EQ(record.why_not, "it crashed");
  EXPECT_TRUE(record.probe.entries.empty());
  EXPECT_EQ(record.probe.claim.query, mpi_claim(m_comm).query);
  EXPECT_TRUE(m_seen.empty());
}

TEST_F(TransferProbeMpi, HandsMpiNoDeviceMemoryWhereNoStrategyDoes) {
  const std::vector<Strategy> others{*find_strategy("host-pairwise"), *find_strategy("nccl")};
  const TransferRecord record = probe_transfers(m_comm, others, m_guard);
  EXPECT_EQ(record.why_not.empty(), is_host_device);  // on the host, transfers use host memory
  EXPECT_EQ(m_seen.empty(), !is_host_device);
  const TransferRecord nothing = probe_transfers(m_comm, {}, m_guard);
  EXPECT_EQ(nothing.why_not.empty(), is_host_device);
}

}  // namespace
}  // namespace nekbone_k
