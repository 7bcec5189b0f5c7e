// SPDX-License-Identifier: BSD-3-Clause
// Findings that doctor derives from its measurements.
#include <gtest/gtest.h>

#include <algorithm>

#include "doctor/doctor_record.hpp"
#include "support/doctor_records.hpp"
#include "support/report_records.hpp"

namespace nekbone_k {
namespace {

// The only finding of a record. Expects that its fix contains `fix`.
std::string only_fault(const DoctorRecord& record, const std::string& fix) {
  const std::vector<Finding> findings = find_faults(record);
  EXPECT_EQ(findings.size(), 1u);
  if (findings.empty()) return "";
  EXPECT_NE(findings[0].fix.find(fix), std::string::npos) << findings[0].fix;
  return findings[0].what;
}

ProbeEntry& entry_of(DoctorRecord& record, ProbePlace place, ProbeMemory memory,
                     std::size_t bytes) {
  return *std::find_if(record.probe.entries.begin(), record.probe.entries.end(),
                       [&](const ProbeEntry& entry) {
                         return entry.place == place && entry.memory == memory &&
                                entry.bytes == bytes && entry.offset == 0;
                       });
}

constexpr std::size_t mebibyte = 1 << 20;

TEST(DoctorFindings, AreNoneWhereNothingIsWrong) {
  EXPECT_TRUE(find_faults(healthy_host()).empty());
  EXPECT_TRUE(find_faults(healthy_gpu()).empty());
  DoctorRecord no_query = healthy_gpu();
  no_query.probe.claim = {};
  EXPECT_TRUE(find_faults(no_query).empty());
}

TEST(DoctorFindings, NameWhatATrialProcessFound) {
  DoctorRecord record = healthy_gpu();
  record.trial = crashed_trial();
  record.probe.entries.clear();  // doctor skips the transfers then
  const std::string why = why_excluded(record.trial);
  EXPECT_EQ(only_fault(record, "an MPI built for these GPUs"),
            why + ", though MPIX_Query_cuda_support says that it can");
  record.probe.claim.device = false;
  EXPECT_EQ(only_fault(record, "an MPI built for these GPUs"), why);
  DoctorRecord host = healthy_host();
  host.trial = crashed_trial();
  host.probe.entries.clear();
  EXPECT_EQ(only_fault(host, "another transport"), why);
  for (const TrialOutcome harmless :
       {TrialOutcome::not_tried, TrialOutcome::right, TrialOutcome::not_started}) {
    record = healthy_gpu();
    record.trial = crashed_trial();
    record.trial.outcome = harmless;
    EXPECT_TRUE(find_faults(record).empty());
  }
}

TEST(DoctorFindings, HoldTheWarningsOfTheMachineWithTheirFix) {
  DoctorRecord record = healthy_host();
  record.machine.warnings = {"node1 runs 16 threads on 8 cores; use fewer; or more cores"};
  EXPECT_EQ(only_fault(record, "use fewer; or more cores"), "node1 runs 16 threads on 8 cores");
}

TEST(DoctorFindings, NameStrategiesAndSumsThatAreWrong) {
  DoctorRecord record = healthy_host();
  record.exchanges = {{"host-put", "", "WRONG add"}, {"nccl", "not in this build"}};
  EXPECT_EQ(only_fault(record, "report it to the maintainers"), "host-put exchanges wrong data");
  record.exchanges.clear();
  record.sums = {{"host-shared", "", "WRONG: sum 3"}, {"host-mpi", ""}};
  EXPECT_EQ(only_fault(record, "report it to the maintainers"), "host-shared gives wrong sums");
}

TEST(DoctorFindings, NameOnceWhatAnEarlierJobMakesRunsLeaveOut) {
  DoctorRecord record = healthy_host();
  const std::string why = "host-put crashed in the run started today; delete j to try it again";
  record.exchanges = {
      {"host-put", why, "", true}, {"host-crystal", why, "", true}, {"nccl", "none"}};
  const std::vector<Finding> findings = find_faults(record);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].what, "host-put crashed in the run started today, so runs skip it");
  EXPECT_EQ(findings[0].fix,
            "if someone ended that job, or if the fault is fixed, delete j to try it again");
}

TEST(DoctorFindings, TellWhatIsLateFromWhatIsWrong) {
  DoctorRecord record = healthy_host();
  record.exchanges = {{"host-put", "", "threw on rank 1: a message did not come within 30 s"}};
  EXPECT_EQ(only_fault(record, "raise --patience"), "host-put does not finish");
}

TEST(DoctorFindings, NameRanksBoundToTheSameCore) {
  DoctorRecord record = healthy_host();
  record.threads = 1;
  record.machine.binding = {"5", "5", "0", "1"};
  EXPECT_EQ(only_fault(record, "slot:PE=1"),
            "ranks 0-1 are bound to the same core 5 of node1: 2 threads on 1");
}

TEST(DoctorFindings, NameRanksThatShareSomeCores) {
  DoctorRecord record = healthy_host();
  record.machine.binding = {"0-1", "1-2", "0-1", "2-3"};
  EXPECT_EQ(only_fault(record, "slot:PE=2"),
            "ranks 0-1 are bound to the same core 1 of node1: 4 threads on 1");
}

TEST(DoctorFindings, AllowRanksThatAreNotBoundOrHaveRoom) {
  DoctorRecord record = healthy_host();
  record.machine.binding = {"0-7", "0-7", "0-3", "0-3"};
  EXPECT_TRUE(find_faults(record).empty());
  // Unbound ranks with more threads than the node has cores are a warning of the machine, not a
  // finding.
  record.threads = 5;
  record.machine.binding = {"0-7", "0-7", "0-4", "5-7"};
  EXPECT_TRUE(find_faults(record).empty());
}

TEST(DoctorFindings, NameRanksFarFromTheirDevice) {
  DoctorRecord record = healthy_gpu();
  record.numa_nodes = {"0", "1", "0, 2-3", "0"};
  record.device_numa_nodes = {"0", "1", "2", "1"};
  EXPECT_EQ(only_fault(record, "--map-by ppr:N:numa"),
            "rank 3 is bound to cores of NUMA node 0, its GPU is at node 1");
  record.numa_nodes = {"0", "0", "0", "0"};
  record.device_numa_nodes = {"0", "1", "0", "1"};
  EXPECT_EQ(only_fault(record, "--cpu-bind=map_ldom"),
            "ranks 1, 3 are bound to cores of NUMA node 0, their GPUs are at node 1");
  record.numa_nodes = {"0, 2-3", "0", "0", "0"};
  record.device_numa_nodes = {"1", "0", "0", "0"};
  EXPECT_EQ(only_fault(record, "next to its GPU"),
            "rank 0 is bound to cores of NUMA nodes 0, 2-3, its GPU is at node 1");
}

TEST(DoctorFindings, AllowDevicesOfWhichNothingIsKnown) {
  DoctorRecord record = healthy_gpu();
  record.device_numa_nodes = {"", "", "1", ""};
  record.numa_nodes = {"0", "0", "", "0"};
  EXPECT_TRUE(find_faults(record).empty());
}

TEST(DoctorFindings, NameRanksFarFromTheNetworkThatTheyNeed) {
  DoctorRecord record = healthy_host();
  record.machine.nodes = 2;
  record.numa_nodes = {"0", "1", "1", "0-1"};
  record.network_numa_nodes = {"0", "0", "0, 2", "0"};
  const std::vector<Finding> findings = find_faults(record);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].what,
            "rank 1 is bound to cores of NUMA node 1, the network is next to node 0");
  EXPECT_EQ(findings[1].what,
            "rank 2 is bound to cores of NUMA node 1, the network is next to nodes 0, 2");
  EXPECT_NE(findings[0].fix.find("numactl"), std::string::npos);
  record.numa_nodes = {"0", "", "1", "0"};
  record.network_numa_nodes = {"0", "0", "", "0"};
  EXPECT_TRUE(find_faults(record).empty()) << "what is not known";
  record.numa_nodes = {"1", "1", "1", "1"};
  record.network_numa_nodes = {"0", "0", "0", "0"};
  EXPECT_EQ(only_fault(record, "numactl"),
            "ranks 0-3 are bound to cores of NUMA node 1, the network is next to node 0");
  record.machine.nodes = 1;
  EXPECT_TRUE(find_faults(record).empty()) << "who sends nothing to other nodes";
}

TEST(DoctorFindings, TellsOneRankToStartMore) {
  DoctorRecord record = healthy_host();
  record.machine.ranks = 1;
  record.probe.entries.clear();
  record.launched = 1;
  EXPECT_NE(only_fault(record, "mpirun -np 2").find("only one rank"), std::string::npos);
  record.launched = 0;
  EXPECT_NE(only_fault(record, "mpirun -np 2").find("only one rank"), std::string::npos);
  record.launched = 4;
  EXPECT_NE(only_fault(record, "Open MPI v4.1.4").find("launcher started 4"), std::string::npos);
}

TEST(DoctorFindings, TellFailedTransfersOfDeviceMemoryBesideTheClaim) {
  DoctorRecord record = healthy_gpu();
  entry_of(record, ProbePlace::between_nodes, ProbeMemory::direct, mebibyte).failure =
      "rank 3: bad";
  std::string what = only_fault(record, "host-pairwise");
  EXPECT_EQ(
      what,
      "MPI corrupts messages from device memory, though MPIX_Query_cuda_support says that it can "
      "(between nodes, 1.000 MiB at 0 B: rank 3: bad)");
  record.probe.claim.device = false;
  what = only_fault(record, "host-pairwise");
  EXPECT_EQ(what.find("MPI corrupts messages from device memory ("), 0u) << what;
}

TEST(DoctorFindings, TellFailedTransfersOfHostMemory) {
  DoctorRecord record = healthy_host();
  entry_of(record, ProbePlace::within_node, ProbeMemory::direct, 8).failure = "rank 1: bad";
  EXPECT_NE(only_fault(record, "another MPI").find("host memory right (within a node, 8 B"),
            std::string::npos);
  DoctorRecord staged = healthy_gpu();
  entry_of(staged, ProbePlace::within_node, ProbeMemory::staged, 8).failure = "rank 1: bad";
  EXPECT_NE(only_fault(staged, "another MPI").find("within a node, by way of the host"),
            std::string::npos);
}

TEST(DoctorFindings, TellsTransfersThatNobodyClaimed) {
  DoctorRecord record = healthy_gpu();
  record.probe.claim.device = false;
  EXPECT_NE(only_fault(record, "nothing to do").find("every transfer was right"),
            std::string::npos);
}

TEST(DoctorFindings, TellsDeviceTransfersSlowerThanByWayOfTheHost) {
  DoctorRecord record = healthy_gpu();
  ProbeEntry& direct = entry_of(record, ProbePlace::between_nodes, ProbeMemory::direct, mebibyte);
  ProbeEntry& staged = entry_of(record, ProbePlace::between_nodes, ProbeMemory::staged, mebibyte);
  direct.seconds = 1e-3;
  staged.seconds = 0.98e-3;  // noise
  EXPECT_TRUE(find_faults(record).empty());
  staged.seconds = 0.5e-3;
  EXPECT_EQ(
      only_fault(record, "UCX"),
      "MPI takes 1.000 ms for 1.000 MiB of device memory between nodes, but 500.0 µs by way of "
      "the host");
}

TEST(DoctorFindings, TellBuildsThatAreNotForSpeedOrNotForTheMachine) {
  DoctorRecord record = healthy_host();
  record.slow_build = true;
  EXPECT_NE(only_fault(record, "preset").find("Release, preset openmp"), std::string::npos);
  record.slow_build = false;
  record.unused_gpu = true;
  EXPECT_NE(only_fault(record, "--preset cuda").find("has a GPU"), std::string::npos);
}

TEST(DoctorFindings, FindsTheCoresThatRanksShare) {
  MachineRecord machine;
  machine.hosts = {"a", "a", "b", "a"};
  machine.binding = {"0-3", "2-5", "0-9", ""};
  const std::vector<SharedCores> shared = shared_cores(machine);
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared[0].host, "a");
  EXPECT_EQ(shared[0].cores, (std::vector{2, 3}));
  EXPECT_EQ(shared[0].ranks, (std::vector{0, 1}));
}

// ---- The verdict --------------------------------------------------------------------------------

DoctorRecord tried_host() {
  DoctorRecord record = healthy_host();
  record.exchanges = {{"device-pairwise", ""}, {"nccl", "this program was built without NCCL"}};
  record.sums = {{"host-mpi", ""}};
  return record;
}

TEST(DoctorFindings, PassesWhatWasTriedAndRight) { EXPECT_TRUE(is_healthy(tried_host())); }

TEST(DoctorFindings, PassesNothingThatWasNotTried) {
  EXPECT_FALSE(is_healthy(DoctorRecord()));
  DoctorRecord record = tried_host();
  record.machine.ranks = 1;
  EXPECT_FALSE(is_healthy(record)) << "one rank exchanges nothing";
  record = tried_host();
  record.exchanges.clear();
  EXPECT_FALSE(is_healthy(record));
  record = tried_host();
  record.exchanges[0].why_not = "crashed in an earlier run";
  EXPECT_FALSE(is_healthy(record)) << "no exchange is available";
  record = tried_host();
  record.sums[0].why_not = "crashed in an earlier run";
  EXPECT_FALSE(is_healthy(record)) << "no all-reduce is available";
}

TEST(DoctorFindings, FailsWhatIsWrong) {
  DoctorRecord record = tried_host();
  record.probe.entries.back().failure = "byte 3 is 7, not 9";
  EXPECT_FALSE(is_healthy(record));
  record = tried_host();
  record.exchanges.push_back({"host-pairwise", "", "WRONG add of double"});
  EXPECT_FALSE(is_healthy(record));
  record = tried_host();
  record.sums.push_back({"host-shared", "", "WRONG"});
  EXPECT_FALSE(is_healthy(record));
}

}  // namespace
}  // namespace nekbone_k
