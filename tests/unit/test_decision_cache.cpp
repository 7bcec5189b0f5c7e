// SPDX-License-Identifier: BSD-3-Clause
// Choices cached in a file: found only where they are valid.
#include "tuning/decision_cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "selection/replay.hpp"
#include "support/report_records.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

/// The key of an exchange at order 7.
DecisionKey key_at_7(const Case& input, const MachineRecord& machine) {
  return make_decision_key(input, input.mesh, {7, input.field_kind, input.chosen_strategies()},
                           machine);
}

class DecisionCacheTest : public testing::Test {
 protected:
  std::string path() const { return m_folder.path("cache.json"); }
  std::string read(const std::string& name) const { return content(m_folder.path(name)); }
  void write(const std::string& text) const { std::ofstream(path()) << text; }

  static DecisionKey key(const std::string& order, const std::string& mpi = "MPI 4") {
    return {"exchanges", {{"elements", "4, 4, 4"}, {"order", order}, {"MPI", mpi}}};
  }

  TemporaryFolder m_folder;
};

TEST_F(DecisionCacheTest, FindsWhatWasStored) {
  const DecisionCache cache(path());
  EXPECT_NE(cache.find(key("7")).why_not.find("there is no"), std::string::npos);
  EXPECT_EQ(cache.store(key("7"), {"a", 1.25e-5, "today"}), "");
  EXPECT_EQ(cache.store(key("3"), {"b", -1e-6, "today"}), "");
  const auto seven = DecisionCache(path()).find(key("7")), three = cache.find(key("3"));
  ASSERT_TRUE(seven.decision && three.decision);
  EXPECT_EQ(seven.decision->strategy, "a");
  EXPECT_EQ(seven.decision->cost_seconds, 1.25e-5);
  EXPECT_EQ(seven.decision->found, "today");
  EXPECT_EQ(three.decision->strategy, "b");
  EXPECT_EQ(cache.store(key("7"), {"b", 2e-5, "later"}), "");
  EXPECT_EQ(cache.find(key("7")).decision->strategy, "b");
  EXPECT_EQ(cache.find(key("3")).decision->strategy, "b");
}

TEST_F(DecisionCacheTest, SaysHowTheNearestChoiceDiffers) {
  const DecisionCache cache(path());
  EXPECT_EQ(cache.store(key("7"), {"a", 1e-5, "today"}), "");
  EXPECT_EQ(cache.store(key("9", "MPI 6"), {"a", 1e-5, "later"}), "");
  const auto reason = [&](const DecisionKey& other) {
    const auto found = cache.find(other);
    EXPECT_FALSE(found.decision);
    const std::size_t differs = found.why_not.find(path() + " differs: ");
    return differs == std::string::npos ? found.why_not
                                        : found.why_not.substr(differs + path().size() + 10);
  };
  EXPECT_EQ(reason(key("7", "MPI 5")), "MPI was MPI 4, now MPI 5");
  EXPECT_EQ(reason(key("8", "MPI 6")), "order was 9, now 8");
  EXPECT_EQ(reason(key("7", "MPI 6")), "MPI was MPI 4, now MPI 6") << "order 9 is another case";
  EXPECT_EQ(reason(key("8", "MPI 5")), "MPI was MPI 6, now MPI 5; order was 9, now 8");
  DecisionKey more = key("7");
  more.fields["devices"] = "some";
  EXPECT_EQ(reason(more), "devices was not known, now some");
}

TEST_F(DecisionCacheTest, SaysOfALongListWhatIsInOneAlone) {
  const auto differences = [](const std::string& was, const std::string& now) {
    const DecisionKey earlier{"exchanges", {{"strategies", was}}};
    return earlier.differences({"exchanges", {{"strategies", now}}});
  };
  using Differences = std::vector<std::string>;
  EXPECT_EQ(differences("a, b", "b, c"), Differences{"strategies was a, b, now b, c"});
  std::string many = "s1";
  for (int s = 2; s <= 38; ++s) many += ", s" + std::to_string(s);
  EXPECT_EQ(differences(many, "s1"),
            Differences{"strategies are now without s10, s11, s12 and 34 more"});
  EXPECT_EQ(differences("s2", many),
            Differences{"strategies are now with s1, s10, s11 and 34 more"});
  EXPECT_EQ(differences(many, many.substr(0, many.rfind(',')) + ", new"),
            Differences{"strategies are now without s38, with new"});
  // In other lists, the order and the number of entries count.
  const DecisionKey earlier{"exchanges", {{"ranks per node", many}}};
  EXPECT_EQ(earlier.differences({"exchanges", {{"ranks per node", many + ", s1"}}}),
            Differences{"ranks per node was " + many + ", now " + many + ", s1"});
}

TEST_F(DecisionCacheTest, TakesNoChoiceOfOtherWork) {
  const Case input = parse_case("problem: none", "x.yaml", {}, 1);
  const DecisionKey key = key_at_7(input, usual_machine());
  EXPECT_EQ(key.fields.at("peer memory on a shared GPU"), "no");
  DecisionKey other = key;
  other.fields["work"] = "Ax";
  const DecisionCache cache(path());
  EXPECT_EQ(cache.store(other, {"a", 1e-5, "today"}), "");
  EXPECT_FALSE(cache.find(key).decision);
}

TEST_F(DecisionCacheTest, TakesNoChoiceOfSomethingElse) {
  const DecisionCache cache(path());
  EXPECT_EQ(cache.store(key("7"), {"a", 1e-5, "today"}), "");
  DecisionKey sums = key("7");
  sums.kind = "all-reduces";
  EXPECT_EQ(cache.find(sums).why_not, path() + " has no choice of all-reduces yet");
  EXPECT_EQ(cache.store(sums, {"s", 1e-6, "today"}), "");
  EXPECT_EQ(cache.find(sums).decision->strategy, "s");
  EXPECT_EQ(cache.find(key("7")).decision->strategy, "a");
}

TEST_F(DecisionCacheTest, TakesNoChoiceOfOtherLibraries) {
  const Case input = parse_case("problem: none", "x.yaml", {}, 1);
  MachineRecord machine = usual_machine();
  machine.libraries.nccl = "2.28.9";
  const DecisionCache cache(path());
  EXPECT_EQ(cache.store(key_at_7(input, machine), {"a", 1e-5, "today"}), "");
  EXPECT_TRUE(cache.find(key_at_7(input, machine)).decision);
  machine.libraries.nccl = "2.29.1";
  const auto found = cache.find(key_at_7(input, machine));
  EXPECT_FALSE(found.decision);
  EXPECT_NE(found.why_not.find("NCCL was 2.28.9, now 2.29.1"), std::string::npos) << found.why_not;
}

TEST_F(DecisionCacheTest, TakesNoChoiceOfRanksOnOtherNodes) {
  const Case input = parse_case("problem: none", "x.yaml", {}, 1);
  const auto key_on = [&](const std::vector<std::string>& hosts) {
    MachineRecord machine = usual_machine();
    machine.hosts = hosts;
    return key_at_7(input, machine);
  };
  const DecisionCache cache(path());
  EXPECT_EQ(cache.store(key_on({"a", "a", "b", "b"}), {"a", 1e-5, "today"}), "");
  EXPECT_TRUE(cache.find(key_on({"d", "d", "c", "c"})).decision) << "others, but alike";
  const auto found = cache.find(key_on({"a", "b", "a", "b"}));
  EXPECT_FALSE(found.decision);
  EXPECT_NE(found.why_not.find("nodes of the ranks was 0: 2, 1: 2, now 0: 1, 1: 1, 0: 1, 1: 1"),
            std::string::npos)
      << found.why_not;
  // For many ranks, the text has a hash.
  std::vector<std::string> hosts;
  for (int rank = 0; rank < 1000; ++rank) hosts.push_back("n" + std::to_string(rank % 10));
  const DecisionKey many = key_on(hosts);
  EXPECT_EQ(many.fields.at("nodes of the ranks").find("10 nodes, layout "), 0u);
  std::swap(hosts[998], hosts[999]);
  EXPECT_NE(key_on(hosts).fields, many.fields);
}

TEST_F(DecisionCacheTest, WaitsForAnotherJobNotForEver) {
  const int file = open((path() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  ASSERT_GE(file, 0);
  ASSERT_EQ(flock(file, LOCK_EX), 0);
  const DecisionCache cache(path(), /*patience=*/0.05);
  const std::string failure = cache.store(key("1"), {"a", 1, "x"});
  EXPECT_NE(failure.find("another job has had " + path() + ".lock for 0.05 s"), std::string::npos)
      << failure;
  close(file);
  EXPECT_EQ(cache.store(key("1"), {"a", 1, "x"}), "");
}

TEST_F(DecisionCacheTest, TakesNoChoiceForFieldsOfAnotherKind) {
  const auto key_of = [](const std::string& gather_scatter) {
    const std::string text = "problem: none\ngather_scatter: {" + gather_scatter + "}";
    const Case input = parse_case(text, "x.yaml", {}, 1);
    return key_at_7(input, usual_machine());
  };
  const DecisionKey vectors = key_of("components: 3, precision: single");
  const DecisionCache cache(path());
  EXPECT_EQ(cache.store(key_of(""), {"a", 1e-5, "today"}), "");
  const auto found = cache.find(vectors);
  EXPECT_FALSE(found.decision);
  EXPECT_NE(found.why_not.find("components was 1, now 3; precision was double, now single"),
            std::string::npos)
      << found.why_not;
  EXPECT_EQ(cache.store(vectors, {"b", 1e-5, "today"}), "");
  EXPECT_EQ(cache.find(vectors).decision->strategy, "b");
  EXPECT_EQ(cache.find(key_of("components: 1, precision: double")).decision->strategy, "a");
  EXPECT_FALSE(cache.find(key_of("components: 3")).decision);
  EXPECT_FALSE(cache.find(key_of("precision: single")).decision);
}

TEST_F(DecisionCacheTest, KeepsAFileThatIsNone) {
  const std::string good = [&] {
    EXPECT_EQ(DecisionCache(path()).store(key("1"), {"a", 1, "x"}), "");
    return read("cache.json");
  }();
  for (const std::string& text :
       {std::string("no JSON"), std::string("{}"), std::string("[1, 2]"), std::string(),
        good.substr(0, good.size() / 2),
        std::string(R"({"decision_cache": 2, "decisions": [{"key": 3}]})")}) {
    SCOPED_TRACE(text);
    write(text);
    const DecisionCache cache(path());
    const auto found = cache.find(key("1"));
    EXPECT_FALSE(found.decision);
    EXPECT_NE(found.why_not.find("cannot be used"), std::string::npos) << found.why_not;
    EXPECT_EQ(cache.store(key("1"), {"b", 2, "y"}), "");
    EXPECT_EQ(cache.find(key("1")).decision->strategy, "b");
    EXPECT_EQ(read("cache.json.unreadable"), text);
  }
}

TEST_F(DecisionCacheTest, HasANameOfUpTo255Bytes) {
  const std::string longest(255, 'n');
  std::ofstream(m_folder.path(longest)) << "no cache";
  const DecisionCache cache(m_folder.path(longest));
  EXPECT_EQ(cache.store(key("1"), {"b", 2, "y"}), "");
  EXPECT_EQ(cache.find(key("1")).decision->strategy, "b");
  const DecisionCache longer(m_folder.path(longest + "n"));
  EXPECT_NE(longer.store(key("1"), {"b", 2, "y"}).find("too long"), std::string::npos);
}

TEST_F(DecisionCacheTest, LeavesAFileOfAnotherVersionAlone) {
  const std::string text = R"({"decision_cache": 3, "decisions": []})";
  write(text);
  const DecisionCache cache(path());
  EXPECT_NE(cache.find(key("1")).why_not.find("another version"), std::string::npos);
  EXPECT_NE(cache.store(key("1"), {"b", 2, "y"}).find("another version"), std::string::npos);
  EXPECT_EQ(read("cache.json"), text);
}

TEST_F(DecisionCacheTest, SaysWhereItCannotWrite) {
  const DecisionCache cache(m_folder.path("no such folder/cache.json"));
  EXPECT_NE(cache.store(key("1"), {"a", 1, "x"}).find("cannot be written"), std::string::npos);
  EXPECT_FALSE(cache.find(key("1")).decision);
}

TEST_F(DecisionCacheTest, LeavesAloneWhatIsNoRegularFile) {
  const auto expect_left_alone = [](const std::string& path) {
    const DecisionCache cache(path);
    EXPECT_NE(cache.find(key("1")).why_not.find("no regular file"), std::string::npos);
    EXPECT_NE(cache.store(key("1"), {"a", 1, "x"}).find("no regular file"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(path) && !std::filesystem::is_regular_file(path));
    EXPECT_FALSE(std::filesystem::exists(path + ".lock"));
    EXPECT_FALSE(std::filesystem::exists(path + ".unreadable"));
  };
  const std::string folder = m_folder.path("folder"), fifo = m_folder.path("fifo");
  std::filesystem::create_directory(folder);
  expect_left_alone(folder);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expect_left_alone(fifo);  // reading it would block
}

TEST_F(DecisionCacheTest, KeepsWhatSeveralProcessesStoreAtOnce) {
  constexpr int processes = 4, decisions = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      const DecisionCache cache(path());
      bool good = true;
      for (int d = 0; d < decisions; ++d)
        good = cache.store(key(std::to_string(p * 1000 + d)), {"a", 1.0 * d, "x"}).empty() && good;
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const DecisionCache cache(path());
  for (int p = 0; p < processes; ++p)
    for (int d = 0; d < decisions; ++d) {
      const auto found = cache.find(key(std::to_string(p * 1000 + d)));
      ASSERT_TRUE(found.decision) << found.why_not;
      EXPECT_EQ(found.decision->cost_seconds, d);
    }
}

}  // namespace
}  // namespace nekbone_k
