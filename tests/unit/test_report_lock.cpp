// SPDX-License-Identifier: BSD-3-Clause
// The lock that lets only one run write a report.
#include "report/report_lock.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "report/report_file.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

class ReportLockTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return m_folder.path(name); }

  TemporaryFolder m_folder;
};

TEST_F(ReportLockTest, KeepsOthersOutForAsLongAsItLives) {
  EXPECT_FALSE(ReportLock::is_taken(path("a.json")));
  {
    const ReportLock first(path("a.json"));
    EXPECT_FALSE(first.is_elsewhere());
    EXPECT_TRUE(ReportLock::is_taken(path("a.json")));
    EXPECT_TRUE(ReportLock(path("a.json")).is_elsewhere());
    EXPECT_TRUE(ReportLock(path("a.json")).is_elsewhere()) << "who is refused takes nothing";
    EXPECT_FALSE(ReportLock(path("b.json")).is_elsewhere()) << "another report";
  }
  EXPECT_FALSE(ReportLock::is_taken(path("a.json")));
  EXPECT_FALSE(ReportLock(path("a.json")).is_elsewhere());
  EXPECT_TRUE(fs::is_empty(m_folder.path())) << "nothing is left behind";
}

TEST_F(ReportLockTest, OutlivesTheFile) {
  const std::string name = path("report.json");
  std::ofstream(name) << "old";
  const ReportLock lock(name);
  ReportFile(name).write({{"passed", true}});
  EXPECT_TRUE(ReportLock::is_taken(name)) << "replaced";
  fs::remove(name);
  EXPECT_TRUE(ReportLock::is_taken(name)) << "gone";
}

TEST_F(ReportLockTest, IsOfTheFileByAnyName) {
  std::ofstream(path("report.json")) << "old";
  fs::create_symlink("report.json", path("link.json"));
  fs::create_directory(path("sub"));
  fs::create_directory_symlink(".", path("same"));
  const ReportLock lock(path("report.json"));
  for (const char* const name :
       {"link.json", "./report.json", "sub/../report.json", "same/report.json"})
    EXPECT_TRUE(ReportLock::is_taken(path(name))) << name;
  EXPECT_FALSE(ReportLock::is_taken(path("sub/report.json")));
}

TEST_F(ReportLockTest, IsOfTheFileThatALinkWillName) {
  fs::create_directory(path("sub"));
  fs::create_symlink("sub/report.json", path("link.json"));
  const ReportLock lock(path("link.json"));
  EXPECT_TRUE(ReportLock::is_taken(path("sub/report.json"))) << "does not exist yet";
  std::ofstream(path("sub/report.json")) << "new";
  EXPECT_TRUE(ReportLock::is_taken(path("link.json")));
}

TEST_F(ReportLockTest, IsOfFilesAlone) {
  const ReportLock null("/dev/null"), nowhere(path("no/folder/report.json"));
  EXPECT_FALSE(ReportLock("/dev/null").is_elsewhere());
  EXPECT_FALSE(ReportLock(path("no/folder/report.json")).is_elsewhere());
}

}  // namespace
}  // namespace nekbone_k
