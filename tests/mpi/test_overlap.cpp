// An overlapped exchange on a GPU ends while other kernels still run: it neither waits for them nor
// queues behind them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/streams.hpp"
#include "gs/gather_scatter.hpp"
#include "support/available_strategies.hpp"

namespace nekbone_k {
namespace {

using Signal = Kokkos::View<int, Kokkos::SharedHostPinnedSpace>;

struct RunUntilTold {
  Signal end, ended;
  KOKKOS_FUNCTION void operator()(int) const {
    // A look at the host's memory takes about a microsecond.
    for (int looks = 0; *static_cast<volatile int*>(end.data()) == 0 && looks < 10'000'000;)
      ++looks;
    *static_cast<volatile int*>(ended.data()) = 1;
  }
};

// A kernel on the default instance that runs until it is told to end, or for some seconds.
class Work {
 public:
  Work() {
    Kokkos::parallel_for("work that waits for its end", Kokkos::RangePolicy<ExecutionSpace>(0, 1),
                         RunUntilTold{m_end, m_ended});
  }
  bool has_ended() const { return *static_cast<volatile int*>(m_ended.data()) != 0; }
  void end() const {
    *static_cast<volatile int*>(m_end.data()) = 1;
    Kokkos::fence("work ended");
  }

 private:
  Signal m_end{"the end is wanted"}, m_ended{"ended"};
};

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
    // By the others the host waits for packing and for messages, and MPI may copy on what stream it
    // likes.
    if (!strategy.overlapped || strategy.cost.host_waits) continue;
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
      const Work work;
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
