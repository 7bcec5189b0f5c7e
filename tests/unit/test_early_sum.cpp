#include "core/early_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace nekbone_k {
namespace {

double sum_of(EarlySum& sum, const std::vector<double>& values) {
  sum.start(to_device("values", values));
  return sum.wait();
}

TEST(EarlySum, IsTheSumEachTime) {
  EarlySum sum;
  for (const int n : {1, 2, 100, 30'000}) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1.0);
    EXPECT_EQ(sum_of(sum, values), 0.5 * n * (n + 1)) << n << " values";
  }
  EXPECT_EQ(sum_of(sum, {}), 0);
}

TEST(EarlySum, HandsOnWhatIsNoNumber) {
  EarlySum sum;
  EXPECT_TRUE(std::isnan(sum_of(sum, {1, std::numeric_limits<double>::quiet_NaN(), 2})));
  EXPECT_TRUE(std::isnan(sum_of(sum, {-std::numeric_limits<double>::signaling_NaN()})));
  EXPECT_EQ(sum_of(sum, {1, std::numeric_limits<double>::infinity()}),
            std::numeric_limits<double>::infinity());
}

TEST(EarlySum, IsThereBeforeLaterKernelsEnd) {
  EarlySum sum;
  DeviceVector<double> other("other", 1000);
  sum.start(to_device("values", std::vector<double>{1, 2, 3}));
  Kokkos::deep_copy(ExecutionSpace(), other, 7.0);
  EXPECT_EQ(sum.wait(), 6);
  EXPECT_EQ(Kokkos::create_mirror_view_and_copy(HostMemory(), other)(999), 7);
}

}  // namespace
}  // namespace nekbone_k
