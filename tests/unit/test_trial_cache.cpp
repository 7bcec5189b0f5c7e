// SPDX-License-Identifier: BSD-3-Clause
// The cache of trial answers between runs.
#include "machine/trial_cache.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

constexpr const char* now = "2026-11-26T20:00:00Z";

MpiTrial trial_of(TrialOutcome outcome, const std::string& found = now) {
  MpiTrial trial;
  trial.outcome = outcome;
  trial.what = outcome == TrialOutcome::right ? "" : "what \"went\" wrong\xff";
  trial.host = "node1";
  trial.found = found;
  return trial;
}

class TrialCacheTest : public testing::Test {
 protected:
  const TemporaryFolder m_folder;
  const TrialCache m_cache{m_folder.path("new/folder/mpi-trials.json")};
  const TrialKey m_key{{"MPI", "a"}, {"device", "b"}}, m_other{{"MPI", "a"}, {"device", "c"}};
};

TEST_F(TrialCacheTest, GivesBackWhatWasKeptForTheSameKeyAlone) {
  EXPECT_FALSE(m_cache.find(m_key, now));
  MpiTrial crashed = trial_of(TrialOutcome::crashed);
  crashed.what = "crashed";
  ASSERT_TRUE(m_cache.keep(m_key, crashed));
  ASSERT_TRUE(m_cache.keep(m_other, trial_of(TrialOutcome::right)));
  const auto found = m_cache.find(m_key, now);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->outcome, TrialOutcome::crashed);
  EXPECT_EQ(found->what, "crashed");
  EXPECT_EQ(found->host, "node1");
  EXPECT_EQ(found->found, now);
  EXPECT_EQ(found->file, m_cache.path());
  EXPECT_TRUE(found->kept);
  EXPECT_EQ(m_cache.find(m_other, now)->outcome, TrialOutcome::right);
  EXPECT_FALSE(m_cache.find({{"MPI", "a"}}, now));
  ASSERT_TRUE(m_cache.keep(m_key, trial_of(TrialOutcome::wrong)));  // replaces it
  EXPECT_EQ(m_cache.find(m_key, now)->outcome, TrialOutcome::wrong);
  EXPECT_EQ(m_cache.find(m_other, now)->outcome, TrialOutcome::right);
  for (const auto& entry : std::filesystem::directory_iterator(m_folder.path("new/folder")))
    EXPECT_EQ(entry.path(), m_cache.path());  // no temporary file
}

TEST_F(TrialCacheTest, HoldsForADayWhereABusyMachineMayBeWhy) {
  for (const auto outcome : {TrialOutcome::hung, TrialOutcome::not_started}) {
    ASSERT_TRUE(m_cache.keep(m_key, trial_of(outcome)));
    EXPECT_TRUE(m_cache.find(m_key, now));
    EXPECT_TRUE(m_cache.find(m_key, "2026-11-27T19:59:59Z"));
    EXPECT_FALSE(m_cache.find(m_key, "2026-11-27T20:00:00Z"));
    EXPECT_FALSE(m_cache.find(m_key, "2026-11-26T19:59:59Z"));  // a clock was wrong
    ASSERT_TRUE(m_cache.keep(m_key, trial_of(outcome, "once")));
    EXPECT_FALSE(m_cache.find(m_key, now));
  }
  for (const auto outcome : {TrialOutcome::right, TrialOutcome::wrong, TrialOutcome::crashed}) {
    ASSERT_TRUE(m_cache.keep(m_key, trial_of(outcome)));
    EXPECT_TRUE(m_cache.find(m_key, "2030-01-01T00:00:00Z"));
  }
}

TEST_F(TrialCacheTest, KeepsTheNewest) {
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(m_cache.keep({{"MPI", std::to_string(i)}}, trial_of(TrialOutcome::right)));
  EXPECT_TRUE(m_cache.find({{"MPI", "199"}}, now));
  EXPECT_TRUE(m_cache.find({{"MPI", "150"}}, now));
  EXPECT_FALSE(m_cache.find({{"MPI", "0"}}, now));
}

TEST_F(TrialCacheTest, HasNothingInWhatIsNoCache) {
  ASSERT_TRUE(m_cache.keep(m_key, trial_of(TrialOutcome::right)));
  const std::string good = content(m_cache.path());
  std::string other_version = good, no_outcome = good;
  other_version.replace(good.find("\"mpi_trials\": 1"), 15, "\"mpi_trials\": 9");
  no_outcome.replace(good.find("\"right\""), 7, "\"rigid\"");
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("\xff\xfe"),
        good.substr(0, good.size() / 2), other_version, no_outcome,
        std::string(R"({"mpi_trials": 1})"), std::string(R"({"mpi_trials": 1, "answers": 2})"),
        std::string(R"({"mpi_trials": 1, "answers": [1, {"key": 2}]})")}) {
    std::ofstream(m_cache.path()) << text;
    EXPECT_FALSE(m_cache.find(m_key, now)) << text;
    EXPECT_TRUE(m_cache.keep(m_key, trial_of(TrialOutcome::right))) << text;
    EXPECT_TRUE(m_cache.find(m_key, now)) << text;
  }
}

TEST_F(TrialCacheTest, LeavesAloneWhatIsNoFileAndWhatCannotBeWritten) {
  std::filesystem::create_directories(m_cache.path());  // a folder of that name
  EXPECT_FALSE(m_cache.find(m_key, now));
  EXPECT_FALSE(m_cache.keep(m_key, trial_of(TrialOutcome::right)));
  EXPECT_TRUE(std::filesystem::is_directory(m_cache.path()));
  for (const std::string path : {"/proc/nothing/mpi-trials.json", ""}) {
    EXPECT_FALSE(TrialCache(path).keep(m_key, trial_of(TrialOutcome::right)));
    EXPECT_FALSE(TrialCache(path).find(m_key, now));
  }
}

TEST_F(TrialCacheTest, IsInTheUsersCacheFolder) {
  const auto with = [](const char* own, const char* xdg, const char* home) {
    for (const auto& [name, value] :
         {std::pair("NEKBONE_K_CACHE", own), {"XDG_CACHE_HOME", xdg}, {"HOME", home}})
      if (value == nullptr)
        unsetenv(name);
      else
        setenv(name, value, 1);
    return TrialCache::of_user().path();
  };
  std::map<std::string, std::string> before;
  for (const char* const name : {"NEKBONE_K_CACHE", "XDG_CACHE_HOME", "HOME"})
    if (getenv(name) != nullptr) before[name] = getenv(name);
  EXPECT_EQ(with("/a", "/b", "/c"), "/a/mpi-trials.json");
  EXPECT_EQ(with("", "/b", "/c"), "/b/nekbone-k/mpi-trials.json");
  EXPECT_EQ(with(nullptr, nullptr, "/c"), "/c/.cache/nekbone-k/mpi-trials.json");
  EXPECT_EQ(with(nullptr, nullptr, nullptr), "");
  with(nullptr, nullptr, nullptr);
  for (const auto& [name, value] : before) setenv(name.c_str(), value.c_str(), 1);
}

TEST_F(TrialCacheTest, TheKeyKnowsTheMpiTheDeviceAndTheTransport) {
  const TrialKey key = trial_key();
  EXPECT_EQ(key, trial_key());
  for (const char* const name : {"program", "MPI", "MPI's file", "backend", "device"})
    EXPECT_NE(key.at(name), "") << name;
  setenv("OMPI_MCA_orte_of_one_run", "1", 1);
  EXPECT_EQ(key, trial_key());
  unsetenv("OMPI_MCA_orte_of_one_run");
  for (const char* const name : {"UCX_OF_A_TEST", "OMPI_MCA_btl_of_a_test"}) {
    setenv(name, "1", 1);
    EXPECT_NE(key, trial_key()) << name;
    unsetenv(name);
  }
}

}  // namespace
}  // namespace nekbone_k
