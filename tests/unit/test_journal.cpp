// What ended a run is written down by the process that dies.
#include "app/journal.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
 protected:
  std::string path() const { return m_folder.path("journal.jsonl"); }

  // The status of a process that tries "host-put" and a sum with it, and then does `end`.
  int status_of(const std::function<void(Journal&)>& end) const {
    const pid_t child = fork();
    if (child == 0) {
      for (const int signal : {SIGSEGV, SIGABRT}) std::signal(signal, SIG_DFL);  // no traces
      Journal journal(path(), "here");
      journal.trying({"host-put", "sum host-mpi"}, "today");
      end(journal);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  TemporaryFolder m_folder;
};

TEST_F(JournalTest, KnowsWhatCrashed) {
  for (const int signal : {SIGSEGV, SIGABRT}) {
    const int status = status_of([&](Journal&) { ::raise(signal); });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);  // as without a journal
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
  EXPECT_NE(Journal(path(), "here").why_excluded("host-put").find("did not come back"),
            std::string::npos);
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
      "host-put was begun and did not end in the run started today (innocent if somebody ended "
      "that run); delete " +
          path() + " to try it again");
  // What another job wrote stays.
  status_of([](Journal& journal) {
    journal.begin("nccl", "today");
    journal.end();
  });
  EXPECT_NE(Journal(path(), "here").why_excluded("host-put"), "");
  EXPECT_EQ(Journal(path(), "here").why_excluded("nccl"), "");
}

// Any rank may run out of memory, and so says of what the first one began that it is not why.
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
  // All ranks may be short of memory at once.
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
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);  // to read it would take for ever
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
  EXPECT_EQ(Journal(path(), "here").why_excluded("host-put").find("host-put did not come back"),
            0U);
}

TEST_F(JournalTest, LosesNothingToALineThatWasHalfWritten) {
  std::ofstream(path()) << R"({"strategy":"peer-memory","place":"OpenMP, Open M)";
  status_of([](Journal&) { ::raise(SIGABRT); });
  const Journal journal(path(), "here");
  EXPECT_NE(journal.why_excluded("host-put"), "");
  EXPECT_EQ(journal.complaint(), "of " + path() +
                                     " line 1 cannot be read: what stood there is tried; mend it "
                                     "or delete it");
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
