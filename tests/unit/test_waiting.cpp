// Waits that end.
#include "core/waiting.hpp"

#include <gtest/gtest.h>

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
  // Each that has come makes the next one come: were they waited for together, none would end.
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

}  // namespace
}  // namespace nekbone_k
