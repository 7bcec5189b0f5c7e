// SPDX-License-Identifier: BSD-3-Clause
// Waits with a time limit.
#include "core/waiting.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "core/communicator.hpp"
#include "core/errors.hpp"

namespace nekbone_k {
namespace {

TEST(Waiting, EndsWithTheRequestsOrWithPatience) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const double patience : {10.0, for_ever}) {
    int sent = 7, received = 0;
    std::vector<MPI_Request> requests(2);
    MPI_Irecv(&received, 1, MPI_INT, comm.rank(), 5, comm.get(), &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT, comm.rank(), 5, comm.get(), &requests[1]);
    wait_all(requests, patience);
    EXPECT_EQ(received, 7);
    wait_all({}, patience);
  }
  int never = 0;
  std::vector<MPI_Request> requests(1);
  MPI_Irecv(&never, 1, MPI_INT, comm.rank(), 6, comm.get(), &requests[0]);
  EXPECT_THROW(wait_all(requests, 0.05), InternalError);
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

TEST(Waiting, ActsOnEachRequestOnceItIsDone) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr int n = 5;
  std::vector<int> received(n, -1), order;
  std::vector<MPI_Request> requests(n);
  for (int i = 0; i < n; ++i)
    MPI_Irecv(&received[i], 1, MPI_INT, comm.rank(), i, comm.get(), &requests[i]);
  const auto send = [&](int i) {
    const int value = 10 * i;
    MPI_Send(&value, 1, MPI_INT, comm.rank(), i, comm.get());
  };
  send(3);
  // Each arrival triggers the next message, so waiting for all at once would never end.
  wait_each(requests, 10, [&](int i) {
    EXPECT_EQ(received[i], 10 * i);
    order.push_back(i);
    if (order.size() < n) send((i + 1) % n);
  });
  EXPECT_EQ(order, (std::vector<int>{3, 4, 0, 1, 2}));
  wait_each({}, 10, [](int) { FAIL(); });

  int never = 0;
  std::vector<MPI_Request> one(1);
  MPI_Irecv(&never, 1, MPI_INT, comm.rank(), 6, comm.get(), one.data());
  EXPECT_THROW(wait_each(one, 0.05, [](int) { FAIL(); }), InternalError);
  MPI_Cancel(one.data());
  MPI_Wait(one.data(), MPI_STATUS_IGNORE);
}

// As if a scheduler suspended the job. The other ranks are then stopped, too.
TEST(Waiting, DoesNotCountTimeInWhichTheProcessIsStopped) {
  constexpr double patience = 1;
  constexpr int looks_in_vain = 1100;  // few of these yield, which may take long on a busy machine
  const pid_t child = fork();
  if (child == 0) {
    int looks = 0;
    const bool came = wait_until(
        [&] {
          if (++looks == looks_in_vain) ::raise(SIGSTOP);
          return looks > looks_in_vain + 10;
        },
        patience);
    _exit(came ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  usleep(static_cast<useconds_t>(1e6 * 2 * patience));
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "it gave up";
}

}  // namespace
}  // namespace nekbone_k
