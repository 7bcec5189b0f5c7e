// SPDX-License-Identifier: BSD-3-Clause
// Strategies that a run skips if MPI does not send device memory correctly.
#include "tuning/transfer_probe.hpp"

#include <gtest/gtest.h>

#include "support/callback_guard.hpp"
#include "support/contains.hpp"
#include "support/report_records.hpp"

namespace nekbone_k {
namespace {

// Transfers of GPU memory within one node. The fourth is wrong.
TransferRecord wrong_transfers() {
  TransferRecord transfers = usual_transfers();
  transfers.on_host = false;
  transfers.probe.entries.resize(9);
  transfers.several_nodes = false;
  transfers.probe.entries[3].failure = "rank 1: bad";
  return transfers;
}

CallbackGuard guard_without_put() {
  CallbackGuard guard;
  guard.seconds = 12;
  guard.excluded = [](const std::string& name) {
    return std::string(name == "device-put" ? "it crashed" : "");
  };
  return guard;
}

TEST(TransferProbe, FindsTheFirstThatWasWrong) {
  TransferRecord transfers = wrong_transfers();
  EXPECT_EQ(first_wrong(transfers), &transfers.probe.entries[3]);
  EXPECT_EQ(first_wrong(usual_transfers()), nullptr);
}

TEST(TransferProbe, ExcludesWhatHandsDeviceMemoryToMpi) {
  CallbackGuard wide = guard_without_put();
  const NarrowedGuard guard = without_wrong_transfers(wide, wrong_transfers());
  EXPECT_EQ(guard.patience(), 12);
  for (const std::string name :
       {"device-pairwise", "device-pairwise+overlap", "device-node-aware", "device-crystal"})
    EXPECT_EQ(guard.why_excluded(name),
              "MPI corrupts messages from device memory (within a node, 4.000 KiB at 0 B: rank 1: "
              "bad)")
        << name;
  EXPECT_TRUE(contains(guard.why_excluded(guarded_name(direct_messages)), "rank 1: bad"));
  for (const std::string name : {"nccl", "nvshmem", "peer-memory", "sum host-mpi"})
    EXPECT_EQ(guard.why_excluded(name), "") << name;
  if (!is_host_device) {
    EXPECT_EQ(guard.why_excluded("host-pairwise"), "");
  }
  EXPECT_EQ(guard.why_excluded("device-put"), "it crashed");
}

TEST(TransferProbe, ExcludesPeerMemoryWhereMpiGoesOnFromIt) {
  TransferRecord transfers = wrong_transfers();
  transfers.probe.entries.push_back(usual_transfers().probe.entries.back());
  transfers.several_nodes = true;
  CallbackGuard wide = guard_without_put();
  const NarrowedGuard guard = without_wrong_transfers(wide, transfers);
  EXPECT_TRUE(contains(guard.why_excluded("peer-memory"), "device memory"));
  EXPECT_EQ(guard.why_excluded("nccl"), "");
}

MpiTrial bad_trial(TrialOutcome outcome) {
  MpiTrial trial;
  trial.outcome = outcome;
  trial.what = "crashed by SIGSEGV";
  trial.host = "node1";
  return trial;
}

TEST(TransferProbe, ExcludesWhatTheTrialFoundToGoWrong) {
  for (const bool several_nodes : {false, true}) {
    TransferRecord transfers;
    transfers.on_host = false;
    transfers.trial = bad_trial(TrialOutcome::crashed);
    transfers.several_nodes = several_nodes;
    CallbackGuard wide = guard_without_put();
    const NarrowedGuard guard = without_wrong_transfers(wide, transfers);
    EXPECT_EQ(guard.patience(), 12);
    for (const std::string name : {"device-pairwise", "device-alltoall+overlap", "device-crystal"})
      EXPECT_EQ(guard.why_excluded(name), why_excluded(transfers.trial)) << name;
    EXPECT_TRUE(contains(guard.why_excluded(guarded_name(direct_messages)), "SIGSEGV"));
    EXPECT_EQ(guard.why_excluded("peer-memory").empty(), !several_nodes);
    for (const std::string name : {"nccl", "nvshmem", "sum host-mpi"})
      EXPECT_EQ(guard.why_excluded(name), "") << name;
    // If kernels run on the host, host-pairwise sends the same memory.
    EXPECT_EQ(guard.why_excluded("host-pairwise").empty(), !is_host_device);
    EXPECT_EQ(guard.why_excluded("device-put"), "it crashed");
  }
}

TEST(TransferProbe, ExcludesNothingForATrialThatFoundNothingWrong) {
  for (const TrialOutcome outcome :
       {TrialOutcome::not_tried, TrialOutcome::right, TrialOutcome::not_started}) {
    CallbackGuard wide = guard_without_put();
    const NarrowedGuard guard = without_bad_trial(wide, bad_trial(outcome), true);
    EXPECT_EQ(guard.why_excluded("device-pairwise"), "");
    EXPECT_EQ(guard.why_excluded("device-put"), "it crashed");
  }
}

TEST(TransferProbe, ExcludesNothingMoreWhereAllIsRightOrOnTheHost) {
  TransferRecord right = wrong_transfers(), host = right;
  right.probe.entries[3].failure.clear();
  host.on_host = true;
  for (const TransferRecord& transfers : {right, host}) {
    CallbackGuard wide = guard_without_put();
    const NarrowedGuard guard = without_wrong_transfers(wide, transfers);
    EXPECT_EQ(guard.why_excluded("device-pairwise"), "");
    EXPECT_EQ(guard.why_excluded("device-put"), "it crashed");
  }
}

}  // namespace
}  // namespace nekbone_k
