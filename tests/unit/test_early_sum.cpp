#include "core/early_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace nekbone_k {
namespace {

double sum_of(EarlySum<double>& sum, const std::vector<double>& values) {
  // Kept until the sum is there: to free it would wait for the device.
  const DeviceVector<double> on_device = to_device("values", values);
  sum.start(on_device);
  return sum.wait();
}

TEST(EarlySum, IsTheSumEachTime) {
  EarlySum<double> sum;
  for (const int n : {1, 2, 100, 30'000}) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1.0);
    EXPECT_EQ(sum_of(sum, values), 0.5 * n * (n + 1)) << n << " values";
  }
  EXPECT_EQ(sum_of(sum, {}), 0);
}

TEST(EarlySum, HandsOnWhatIsNoNumber) {
  EarlySum<double> sum;
  EXPECT_TRUE(std::isnan(sum_of(sum, {1, std::numeric_limits<double>::quiet_NaN(), 2})));
  EXPECT_TRUE(std::isnan(sum_of(sum, {-std::numeric_limits<double>::signaling_NaN()})));
  EXPECT_EQ(sum_of(sum, {1, std::numeric_limits<double>::infinity()}),
            std::numeric_limits<double>::infinity());
}

struct Pair {
  double one = 0, other = 0;
  KOKKOS_FUNCTION Pair& operator+=(const Pair& pair) {
    one += pair.one;
    other += pair.other;
    return *this;
  }
};

TEST(EarlySum, SumsEachPartOfAStruct) {
  EarlySum<Pair> sum;
  const DeviceVector<Pair> pairs = to_device("pairs", std::vector<Pair>(1000, Pair{1, -2}));
  sum.start(pairs);
  const Pair total = sum.wait();
  EXPECT_EQ(total.one, 1000);
  EXPECT_EQ(total.other, -2000);
}

TEST(EarlySum, LeavesLaterKernelsToTheirWork) {
  EarlySum<double> sum;
  DeviceVector<double> other("other", 1000);
  const DeviceVector<double> values = to_device("values", std::vector<double>{1, 2, 3});
  sum.start(values);
  Kokkos::deep_copy(ExecutionSpace(), other, 7.0);
  EXPECT_EQ(sum.wait(), 6);
  EXPECT_EQ(Kokkos::create_mirror_view_and_copy(HostMemory(), other)(999), 7);
}

using Flag = Kokkos::View<int, Kokkos::SharedHostPinnedSpace>;

/// A kernel that ends once `flag` is set, or gives up in the end, and says in `seen` which it was.
void launch_kernel_waiting_for(const Flag& flag, const Flag& seen) {
  Kokkos::parallel_for(
      "waits for the host", Kokkos::RangePolicy<ExecutionSpace>(0, 1), KOKKOS_LAMBDA(int) {
        const volatile int* const at = flag.data();
        for (int i = 0; i < 3'000'000 && *at == 0; ++i)  // some seconds: a look takes a microsecond
          seen() = 0;
        seen() = *at;
      });
}

TEST(EarlySum, IsThereWhileLaterKernelsRun) {
  if (!EarlySum<double>::is_early) GTEST_SKIP() << "kernels here end before their launch returns";
  EarlySum<double> sum;
  const DeviceVector<double> values = to_device("values", std::vector<double>{1, 2, 3});
  const Flag flag("flag"), seen("seen");
  Kokkos::fence();
  sum.start(values);
  launch_kernel_waiting_for(flag, seen);
  EXPECT_EQ(sum.wait(), 6);
  *static_cast<volatile int*>(flag.data()) = 1;
  Kokkos::fence();
  EXPECT_EQ(seen(), 1) << "the kernel had ended when the sum was there";
}

}  // namespace
}  // namespace nekbone_k
