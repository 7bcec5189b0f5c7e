// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/value_import.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/available_strategies.hpp"

namespace nekbone_k {
namespace {

constexpr GlobalId n_ids = 60;

/// Ranks own ids in turn, in descending order; -1 marks entries that others own.
std::vector<GlobalId> owned_ids(const Communicator& comm) {
  std::vector<GlobalId> ids{-1};
  for (GlobalId id = n_ids - 1; id >= 0; --id)
    if (id % comm.size() == comm.rank())
      ids.push_back(id * 1000);
    else if (id % 7 == 0)
      ids.push_back(-1);
  return ids;
}

/// An arbitrary value with many bits.
template <class T>
T imported_value(GlobalId id, int use) {
  return static_cast<T>(std::sin(1.0 + static_cast<double>(id) + 0.1 * use) *
                        std::exp2(static_cast<double>(id / 1000 % 40) - 20));
}

template <class T>
DeviceVector<T> entry_values(const std::vector<GlobalId>& ids, int use) {
  std::vector<T> all;
  for (const GlobalId id : ids)  // values of entries that others own are not used
    all.push_back(id < 0 ? std::numeric_limits<T>::quiet_NaN() : imported_value<T>(id, use));
  return to_device("values", all);
}

template <class T>
std::vector<T> host_values(const ConstDeviceVector<T>& vector) {
  const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), vector);
  return {host.data(), host.data() + host.extent(0)};
}

template <class T>
class ValueImportOf : public testing::Test {
 protected:
  static void expect_copies(const Communicator& comm, const std::vector<GlobalId>& wanted) {
    const std::vector<GlobalId> owned = owned_ids(comm);
    ValueImport<T> import(comm, owned, wanted);
    int use = 0;
    for (const Strategy& strategy : available_strategies(comm)) {
      import.gs().select(strategy);
      for (int again = 0; again < 2; ++again, ++use) {
        const DeviceVector<T> vector = entry_values<T>(owned, use);
        const std::vector<T> found = host_values<T>(import(vector));
        ASSERT_EQ(found.size(), wanted.size());
        for (std::size_t w = 0; w < wanted.size(); ++w)
          ASSERT_EQ(found[w], imported_value<T>(wanted[w], use))
              << strategy.name << ", id " << wanted[w] << ", use " << use;
      }
    }
  }
};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(ValueImportOf, ValueTypes);

// All ids on every rank, in an order of their own.
TYPED_TEST(ValueImportOf, CopiesAllValuesToAllRanks) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<GlobalId> wanted;
  for (GlobalId id = 0; id < n_ids; ++id) wanted.push_back((id * 7 + comm.rank()) % n_ids * 1000);
  this->expect_copies(comm, wanted);
}

// Some ranks want nothing, others only their own values or those of one other rank.
TYPED_TEST(ValueImportOf, CopiesSomeValues) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<GlobalId> wanted;
  for (GlobalId id = 0; id < n_ids; ++id) {
    const bool mine = id % comm.size() == comm.rank(),
               next = id % comm.size() == (comm.rank() + 1) % comm.size();
    if (comm.rank() % 3 == 0 ? mine : comm.rank() % 3 == 1 && next) wanted.push_back(id * 1000);
  }
  this->expect_copies(comm, wanted);
}

TYPED_TEST(ValueImportOf, CopiesNothing) { this->expect_copies(Communicator(MPI_COMM_WORLD), {}); }

TYPED_TEST(ValueImportOf, LeavesTheVectorAlone) {
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<GlobalId> owned = owned_ids(comm), wanted{0, 1000, 5000};
  ValueImport<TypeParam> import(comm, owned, wanted);
  const DeviceVector<TypeParam> vector = entry_values<TypeParam>(owned, 0);
  import(vector);
  const std::vector<TypeParam> found = host_values<TypeParam>(vector);
  for (std::size_t e = 0; e < owned.size(); ++e)
    if (owned[e] >= 0) {
      ASSERT_EQ(found[e], imported_value<TypeParam>(owned[e], 0));
    } else {
      ASSERT_TRUE(std::isnan(found[e]));
    }
}

// Huge, tiny and infinite values are not rounded either.
TYPED_TEST(ValueImportOf, CopiesExtremeValues) {
  using Limits = std::numeric_limits<TypeParam>;
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<TypeParam> extreme{Limits::max(), Limits::min(), Limits::infinity(),
                                       -Limits::max()};
  const int owner = comm.size() - 1;
  std::vector<GlobalId> owned, wanted{3, 2, 1, 0};
  std::vector<TypeParam> mine;
  if (comm.rank() == owner) {
    owned = {0, 1, 2, 3};
    mine = extreme;
  }
  ValueImport<TypeParam> import(comm, owned, wanted);
  const std::vector<TypeParam> found = host_values<TypeParam>(import(to_device("mine", mine)));
  EXPECT_EQ(found, std::vector<TypeParam>(extreme.rbegin(), extreme.rend()));
}

}  // namespace
}  // namespace nekbone_k
