// SPDX-License-Identifier: BSD-3-Clause
// The probe of MPI by transfers: it accepts a working MPI and locates the faults of a broken one.
#include "machine/mpi_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "core/errors.hpp"
#include "core/system.hpp"
#include "core/types.hpp"

namespace nekbone_k {
namespace {

class MpiProbeTest : public testing::Test {
 protected:
  void TearDown() override { unsetenv("NEKBONE_K_RANKS_PER_NODE"); }

  // Small sizes, so that tests are fast, and one size that MPI sends by rendezvous.
  ProbeOptions options() const {
    ProbeOptions options;
    options.sizes = {8, 4096, 1 << 17};
    options.repeats = 3;
    options.staged = true;
    return options;
  }
  bool alone() const { return m_comm.size() == 1; }

  const Communicator m_comm{MPI_COMM_WORLD};
};

// The results that must be the same on every rank, as text.
std::string described(const MpiProbe& probe) {
  std::string text = probe.memory + probe.claim.query;
  text += probe.claim.device ? (*probe.claim.device ? "yes" : "no") : "?";
  text += probe.stuck ? " stuck" : "";
  for (const ProbeEntry& entry : probe.entries)
    text += "\n" + std::to_string(static_cast<int>(entry.place)) +
            std::to_string(static_cast<int>(entry.memory)) + " " + std::to_string(entry.bytes) +
            " " + std::to_string(entry.offset) + " " + std::to_string(entry.seconds) + " " +
            entry.failure;
  return text;
}

void expect_alike(const Communicator& comm, const MpiProbe& probe) {
  for (const std::string& other : comm.gather(described(probe))) EXPECT_EQ(other, described(probe));
}

void expect_all_right(const Communicator& comm, const MpiProbe& probe) {
  for (const ProbeEntry& entry : probe.entries) {
    EXPECT_TRUE(entry.ok()) << entry.bytes << " B at " << entry.offset << ": " << entry.failure;
    EXPECT_GT(entry.seconds, 0);
  }
  EXPECT_FALSE(probe.stuck);
  expect_alike(comm, probe);
}

bool is_direct(const ProbeEntry& entry, std::size_t bytes, std::size_t offset) {
  return entry.memory == ProbeMemory::direct && entry.bytes == bytes && entry.offset == offset;
}

using OneByte = Kokkos::View<unsigned char*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

// Changes a byte of device memory.
void damage(void* buffer, std::ptrdiff_t at) {
  const OneByte byte(static_cast<unsigned char*>(buffer) + at, 1);
  unsigned char value = 0;
  const Kokkos::View<unsigned char*, HostMemory> host(&value, 1);
  Kokkos::deep_copy(host, byte);
  value ^= 0x10;
  Kokkos::deep_copy(byte, host);
}

// ---- A healthy MPI -----------------------------------------------------------------------------

TEST_F(MpiProbeTest, FindsAllRightByDefault) {
  ProbeOptions options;  // the default sizes and offsets
  options.repeats = 2;
  const MpiProbe probe = probe_mpi(m_comm, options);
  EXPECT_EQ(probe.memory, DeviceMemory::name());
  EXPECT_EQ(probe.entries.size(), alone() ? 0u : 15u);
  expect_all_right(m_comm, probe);
}

TEST_F(MpiProbeTest, TriesEachSizeAtEachOffsetAndStagedAtOne) {
  std::vector<std::string> told;
  ProbeOptions chosen = options();
  const auto tell = [&](const char* when, const ProbeEntry& entry) {
    told.push_back(when + std::to_string(entry.bytes) + "+" + std::to_string(entry.offset) +
                   (entry.memory == ProbeMemory::staged ? " staged" : ""));
  };
  chosen.before = [&](const ProbeEntry& entry) { tell("before ", entry); };
  chosen.after = [&](const ProbeEntry& entry) { tell("after ", entry); };
  const MpiProbe probe = probe_mpi(m_comm, chosen);
  expect_all_right(m_comm, probe);
  std::vector<std::string> expected;
  const auto expect = [&](const std::string& what) {
    expected.push_back("before " + what);
    expected.push_back("after " + what);
  };
  for (const char* const bytes : {"8", "4096", "131072"})
    for (const char* const offset : {"+0", "+8", "+3"}) expect(std::string(bytes) + offset);
  for (const char* const bytes : {"8", "4096", "131072"}) expect(std::string(bytes) + "+0 staged");
  if (alone()) expected.clear();
  EXPECT_EQ(told, expected);
}

TEST_F(MpiProbeTest, TriesWithinAndBetweenNodesApart) {
  for (const char* const ranks_per_node : {"1", "2"}) {
    setenv("NEKBONE_K_RANKS_PER_NODE", ranks_per_node, 1);
    const std::vector<int> nodes = nodes_of_ranks(m_comm);
    ProbeOptions chosen = options();
    chosen.transfer = [&](const Communicator& comm, const ProbeEntry& entry,
                          const RingMessages& messages) {
      for (const int other : {messages.to[0], messages.to[1]}) {
        EXPECT_NE(other, comm.rank());
        EXPECT_EQ(nodes[other] == nodes[comm.rank()], entry.place == ProbePlace::within_node);
      }
      EXPECT_EQ(messages.from[0], messages.to[1]);
      EXPECT_EQ(messages.from[1], messages.to[0]);
      send_ring_messages(comm, messages);
    };
    const MpiProbe probe = probe_mpi(m_comm, chosen);
    expect_all_right(m_comm, probe);
    std::set<ProbePlace> expected, tried;
    if (ranks_per_node[0] == '2' && m_comm.size() > 1) expected.insert(ProbePlace::within_node);
    if (m_comm.size() > std::atoi(ranks_per_node)) expected.insert(ProbePlace::between_nodes);
    for (const ProbeEntry& entry : probe.entries) tried.insert(entry.place);
    EXPECT_EQ(tried, expected) << ranks_per_node;
  }
}

TEST_F(MpiProbeTest, SendsToItselfWhereARankIsAloneAndThatIsWanted) {
  ProbeOptions alone = options();
  alone.to_itself = true;
  const Communicator self(MPI_COMM_SELF);
  const MpiProbe probe = probe_mpi(self, alone);
  EXPECT_EQ(probe.entries.size(), 12u);  // three sizes: three offsets direct, one staged
  expect_all_right(self, probe);
  for (const ProbeEntry& entry : probe.entries) EXPECT_EQ(entry.place, ProbePlace::within_node);
  EXPECT_TRUE(probe_mpi(self, options()).entries.empty());
  alone.transfer = [](const Communicator& comm, const ProbeEntry& entry,
                      const RingMessages& messages) {
    send_ring_messages(comm, messages);
    if (is_direct(entry, 4096, 8)) damage(messages.receive[1], 17);
  };
  for (const ProbeEntry& entry : probe_mpi(self, alone).entries)
    EXPECT_EQ(entry.ok(), !is_direct(entry, 4096, 8)) << entry.failure;
}

TEST_F(MpiProbeTest, NamesTheQueryThatAnswered) {
  const MpiClaim claim = mpi_claim(m_comm);
  EXPECT_EQ(claim.device.has_value(), !claim.query.empty());
}

// ---- A broken MPI ------------------------------------------------------------------------------

// The only wrong entry, or null.
const ProbeEntry* only_failure(const MpiProbe& probe) {
  const ProbeEntry* found = nullptr;
  for (const ProbeEntry& entry : probe.entries) {
    if (entry.ok()) continue;
    EXPECT_EQ(found, nullptr) << entry.bytes << " B at " << entry.offset << ": " << entry.failure;
    found = &entry;
  }
  return found;
}

TEST_F(MpiProbeTest, ReportsOneWrongByteWithItsSizeOffsetAndRank) {
  const int victim = m_comm.size() - 1;
  int calls = 0;
  ProbeOptions chosen = options();
  chosen.transfer = [&](const Communicator& comm, const ProbeEntry& entry,
                        const RingMessages& messages) {
    send_ring_messages(comm, messages);
    // Damages the last byte of the message from the next rank, in the last repeat.
    if (is_direct(entry, 4096, 3) && ++calls == 3 && comm.rank() == victim)
      damage(messages.receive[1], 4095);
  };
  const MpiProbe probe = probe_mpi(m_comm, chosen);
  expect_alike(m_comm, probe);
  EXPECT_FALSE(probe.stuck);
  EXPECT_EQ(probe.entries.size(), alone() ? 0u : 12u);
  const ProbeEntry* const failed = only_failure(probe);
  ASSERT_EQ(failed != nullptr, !alone());
  if (alone()) return;
  EXPECT_TRUE(is_direct(*failed, 4096, 3));
  EXPECT_EQ(failed->place, ProbePlace::within_node);
  const std::string expected = "rank " + std::to_string(victim) +
                               ": 1 of 4096 bytes from rank 0 are wrong, the first at byte 4095: ";
  EXPECT_EQ(failed->failure.substr(0, expected.size()), expected);
}

TEST_F(MpiProbeTest, ReportsAWrongPlaceByItsName) {
  setenv("NEKBONE_K_RANKS_PER_NODE", "2", 1);
  ProbeOptions chosen = options();
  chosen.transfer = [](const Communicator& comm, const ProbeEntry& entry,
                       const RingMessages& messages) {
    send_ring_messages(comm, messages);
    if (is_direct(entry, 8, 0) && entry.place == ProbePlace::between_nodes && comm.rank() == 0)
      damage(messages.receive[0], 0);
  };
  const MpiProbe probe = probe_mpi(m_comm, chosen);
  expect_alike(m_comm, probe);
  const ProbeEntry* const failed = only_failure(probe);
  ASSERT_EQ(failed != nullptr, m_comm.size() > 2);
  if (failed != nullptr) {
    EXPECT_EQ(failed->place, ProbePlace::between_nodes);
  }
}

TEST_F(MpiProbeTest, ReportsMemoryChangedBesideAMessage) {
  for (const std::ptrdiff_t at : {-1, 4096}) {
    ProbeOptions chosen = options();
    chosen.transfer = [&](const Communicator& comm, const ProbeEntry& entry,
                          const RingMessages& messages) {
      send_ring_messages(comm, messages);
      if (is_direct(entry, 4096, 8)) damage(messages.receive[0], at);
    };
    const MpiProbe probe = probe_mpi(m_comm, chosen);
    expect_alike(m_comm, probe);
    const ProbeEntry* const failed = only_failure(probe);
    ASSERT_EQ(failed != nullptr, !alone());
    if (alone()) continue;
    EXPECT_TRUE(is_direct(*failed, 4096, 8));
    EXPECT_EQ(failed->failure.find("rank 0: memory beside the 4096 bytes"), 0u) << failed->failure;
    const int more = m_comm.size() - 1;
    EXPECT_TRUE(failed->failure.ends_with("; and on " + std::to_string(more) + " more rank" +
                                          (more == 1 ? "" : "s")))
        << failed->failure;
  }
}

// Each repeat has its own bytes, so the probe detects data of an earlier repeat.
TEST_F(MpiProbeTest, ReportsWhatDidNotArriveInALaterRepeat) {
  int calls = 0;
  ProbeOptions chosen = options();
  chosen.transfer = [&](const Communicator& comm, const ProbeEntry& entry,
                        const RingMessages& messages) {
    if (is_direct(entry, 1 << 17, 0) && ++calls == 2) return;  // the same on every rank
    send_ring_messages(comm, messages);
  };
  const MpiProbe probe = probe_mpi(m_comm, chosen);
  expect_alike(m_comm, probe);
  const ProbeEntry* const failed = only_failure(probe);
  ASSERT_EQ(failed != nullptr, !alone());
  if (alone()) return;
  EXPECT_TRUE(is_direct(*failed, 1 << 17, 0));
  EXPECT_NE(failed->failure.find("131072 of 131072 bytes"), std::string::npos) << failed->failure;
  EXPECT_NE(failed->failure.find("did not arrive"), std::string::npos) << failed->failure;
}

TEST_F(MpiProbeTest, ReportsNeighboursMixedUp) {
  ProbeOptions chosen = options();
  chosen.transfer = [](const Communicator& comm, const ProbeEntry& entry,
                       const RingMessages& messages) {
    RingMessages mixed = messages;
    if (is_direct(entry, 8, 8)) std::swap(mixed.receive[0], mixed.receive[1]);
    send_ring_messages(comm, mixed);
  };
  const MpiProbe probe = probe_mpi(m_comm, chosen);
  expect_alike(m_comm, probe);
  const ProbeEntry* const failed = only_failure(probe);
  ASSERT_EQ(failed != nullptr, !alone());
  if (!alone()) {
    EXPECT_TRUE(is_direct(*failed, 8, 8));
  }
}

TEST_F(MpiProbeTest, GivesUpAPathOnWhichOneRankThrew) {
  const int victim = m_comm.size() / 2;
  ProbeOptions chosen = options();
  chosen.transfer = [&](const Communicator& comm, const ProbeEntry& entry,
                        const RingMessages& messages) {
    send_ring_messages(comm, messages);
    if (is_direct(entry, 4096, 0) && comm.rank() == victim)
      throw std::runtime_error("the cable is cut");
  };
  const MpiProbe probe = probe_mpi(m_comm, chosen);
  expect_alike(m_comm, probe);
  EXPECT_EQ(probe.stuck, !alone());
  // Three offsets of the smallest size, the one that threw, and three staged sizes.
  EXPECT_EQ(probe.entries.size(), alone() ? 0u : 7u);
  const ProbeEntry* const failed = only_failure(probe);
  ASSERT_EQ(failed != nullptr, !alone());
  if (alone()) return;
  EXPECT_TRUE(is_direct(*failed, 4096, 0));
  EXPECT_EQ(failed->failure, "rank " + std::to_string(victim) + ": the cable is cut");
}

TEST_F(MpiProbeTest, DoesNotWaitForEver) {
  ProbeOptions chosen = options();
  chosen.transfer = [&](const Communicator& comm, const ProbeEntry& entry,
                        const RingMessages& messages) {
    if (!is_direct(entry, 8, 0)) return send_ring_messages(comm, messages);
    // Rank 0 starts after the others have given up, so that no message is left over.
    if (comm.rank() == 0) m_comm.barrier();
    std::string complaint;
    try {
      send_ring_messages(comm, messages, comm.rank() == 0 ? 30 : 0.05);
    } catch (const InternalError& error) {
      complaint = error.what();
    }
    if (comm.rank() != 0) m_comm.barrier();
    if (!complaint.empty()) throw InternalError(complaint);
  };
  const MpiProbe probe = probe_mpi(m_comm, chosen);
  expect_alike(m_comm, probe);
  EXPECT_EQ(probe.stuck, !alone());
  const ProbeEntry* const failed = only_failure(probe);
  ASSERT_EQ(failed != nullptr, !alone());
  if (alone()) return;
  EXPECT_TRUE(is_direct(*failed, 8, 0));
  EXPECT_EQ(failed->failure.find("rank 1: messages were not there after 0.05 s"), 0u)
      << failed->failure;
}

TEST_F(MpiProbeTest, ReportsWhatMpiSays) {
  ProbeOptions chosen = options();
  chosen.transfer = [](const Communicator& comm, const ProbeEntry&, const RingMessages& messages) {
    RingMessages bad = messages;
    bad.from.fill(comm.size());  // no such rank
    send_ring_messages(comm, bad);
  };
  const MpiProbe probe = probe_mpi(m_comm, chosen);
  expect_alike(m_comm, probe);
  EXPECT_EQ(probe.entries.size(), alone() ? 0u : 2u);  // direct and staged stop at the first entry
  for (const ProbeEntry& entry : probe.entries)
    EXPECT_EQ(entry.failure.find("rank 0: MPI_Irecv failed: "), 0u) << entry.failure;
}

}  // namespace
}  // namespace nekbone_k
