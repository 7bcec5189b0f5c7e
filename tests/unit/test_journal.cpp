// SPDX-License-Identifier: BSD-3-Clause
// The journal, in which a dying process records the strategy that it was trying.
#include "tuning/journal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/process_identity.hpp"
#include "core/system.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
 protected:
  std::string path() const { return m_folder.path("journal.jsonl"); }

  // The exit status of a process that tries "host-put" with an all-reduce and then calls `end`.
  int status_of(const std::function<void(Journal&)>& end, const JournalJob& job = {}) const {
    const pid_t child = fork();
    if (child == 0) {
      for (const int signal : {SIGSEGV, SIGABRT}) std::signal(signal, SIG_DFL);  // no traces
      Journal journal(path(), "here", job);
      journal.trying({"host-put", "sum host-mpi"}, "today");
      end(journal);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  /// Writes a line like begin() for a process. The process has no lock unless `locked`.
  void write_begun(const ProcessIdentity& process, double until, const std::string& marks = ".",
                   std::uint64_t locked = 0) const {
    std::ofstream(path()) << fmt::format(
        R"({{"strategy":"host-put","place":"here","how":"was begun and did not end","when":"today",)"
        R"("host":"{}","process":{},"boot":"{}","namespace":"{}","since":{},"until":{:.0f},)"
        R"("lock":{},"token":"0123456789abcdef0123456789abcdef","interrupted":"{}"}})"
        "\n",
        host_name(), process.process, process.boot, process.pid_namespace, process.since, until,
        locked, marks);
  }
  bool is_excluded() const { return !Journal(path(), "here").why_excluded("host-put").empty(); }
  static double from_now(double seconds) {
    return static_cast<double>(std::time(nullptr)) + seconds;
  }

  TemporaryFolder m_folder;
};

TEST_F(JournalTest, KnowsWhatCrashed) {
  for (const int signal : {SIGSEGV, SIGABRT}) {
    const int status = status_of([&](Journal&) { ::raise(signal); });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);  // the same as without a journal
    const Journal journal(path(), "here");
    EXPECT_EQ(journal.why_excluded("host-put"),
              "host-put crashed in the run started today; delete " + path() + " to try it again");
    EXPECT_EQ(journal.why_excluded("host-put+overlap"), journal.why_excluded("host-put"));
    EXPECT_NE(journal.why_excluded("sum host-mpi"), "");
    EXPECT_EQ(journal.why_excluded("host-mpi"), "");
    EXPECT_EQ(journal.why_excluded("host-pairwise"), "");
    EXPECT_EQ(Journal(path() + "x", "here").why_excluded("host-put"), "");
    fs::remove(path());
  }
}

TEST_F(JournalTest, KnowsWhatHung) {
  EXPECT_EQ(status_of([](Journal& journal) { journal.write_hang(); }), 0);
  EXPECT_EQ(Journal(path(), "here").why_excluded("host-put"),
            "host-put did not return in the run started today (not its fault if the machine was "
            "overloaded); delete " +
                path() + " to try it again");
  EXPECT_EQ(Journal(path(), "elsewhere").why_excluded("host-put"), "");
}

TEST_F(JournalTest, KnowsWhatThrew) {
  status_of([](Journal& journal) { journal.write_failure(); });
  for (const char* const tried : {"host-put", "sum host-mpi"})
    EXPECT_NE(Journal(path(), "here").why_excluded(tried).find("threw"), std::string::npos);
}

TEST_F(JournalTest, KnowsWhatEndedTheProgram) {
  status_of([](Journal&) { std::exit(3); });
  EXPECT_NE(Journal(path(), "here").why_excluded("host-put").find("ended the program"),
            std::string::npos);
}

TEST_F(JournalTest, KnowsNothingOfRunsThatEndOtherwise) {
  status_of([](Journal& journal) { journal.rest(), std::exit(3); });
  status_of([](Journal&) {});
  status_of([](Journal& journal) { journal.rest(), ::raise(SIGSEGV); });
  status_of([](Journal&) { ::raise(SIGTERM); });
  status_of([](Journal&) { ::raise(SIGKILL); });
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(JournalTest, KnowsWhatWasBegunAndDidNotEnd) {
  status_of([](Journal& journal) {
    journal.begin("host-put", "today");
    journal.end();
  });
  EXPECT_FALSE(fs::exists(path()));
  status_of([](Journal& journal) {
    journal.begin("host-put", "today");
    ::raise(SIGKILL);
  });
  EXPECT_EQ(
      Journal(path(), "here").why_excluded("host-put"),
      "host-put was begun and did not end in the run started today (not its fault if the run was "
      "killed); delete " +
          path() + " to try it again");
  // The journal keeps lines of other jobs.
  status_of([](Journal& journal) {
    journal.begin("nccl", "today");
    journal.end();
  });
  EXPECT_NE(Journal(path(), "here").why_excluded("host-put"), "");
  EXPECT_EQ(Journal(path(), "here").why_excluded("nccl"), "");
}

// Rank 0 begins a strategy, but any rank may run out of memory and take it back.
TEST_F(JournalTest, TakesBackWhatAnotherRankBegan) {
  Journal root(path(), "here");
  root.begin("host-put", "today");
  const Journal other(path(), "here");
  const JournalWriter writer;
  JournalWriter of_another_job;
  ++of_another_job.process;
  other.take_back("host-put", "today", of_another_job);
  other.take_back("host-put", "yesterday", writer);
  other.take_back("nccl", "today", writer);
  EXPECT_TRUE(fs::exists(path()));
  // All ranks may run out of memory at once.
  for (int rank = 0; rank < 2; ++rank) {
    other.take_back("host-put", "today", writer);
    EXPECT_FALSE(fs::exists(path()));
  }
}

TEST_F(JournalTest, TakesNothingForLostThatAnotherJobIsTrying) {
  Journal running(path(), "here");
  running.begin("host-put", "today");
  EXPECT_TRUE(fs::exists(path()));
  EXPECT_EQ(Journal(path(), "here").why_excluded("host-put"), "");
  running.end();
  EXPECT_FALSE(fs::exists(path()));
}

// In a container, processes have the same few ids at every start.
TEST_F(JournalTest, TakesNoProcessForAnEarlierOneOfItsId) {
  ProcessIdentity writer = this_process();
  write_begun(writer, from_now(1000));
  EXPECT_FALSE(is_excluded());
  if (writer.since == 0) GTEST_SKIP() << "no /proc here";
  writer.since -= 1;
  write_begun(writer, from_now(1000));
  EXPECT_TRUE(is_excluded());
}

// A lock shows whether the writer lives, even in another container.
TEST_F(JournalTest, TrustsALockMoreThanAProcessId) {
  ProcessIdentity writer = this_process();
  writer.pid_namespace = "another";
  status_of([](Journal& journal) {
    journal.begin("host-put", "today");
    ::raise(SIGKILL);
  });
  if (!std::filesystem::exists("/proc/sys/kernel/random/boot_id")) GTEST_SKIP() << "no boot id";
  struct stat file {};
  ASSERT_EQ(stat(path().c_str(), &file), 0);
  write_begun(writer, from_now(1000), ".", file.st_ino);
  EXPECT_TRUE(is_excluded());
  write_begun(writer, from_now(1000));  // without a lock: too recent to count as dead
  EXPECT_FALSE(is_excluded());
  write_begun(writer, from_now(-1));
  EXPECT_TRUE(is_excluded());
}

TEST_F(JournalTest, GivesJobsOnOtherHostsTheTimeOfATry) {
  ProcessIdentity writer = this_process();
  writer.boot = "another";
  write_begun(writer, from_now(1000));
  EXPECT_FALSE(is_excluded());
  write_begun(writer, from_now(-1));
  EXPECT_TRUE(is_excluded());
}

TEST_F(JournalTest, JudgesLinesOfEarlierVersionsByHostAndProcess) {
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  const auto write = [&](const std::string& host, int process) {
    std::ofstream(path()) << fmt::format(
        R"({{"strategy":"host-put","place":"here","how":"was begun and did not end",)"
        R"("when":"today","host":"{}","process":{}}})"
        "\n",
        host, process);
  };
  write(host_name(), getpid());
  EXPECT_FALSE(is_excluded());
  write(host_name(), gone);
  EXPECT_TRUE(is_excluded());
  write("another", getpid());
  EXPECT_TRUE(is_excluded());
}

TEST_F(JournalTest, ForgetsWhatWasInterrupted) {
  status_of([](Journal& journal) {
    journal.begin("host-put", "today");
    take_back_on_interruption();
  });
  EXPECT_FALSE(fs::exists(path()));
  // The journal keeps lines of other jobs.
  status_of([](Journal& journal) { journal.write_hang(); });
  status_of([](Journal& journal) {
    journal.begin("nccl", "today");
    take_back_on_interruption();
  });
  EXPECT_EQ(Journal(path(), "here").why_excluded("nccl"), "");
  EXPECT_TRUE(is_excluded());
}

// If a rank is killed, the launcher interrupts the others.
TEST_F(JournalTest, ForgetsNothingBeforeAllRanksAreInterrupted) {
  const JournalJob root{.root = {}, .rank = 0, .ranks = 3};
  const auto interrupted = [](Journal&) { take_back_on_interruption(); };
  const auto begun = [](Journal& journal) {
    journal.begin("host-put", "today");
    take_back_on_interruption();
  };
  status_of(begun, root);
  EXPECT_TRUE(is_excluded());
  status_of(interrupted, {root.root, 2, 3});
  status_of(interrupted, {root.root, 2, 3});  // again
  JournalWriter of_another_job;
  of_another_job.token = "0123456789abcdef0123456789abcdef";
  status_of(interrupted, {of_another_job, 1, 3});
  EXPECT_TRUE(is_excluded());
  status_of(interrupted, {root.root, 1, 3});
  EXPECT_FALSE(fs::exists(path()));
  // If they were killed before they could take it back:
  write_begun(this_process(), from_now(-1), "xxx");
  EXPECT_FALSE(is_excluded());
}

// A rank may be interrupted just before rank 0 writes the line that it takes back.
TEST_F(JournalTest, WaitsForTheLineThatItTakesBack) {
  const JournalJob root{.root = {}, .rank = 0, .ranks = 2};
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t other = fork();
  if (other == 0) {
    Journal journal(path(), "here", {root.root, 1, 2});
    journal.expect_line(true);
    static_cast<void>(!write(ends[1], "x", 1));
    take_back_on_interruption();
    _exit(0);
  }
  char told;
  ASSERT_EQ(read(ends[0], &told, 1), 1);
  status_of(
      [&](Journal& journal) {
        journal.begin("host-put", "today");
        take_back_on_interruption();
      },
      root);
  waitpid(other, nullptr, 0);
  EXPECT_FALSE(is_excluded());
  close(ends[0]);
  close(ends[1]);
}

TEST_F(JournalTest, GoesOnWhereItsFileIsDeleted) {
  Journal journal(path(), "here");
  journal.begin("host-put", "today");
  fs::remove(path());
  status_of([](Journal& other) { other.write_hang(); });
  journal.end();
  EXPECT_TRUE(is_excluded());
  journal.begin("nccl", "today");
  EXPECT_EQ(Journal(path(), "here").why_excluded("nccl"), "");
  journal.end();
  EXPECT_TRUE(is_excluded());
}

TEST_F(JournalTest, LosesNoLineOfJobsThatShareIt) {
  constexpr int jobs = 4, times = 100;
  std::vector<pid_t> children;
  for (int job = 0; job < jobs; ++job) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    const std::string name = "job " + std::to_string(job);
    Journal journal(path(), "here");
    for (int i = 0; i < times; ++i) {
      journal.begin(name + " begun", "today");
      if (i % 10 == 0) {
        journal.trying({name + " hung " + std::to_string(i)}, "today");
        journal.write_hang();
      }
      journal.end();
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Journal journal(path(), "here");
  for (int job = 0; job < jobs; ++job) {
    const std::string name = "job " + std::to_string(job);
    EXPECT_EQ(journal.why_excluded(name + " begun"), "");
    for (int i = 0; i < times; i += 10)
      EXPECT_NE(journal.why_excluded(name + " hung " + std::to_string(i)), "") << job << " " << i;
  }
}

TEST_F(JournalTest, SaysWhereItCannotBeWritten) {
  EXPECT_EQ(Journal(path(), "here").why_not_writable(), "");
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_NE(Journal(m_folder.path("no such folder/j"), "here").why_not_writable(), "");
  const std::string folder = m_folder.path("folder"), fifo = m_folder.path("fifo");
  fs::create_directory(folder);
  EXPECT_EQ(Journal(folder, "here").why_not_writable(), "it is no regular file");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);  // reading it would block
  EXPECT_EQ(Journal(fifo, "here").why_not_writable(), "it is no regular file");
  for (const std::string& none : {folder, fifo, m_folder.path("no such folder/j")}) {
    Journal journal(none, "here");
    journal.begin("host-put", "today");
    journal.end();
    journal.trying({"host-put"}, "today");
    EXPECT_FALSE(journal.write_hang());
  }
}

TEST_F(JournalTest, SaysHowItEndedRatherThanThatItWasBegun) {
  Journal journal(path(), "here");
  journal.begin("host-put", "today");
  journal.trying({"host-put"}, "today");
  EXPECT_TRUE(journal.write_hang());
  std::ofstream(path(), std::ios::app)
      << R"({"strategy": "host-put", "place": "here", "how": "threw", "when": "today"})" << '\n';
  EXPECT_EQ(Journal(path(), "here").why_excluded("host-put").find("host-put did not return"), 0U);
}

TEST_F(JournalTest, LosesNothingToALineThatWasHalfWritten) {
  std::ofstream(path()) << R"({"strategy":"peer-memory","place":"OpenMP, Open M)";
  status_of([](Journal&) { ::raise(SIGABRT); });
  const Journal journal(path(), "here");
  EXPECT_NE(journal.why_excluded("host-put"), "");
  EXPECT_EQ(journal.complaint(), "the journal " + path() +
                                     ": line 1 cannot be read, so this run may try a strategy that "
                                     "failed before; correct or delete the line");
}

TEST_F(JournalTest, ComplainsOfNothingElse) {
  EXPECT_EQ(Journal(path(), "here").complaint(), "");
  status_of([](Journal&) { ::raise(SIGABRT); });
  std::ofstream(path(), std::ios::app) << "\n";
  EXPECT_EQ(Journal(path(), "here").complaint(), "");
  std::ofstream(path(), std::ios::app) << "nonsense\nagain\n";
  EXPECT_NE(Journal(path(), "here").complaint().find("lines 4-5 cannot be read"), std::string::npos)
      << Journal(path(), "here").complaint();
  EXPECT_NE(Journal(m_folder.path("none/j"), "here").complaint().find("cannot be written: No such"),
            std::string::npos);
}

TEST_F(JournalTest, PassesOverWhatIsNoLineOfIt) {
  std::ofstream(path()) << "nonsense\n{}\n[1]\n\n"
                        << R"({"strategy": "a", "place": "here", "how": "crashed", "when": "x"})";
  const Journal journal(path(), "here");
  EXPECT_NE(journal.why_excluded("a"), "");
  EXPECT_EQ(journal.why_excluded("b"), "");
}

}  // namespace
}  // namespace nekbone_k
