// An overlapped exchange on a GPU ends while other kernels still run: it neither waits for them nor
// queues behind them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/streams.hpp"
#include "gs/gather_scatter.hpp"
#include "support/available_strategies.hpp"
#include "support/running_work.hpp"

namespace nekbone_k {
namespace {

TEST(Overlap, UnpacksWhileOtherKernelsRun) {
  if (is_host_device) GTEST_SKIP() << "kernels run in turn with the host";
  const Communicator comm(MPI_COMM_WORLD);
  constexpr GlobalId count = 3000;  // that each rank shares with the next
  std::vector<GlobalId> ids;
  for (const int ring : {comm.rank(), (comm.rank() + 1) % comm.size()})
    for (GlobalId i = 0; i < count; ++i) ids.push_back(ring * count + i);
  if (comm.size() == 1) ids.resize(count);
  GatherScatter gs(comm, ids);
  const LocalIndex n_shared = gs.plan().n_shared();
  for (const Strategy& strategy : available_strategies(comm)) {
    // Of device memory MPI may copy on what stream it likes.
    if (!strategy.overlapped || strategy.cost.carrier == Carrier::device_messages) continue;
    gs.select(strategy);
    const DeviceField<double> field("assembled", std::max(n_shared, 1), 1);
    for (int call = 0; call < 2; ++call) {
      Kokkos::deep_copy(field, 1.0);
      EventLog log;
      gs.pack(field, &log);  // the first makes what the strategy needs, and may wait for kernels
      if (call == 0) {
        gs.post(field, &log);
        gs.finish(field, Reduction::add, &log);
        Kokkos::fence("once");
        continue;
      }
      const RunningWork work;
      gs.post(field, &log);
      gs.finish(field, Reduction::add, &log);
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

}  // namespace
}  // namespace nekbone_k
