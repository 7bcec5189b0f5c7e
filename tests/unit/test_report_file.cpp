// SPDX-License-Identifier: BSD-3-Clause
// The file of the JSON report.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/errors.hpp"
#include "report/report_file.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

class ReportFileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return m_folder.path(name); }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(m_folder.path()), fs::directory_iterator());
  }

  TemporaryFolder m_folder;
};

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// The error message for a refused path. Expects that it names the path and says what to do.
std::string refusal(const std::string& path) {
  try {
    const ReportFile file(path);
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("'" + path + "'"), std::string::npos) << what;
    EXPECT_NE(what.find("--report"), std::string::npos) << what;
    return what;
  }
  ADD_FAILURE() << path << " was accepted";
  return "";
}

const nlohmann::ordered_json report{{"passed", true}, {"history", {1.5, 2.5}}};

TEST_F(ReportFileTest, AppearsCompleteWhenWritten) {
  const std::string name = path("report.json");
  ReportFile file(name);
  EXPECT_FALSE(fs::exists(name));
  file.write(report);
  EXPECT_EQ(nlohmann::ordered_json::parse(content(name)), report);
  EXPECT_EQ(content(name).back(), '\n');
  EXPECT_EQ(files(), 1);
}

TEST_F(ReportFileTest, LeavesNothingButTheOldReportWhenNotWritten) {
  const std::string name = path("report.json");
  put(name, "old");
  { const ReportFile file(name); }
  EXPECT_EQ(content(name), "old");
  EXPECT_EQ(files(), 1);
  ReportFile(name).write(report);
  EXPECT_EQ(nlohmann::ordered_json::parse(content(name)), report);
}

TEST_F(ReportFileTest, RemovesTheTemporaryFileWhenWritingFails) {
  const std::string name = path("report.json");
  {
    ReportFile file(name);
    fs::create_directories(name + "/in the way");  // rename() cannot replace this folder
    EXPECT_THROW(file.write(report), OutputError);
  }
  EXPECT_EQ(files(), 1);
}

TEST_F(ReportFileTest, ReplacesWhatALinkPointsAtAndKeepsTheLink) {
  put(path("real.json"), "old");
  fs::create_symlink("real.json", path("link.json"));
  ReportFile(path("link.json")).write(report);
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(nlohmann::ordered_json::parse(content(path("real.json"))), report);
}

TEST_F(ReportFileTest, MakesTheFileThatADanglingLinkNames) {
  fs::create_directories(path("folder"));
  fs::create_symlink("folder/real.json", path("middle.json"));
  fs::create_symlink(path("middle.json"), path("link.json"));
  ReportFile(path("link.json")).write(report);
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_TRUE(fs::is_symlink(path("middle.json")));
  EXPECT_EQ(nlohmann::ordered_json::parse(content(path("folder/real.json"))), report);
}

TEST_F(ReportFileTest, DoesNotWaitForAReaderOfAPipe) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ReportFile file(pipe);
  try {
    file.write(report);
    FAIL() << "nobody reads the pipe";
  } catch (const OutputError& error) {
    EXPECT_NE(std::string(error.what()).find("nothing reads this pipe"), std::string::npos);
  }
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  file.write(report);
  std::string text(1 << 16, '\0');
  const ssize_t count = read(reader, text.data(), text.size());
  close(reader);
  ASSERT_GT(count, 0);
  text.resize(static_cast<std::size_t>(count));
  EXPECT_EQ(nlohmann::ordered_json::parse(text), report);
}

TEST_F(ReportFileTest, WritesToADeviceWithoutReplacingIt) {
  ReportFile("/dev/null").write(report);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(ReportFileTest, IsNotReplacedIfItIsWriteProtected) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write to every file";
  put(path("kept.json"), "old");
  fs::permissions(path("kept.json"), fs::perms::owner_read);
  EXPECT_NE(refusal(path("kept.json")).find("cannot be written: Permission denied"),
            std::string::npos);
}

TEST_F(ReportFileTest, IsRefusedBeforeTheRun) {
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal(m_folder.path().string()).find("a folder"), std::string::npos);
  EXPECT_NE(refusal(path("new/")).find("a folder"), std::string::npos);
  EXPECT_NE(refusal(path("missing/report.json")).find("does not exist"), std::string::npos);
  put(path("file"), "");
  EXPECT_NE(refusal(path("file/report.json")).find("not a folder"), std::string::npos);
  EXPECT_NE(refusal(path(std::string(300, 'n'))).find("too long"), std::string::npos);
}

TEST_F(ReportFileTest, HasANameOfUpTo255Bytes) {
  const std::string longest(255, 'n');
  ReportFile(path(longest)).write(report);
  EXPECT_EQ(nlohmann::ordered_json::parse(content(path(longest))), report);
  EXPECT_EQ(files(), 1);
  EXPECT_NE(refusal(path(std::string(256, 'n'))).find("too long"), std::string::npos);
}

TEST_F(ReportFileTest, SaysWhatStandsThereWhenItCannotBeWritten) {
  // A limit of 10 B per file simulates a full disk.
  const auto failure = [&](ReportFile& file) {
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{10, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    std::string what = "it was written";
    try {
      file.write(report);
    } catch (const OutputError& error) {
      what = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, before);
    return what;
  };
  ReportFile none(path("none.json"));
  EXPECT_NE(failure(none).find("use the printed report of this run"), std::string::npos);
  put(path("old.json"), "old");
  ReportFile old(path("old.json"));
  EXPECT_NE(failure(old).find("the older file is unchanged"), std::string::npos);
  EXPECT_EQ(content(path("old.json")), "old");
  old.write_for_now({{"part", 1}});
  EXPECT_NE(failure(old).find("up to its solution"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(content(path("old.json")))["part"], 1);
}

TEST_F(ReportFileTest, IsRefusedInAFolderThatMayNotBeWrittenTo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(m_folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(refusal(path("report.json")).find("denied"), std::string::npos);
  fs::permissions(m_folder.path(), fs::perms::owner_all);
}

TEST_F(ReportFileTest, ReplacesBytesThatAreNotUtf8) {
  ReportFile(path("report.json")).write({{"host", "\xff"}});
  EXPECT_EQ(nlohmann::json::parse(content(path("report.json")))["host"], "\xEF\xBF\xBD");
}

TEST_F(ReportFileTest, ForNowIsReplacedByTheReport) {
  ReportFile file(path("report.json"));
  file.write_for_now({{"part", 1}});
  EXPECT_EQ(nlohmann::json::parse(content(path("report.json")))["part"], 1);
  file.write({{"whole", 2}});
  EXPECT_EQ(nlohmann::json::parse(content(path("report.json"))), nlohmann::json({{"whole", 2}}));
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace nekbone_k
