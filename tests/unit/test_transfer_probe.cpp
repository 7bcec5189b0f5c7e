// What a run leaves out where MPI does not send device memory right.
#include "app/transfer_probe.hpp"

#include <gtest/gtest.h>

#include "support/contains.hpp"
#include "support/report_records.hpp"

namespace nekbone_k {
namespace {

// Of a GPU: within a node alone, the fourth wrong.
TransferRecord wrong_transfers() {
  TransferRecord transfers = usual_transfers();
  transfers.on_host = false;
  transfers.probe.entries.resize(9);
  transfers.probe.entries[3].failure = "rank 1: bad";
  return transfers;
}

TuningGuard guard_without_put() {
  TuningGuard guard;
  guard.patience = 12;
  guard.why_excluded = [](const std::string& name) {
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
  const TuningGuard guard = without_wrong_transfers(guard_without_put(), wrong_transfers());
  EXPECT_EQ(guard.patience, 12);
  for (const std::string name :
       {"device-pairwise", "device-pairwise+overlap", "device-node-aware", "device-crystal"})
    EXPECT_EQ(guard.why_excluded(name),
              "MPI does not send device memory right (within a node, 4.000 KiB at 0 B: rank 1: "
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
  const TuningGuard guard = without_wrong_transfers(guard_without_put(), transfers);
  EXPECT_TRUE(contains(guard.why_excluded("peer-memory"), "device memory"));
  EXPECT_EQ(guard.why_excluded("nccl"), "");
}

TEST(TransferProbe, ExcludesNothingMoreWhereAllIsRightOrOnTheHost) {
  TransferRecord right = wrong_transfers(), host = right;
  right.probe.entries[3].failure.clear();
  host.on_host = true;
  for (const TransferRecord& transfers : {right, host}) {
    const TuningGuard guard = without_wrong_transfers(guard_without_put(), transfers);
    EXPECT_EQ(guard.why_excluded("device-pairwise"), "");
    EXPECT_EQ(guard.why_excluded("device-put"), "it crashed");
  }
}

}  // namespace
}  // namespace nekbone_k
