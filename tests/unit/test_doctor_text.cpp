// SPDX-License-Identifier: BSD-3-Clause
// Doctor's output on the terminal.
#include "doctor/doctor_text.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/format.hpp"
#include "support/contains.hpp"
#include "support/doctor_records.hpp"

namespace nekbone_k {
namespace {

std::string rows_text(const MpiProbe& probe) {
  ProbeRows rows;
  std::string text;
  for (const ProbeEntry& entry : probe.entries) {
    text += rows.before(entry);
    text += rows.after(entry);
  }
  return text + rows.end();
}

std::string whole_text(const DoctorRecord& record) {
  return doctor_header_text(record) + probe_header_text(record) + rows_text(record.probe) +
         probe_result_text(record.probe) + findings_text(find_faults(record));
}

void expect_narrow(const std::string& text) {
  EXPECT_EQ(text.back(), '\n');
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) EXPECT_LE(text_width(line), report_width) << line;
}

TEST(DoctorTextWidth, NoLineIsWiderThanATerminal) {
  expect_narrow(whole_text(healthy_host()));
  expect_narrow(whole_text(healthy_gpu()));
  DoctorRecord extreme = healthy_gpu();
  extreme.machine.warnings = {std::string(300, 'x') + "; " + std::string(300, 'y')};
  for (ProbeEntry& entry : extreme.probe.entries) {
    entry.failure = "rank 1234: " + std::string(200, 'z');
    entry.bytes *= 1000;
  }
  for (int r = 4; r < 100; ++r) {
    extreme.machine.hosts.push_back("a-node-with-a-long-name-" + std::to_string(r / 2));
    extreme.machine.binding.push_back("0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40");
    extreme.online_cores.push_back(64);
    extreme.networks.push_back("eth" + std::to_string(r));
  }
  expect_narrow(whole_text(extreme));
}

TEST(DoctorTextHeader, HasEachLineOnce) {
  const std::string text = doctor_header_text(healthy_gpu());
  for (const char* const line :
       {"  build         GNU 12.2.0, Release, preset openmp\n", "  MPI           Open MPI v4.1.4\n",
        "  ranks         4 on 2 nodes, 2 per node\n", "  hosts         ranks 0-1: node1\n",
        "  cores         ranks 0, 2: 0-1\n", "  shared        no core may be used by two ranks\n",
        "  NUMA nodes    ranks 0-3: 0\n", "  of devices    ranks 0-3: 0\n",
        "  network       ranks 0-3: eth0 (Ethernet, up), mlx5_0 (InfiniBand, active)\n"})
    EXPECT_TRUE(contains(text, line)) << line << "is not in\n" << text;
}

TEST(DoctorTextHeader, HasTheNumaNodesOfDevicesWhereKernelsRunOnThem) {
  EXPECT_FALSE(contains(doctor_header_text(healthy_host()), "of devices"));
  DoctorRecord record = healthy_gpu();
  record.device_numa_nodes = {"0", "1", "0", ""};
  EXPECT_TRUE(contains(doctor_header_text(record),
                       "  of devices    ranks 0, 2: 0\n"
                       "                rank 1: 1\n"
                       "                rank 3: unknown\n"));
}

TEST(DoctorTextHeader, NamesTheCoresThatRanksShare) {
  DoctorRecord record = healthy_host();
  record.machine.binding = {"0-3", "2-3", "0", "0"};
  EXPECT_TRUE(contains(doctor_header_text(record),
                       "  shared        cores 2-3 of node1: ranks 0-1\n"
                       "                core 0 of node2: ranks 2-3\n"));
}

TEST(DoctorTextProbe, SaysWhatIsClaimedAndWhichMemoryIsTried) {
  EXPECT_TRUE(
      contains(probe_header_text(healthy_gpu()), "MPIX_Query_cuda_support says: GPU-aware"));
  EXPECT_TRUE(contains(probe_header_text(healthy_gpu()), "device memory (Cuda)"));
  EXPECT_TRUE(contains(probe_header_text(healthy_gpu()), "if it crashes"));
  DoctorRecord record = healthy_host();
  EXPECT_TRUE(contains(probe_header_text(record), "MPIX_Query_cuda_support says: not GPU-aware"));
  EXPECT_TRUE(contains(probe_header_text(record), "host memory"));
  EXPECT_TRUE(contains(probe_header_text(record), "nothing of GPUs"));
  EXPECT_FALSE(contains(probe_header_text(record), "if it crashes"));
  record.probe.claim = {};
  EXPECT_TRUE(contains(probe_header_text(record), "no query in this MPI"));
  record.machine.ranks = 1;
  EXPECT_TRUE(contains(probe_header_text(record), "only one rank"));
}

TEST(DoctorTextProbe, EndsWithWhatIsTriedWhileItIs) {
  ProbeRows rows;
  std::string text;
  const auto ends_with = [&](const std::string& end) { EXPECT_TRUE(text.ends_with(end)) << text; };
  const MpiProbe probe = healthy_gpu().probe;
  text += rows.before(probe.entries[0]);
  ends_with("  within a node\n    8 B        at 0 B: ");
  text += rows.after(probe.entries[0]);
  text += rows.before(probe.entries[1]);
  ends_with("2.001 µs ok   at 8 B: ");
  text += rows.after(probe.entries[1]) + rows.before(probe.entries[2]);
  text += rows.after(probe.entries[2]) + rows.before(probe.entries[3]);
  ends_with("\n    1.000 MiB  at 0 B: ");
  for (int e = 3; e < 6; ++e)
    text += rows.after(probe.entries[e]) + rows.before(probe.entries[e + 1]);
  ends_with("\n  within a node, by way of the host\n    8 B        at 0 B: ");
}

TEST(DoctorTextProbe, GivesLatencyAndBandwidthOfEachPath) {
  MpiProbe probe = healthy_host().probe;
  for (ProbeEntry& entry : probe.entries) entry.seconds = entry.bytes == 8 ? 2e-6 : 1e-3;
  const std::string text = rows_text(probe);
  // The transfer is two messages of 1 MiB in 1 ms.
  const std::string line =
      "    8 B in 2.000 µs, cold; each rank sends 2.097 GB/s and receives as much (1.000 MiB)\n";
  EXPECT_TRUE(contains(text, line)) << text;
  EXPECT_TRUE(text.ends_with(line)) << text;
  EXPECT_NE(text.find(line), text.rfind(line));
}

TEST(DoctorTextProbe, NamesWhatWasWrong) {
  DoctorRecord record = healthy_host();
  EXPECT_EQ(probe_result_text(record.probe), "  found         all 12 transfers right\n");
  record.probe.entries[4].failure = "rank 2: bad";
  EXPECT_EQ(probe_result_text(record.probe),
            "  found         1 of 12 transfers WRONG\n"
            "                within a node, 1.000 MiB at 8 B: rank 2: bad\n");
  EXPECT_TRUE(contains(rows_text(record.probe), "at 8 B: WRONG"));
  record.probe.stuck = true;
  EXPECT_TRUE(contains(probe_result_text(record.probe), "were not tried"));
  EXPECT_EQ(probe_result_text({}), "");
}

TEST(DoctorTextFindings, AreNumberedEachWithItsFix) {
  EXPECT_TRUE(findings_text({}).ends_with("-\n  nothing found\n"));
  EXPECT_TRUE(findings_text({{"a is off", "do b"}, {"c is off", ""}})
                  .ends_with("-\n  1. a is off\n     fix: do b\n  2. c is off\n"));
}

TEST(DoctorTextAttempt, IsOneLineInTwoParts) {
  EXPECT_EQ(attempt_text("nccl") + attempt_result_text({"nccl", ""}), "  nccl               yes\n");
  EXPECT_EQ(attempt_text("nccl") + attempt_result_text({"nccl", "no GPU"}),
            "  nccl               not here: no GPU\n");
  expect_narrow(attempt_text("nccl") + attempt_result_text({"nccl", std::string(500, 'x')}));
}

}  // namespace
}  // namespace nekbone_k
