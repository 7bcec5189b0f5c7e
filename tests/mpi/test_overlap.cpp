// SPDX-License-Identifier: BSD-3-Clause
// Overlapped exchanges and concurrent work.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/streams.hpp"
#include "gs/gather_scatter.hpp"
#include "gs/run_overlapped.hpp"
#include "support/available_strategies.hpp"
#include "support/made_up_strategies.hpp"
#include "support/running_work.hpp"

namespace nekbone_k {
namespace {

// On a GPU, unpacking neither waits for other kernels nor queues behind them.
TEST(Overlap, UnpacksWhileOtherKernelsRun) {
  if (is_host_device) GTEST_SKIP() << "kernels run in turn with the host";
  const Communicator comm(MPI_COMM_WORLD);
  constexpr GlobalId count = 3000;  // DOFs that each rank shares with the next
  std::vector<GlobalId> ids;
  for (const int ring : {comm.rank(), (comm.rank() + 1) % comm.size()})
    for (GlobalId i = 0; i < count; ++i) ids.push_back(ring * count + i);
  if (comm.size() == 1) ids.resize(count);
  GatherScatter gs(comm, ids);
  const LocalIndex n_shared = gs.plan().n_shared();
  for (const Strategy& strategy : available_strategies(comm)) {
    // MPI may copy device memory on any stream.
    if (!strategy.overlapped || strategy.cost.carrier == Carrier::device_messages) continue;
    gs.select(strategy);
    const DeviceField<double> field("assembled", std::max(n_shared, 1), 1);
    for (int call = 0; call < 2; ++call) {
      Kokkos::deep_copy(field, 1.0);
      EventLog log;
      // The first call allocates the strategy's resources, which may wait for kernels.
      const FieldExchange<double> exchange = gs.exchange_of(field, Reduction::add, &log);
      if (call == 0) {
        exchange.run();
        Kokkos::fence("once");
        continue;
      }
      exchange.pack();
      const RunningWork work;
      exchange.post();
      exchange.wait();
      exchange.unpack();
      side_stream().fence("unpacked");
      log.record(work.has_ended() ? "work ended" : "work goes on");
      work.end();
      EXPECT_EQ(log.events(), (std::vector<std::string>{"exchange packed", "exchange posted",
                                                        "exchange waited for", "exchange unpacked",
                                                        "work goes on"}))
          << strategy.name;
      const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), field);
      for (LocalIndex s = 0; s < n_shared; ++s) EXPECT_EQ(host(s, 0), 2) << strategy.name;
    }
  }
}

TEST(Overlap, RunsAllWorkWhereTheExchangeThrows) {
  const Communicator comm(MPI_COMM_WORLD);
  GatherScatter gs(comm, std::vector<GlobalId>{0, 1 + comm.rank()});
  const DeviceField<double> field("assembled", 1, 1);
  for (const Thrower& thrower : throwers()) {
    if (thrower.where != Where::everywhere || !thrower.name.ends_with("_in_post")) continue;
    gs.select(named(thrower.name, thrower.make, /*overlapped=*/true));
    std::vector<std::string> ran;
    EXPECT_THROW(
        run_overlapped([&](const ExecutionSpace&) { ran.push_back("before"); },
                       gs.exchange_of(field, Reduction::add), [&] { ran.push_back("meanwhile"); }),
        std::runtime_error)
        << thrower.name;
    EXPECT_EQ(ran, (std::vector<std::string>{"before", "meanwhile"})) << thrower.name;
  }
}

TEST(Overlap, RunBothThrowsTheFirstException) {
  bool second = false;
  EXPECT_THROW(run_both([] { throw std::runtime_error("first"); },
                        [&] {
                          second = true;
                          throw std::logic_error("second");
                        }),
               std::runtime_error);
  EXPECT_TRUE(second);
  EXPECT_THROW(run_both([] {}, [] { throw std::logic_error("second"); }), std::logic_error);
}

}  // namespace
}  // namespace nekbone_k
