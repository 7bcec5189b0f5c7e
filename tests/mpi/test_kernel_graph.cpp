// SPDX-License-Identifier: BSD-3-Clause
#include "core/kernel_graph.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "core/errors.hpp"
#include "core/launch_shape.hpp"

namespace nekbone_k {
namespace {

using Range = Kokkos::RangePolicy<ExecutionSpace>;

// Functors, because nvcc rejects the lambdas of kernels in tests.
struct Add {
  DeviceVector<double> to;
  double value;

  KOKKOS_FUNCTION void operator()(LocalIndex i) const { to(i) += value; }
};

/// More than Kokkos passes as an argument of a kernel.
struct AddFirstOf {
  DeviceVector<double> to;
  double values[100];

  KOKKOS_FUNCTION void operator()(LocalIndex i) const { to(i) += values[i % 100]; }
};

/// What a vector holds.
std::vector<double> values_of(const DeviceVector<double>& vector) {
  const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), vector);
  return {here.data(), here.data() + here.extent(0)};
}

class KernelGraphTest : public testing::Test {
 protected:
  static constexpr int size = 7;

  void SetUp() override {
    if (!KernelGraph::is_available) GTEST_SKIP() << "kernels on the host cannot be recorded";
  }
  void add(double value) const {
    Kokkos::parallel_for("add", Range(0, size), Add{m_vector, value});
  }
  /// Expects `value` in every entry.
  void expect(double value) const {
    EXPECT_EQ(values_of(m_vector), std::vector<double>(size, value));
  }

  DeviceVector<double> m_vector{"vector", size};
};

TEST(KernelGraph, NeedsAGpu) {
  if (KernelGraph::is_available) GTEST_SKIP() << "there is a GPU";
  EXPECT_THROW(KernelGraph([] {}), InternalError);
}

TEST_F(KernelGraphTest, ReplaysWhatItRecorded) {
  const KernelGraph graph([&] {
    add(1);
    add(2);
  });
  expect(0);
  graph.replay();
  add(10);
  graph.replay();
  expect(16);
}

TEST_F(KernelGraphTest, RecordsLargeFunctorsIfLight) {
  AddFirstOf kernel{m_vector, {}};
  for (double& value : kernel.values) value = 3;
  const KernelGraph graph(
      [&] { Kokkos::parallel_for("add first of", light(Range(0, size)), kernel); });
  // Kokkos keeps arguments of other kernels in one place.
  AddFirstOf other{m_vector, {}};
  Kokkos::parallel_for("add first of", light(Range(0, size)), other);
  graph.replay();
  graph.replay();
  expect(6);
}

TEST_F(KernelGraphTest, RefusesLargeFunctorsOtherwise) {
  const AddFirstOf kernel{m_vector, {}};
  EXPECT_THROW(KernelGraph([&] { Kokkos::parallel_for("add first of", Range(0, size), kernel); }),
               InternalError);
  add(1);
  expect(1);
}

TEST_F(KernelGraphTest, EndsTheRecordingIfALaunchThrows) {
  EXPECT_THROW(KernelGraph([&] {
                 add(1);
                 throw std::runtime_error("no");
               }),
               InternalError);
  expect(0);
  const KernelGraph graph([&] { add(2); });
  graph.replay();
  expect(2);
}

}  // namespace
}  // namespace nekbone_k
