// SPDX-License-Identifier: BSD-3-Clause
// The main of all GoogleTest programs: starts MPI and Kokkos, and combines the output of the ranks.
// Rank 0 prints as usual, and the others print only their failures. Every rank returns 1 if any
// rank failed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "core/runtime.hpp"

namespace {

// Prints the failures of a rank that is otherwise silent, each in one write, so that output of
// ranks does not mix.
class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : m_rank(rank) {}

  // Stored here, because asking GoogleTest for the current test while it reports a result
  // deadlocks.
  void OnTestStart(const testing::TestInfo& test) override {
    m_test = std::string(test.test_suite_name()) + '.' + test.name() + ": ";
  }
  void OnTestEnd(const testing::TestInfo&) override { m_test.clear(); }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::ostringstream text;
    text << "[rank " << m_rank << "] " << m_test;
    if (result.file_name() != nullptr) text << result.file_name() << ':' << result.line_number();
    text << " Failure\n" << result.message() << '\n';
    std::fputs(text.str().c_str(), stderr);
    std::fflush(stderr);
  }

 private:
  int m_rank;
  std::string m_test;
};

// Runs the tests. Returns 1 on every rank if a test failed or no test was selected on any rank.
int run_on_all_ranks() {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }

  int failed = RUN_ALL_TESTS() != 0 ? 1 : 0;
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    if (rank == 0) std::fputs("No test matches the filter.\n", stderr);
    failed = 1;
  }

  std::vector<int> failed_ranks(static_cast<std::size_t>(size));
  MPI_Allgather(&failed, 1, MPI_INT, failed_ranks.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::string names;
  for (int r = 0; r < size; ++r) {
    if (failed_ranks[static_cast<std::size_t>(r)] != 0) names += ' ' + std::to_string(r);
  }
  if (rank == 0 && !names.empty()) std::fprintf(stderr, "FAILED on rank(s):%s\n", names.c_str());
  return names.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();  // needs no MPI

  const nekbone_k::Runtime runtime(argc, argv);
  return run_on_all_ranks();
}
