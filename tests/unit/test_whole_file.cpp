// SPDX-License-Identifier: BSD-3-Clause
// Files that are written completely or not at all.
#include "core/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>  // mkfifo
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

const std::string longest(255, 'n'), too_long(256, 'n');

class WholeFile : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return m_folder.path(name); }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(m_folder.path()), fs::directory_iterator());
  }

  TemporaryFolder m_folder;
};

TEST_F(WholeFile, ReplacesWhatIsThereAndLeavesNothingElse) {
  for (const std::string& name : {std::string("file"), longest}) {
    EXPECT_EQ(why_not_replaceable(path(name)), "");
    EXPECT_FALSE(fs::exists(path(name)));
    EXPECT_EQ(replace_file(path(name), "old"), "");
    EXPECT_EQ(why_not_replaceable(path(name)), "");
    EXPECT_EQ(content(path(name)), "old");
    EXPECT_EQ(replace_file(path(name), "new\n"), "");
    EXPECT_EQ(content(path(name)), "new\n");
  }
  EXPECT_EQ(files(), 2);
}

TEST_F(WholeFile, ANameThatIsTooLongIsSaidToBe) {
  EXPECT_NE(why_not_replaceable(path(too_long)).find("too long"), std::string::npos);
  EXPECT_NE(replace_file(path(too_long), "text").find("too long"), std::string::npos);
  EXPECT_EQ(files(), 0);
}

TEST_F(WholeFile, WhatCannotBeReplacedStaysAsItWas) {
  fs::create_directories(path("folder/with something"));
  EXPECT_NE(replace_file(path("folder"), "text"), "");
  EXPECT_NE(replace_file(path("missing/file"), "text"), "");
  EXPECT_TRUE(fs::is_directory(path("folder/with something")));
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFile, WhatIsNoFileStaysWhatItIs) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", path("link"));
  for (const char* name : {"pipe", "link"}) {
    EXPECT_NE(why_not_replaceable(path(name)).find("no regular file"), std::string::npos);
    EXPECT_NE(replace_file(path(name), "text").find("no regular file"), std::string::npos);
  }
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_EQ(files(), 2);
}

TEST_F(WholeFile, FilesOfOthersWithTheSameProcessIdStayAsTheyAre) {
  // A temporary file of a process in another container, or of a killed process.
  const std::string others = path(".nekbone-k-" + std::to_string(getpid()) + "-0.tmp");
  std::ofstream(others) << "other";
  EXPECT_EQ(why_not_replaceable(path("file")), "");
  EXPECT_EQ(replace_file(path("file"), "own"), "");
  EXPECT_EQ(content(path("file")), "own");
  EXPECT_EQ(content(others), "other");
  EXPECT_EQ(files(), 2);
}

TEST_F(WholeFile, NeighboursHaveNamesThatFit) {
  EXPECT_EQ(beside(path("cache.json"), ".lock"), path("cache.json") + ".lock");
  EXPECT_EQ(beside("cache.json", ".lock"), "cache.json.lock");
  const std::string just_fits(250, 'n');
  EXPECT_EQ(beside(path(just_fits), ".lock"), path(just_fits) + ".lock");
  const std::string lock = beside(path(longest), ".lock");
  EXPECT_EQ(fs::path(lock).parent_path(), fs::path(path(longest)).parent_path());
  std::ofstream(lock) << "";
  EXPECT_TRUE(fs::exists(lock)) << lock;
  EXPECT_EQ(lock, beside(path(longest), ".lock"));
  EXPECT_NE(lock, beside(path(longest), ".unreadable"));
  std::string other = longest;
  other.back() = 'm';
  EXPECT_NE(lock, beside(path(other), ".lock"));
}

}  // namespace
}  // namespace nekbone_k
